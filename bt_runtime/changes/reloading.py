"""Reloads trees when their files change: new runs use a changed file at once; a file with mistakes changes nothing.

Rules:

- All files are read together. A tree and the trees that it includes are always of one state of the files.
- A tree with mistakes keeps its last valid version, and with it those that it includes; other trees are not affected.
- A folder that vanishes, or cannot be listed, changes nothing.
- Only trees whose files have changed are read again. A run keeps the definition that it began with.
- Unless a watcher says when the files change (`is_watched`), they are checked before each use, which takes
  microseconds.
"""

import errno
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

import structlog

from bt_runtime.language.definition import TreeDefinition
from bt_runtime.language.errors import TreeFileError, TreeNotFoundError
from bt_runtime.language.reading.header import TREE_NAME, read_header
from bt_runtime.language.reading.loading import Loading, TreeSource
from bt_runtime.language.registry import Registry
from bt_runtime.library.named import TreeLibrary, read_source
from bt_runtime.text import Mistake, Place
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import read_yaml

MOST_FILES = 1_000
"""How many tree files a folder may have."""

_ENDING = ".yaml"
_TRIES = 5
"""How often files that change while they are read are read again; a watcher reports the later changes anyway."""

Fingerprint = tuple[tuple[str, int, int, int, int], ...]
"""Path, size, times and number of each file: it changes when any of them does."""


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """The files that serve the names of trees.

    Args:
        found: by tree name, the text of its file, or why that cannot be read.
        fingerprint: of all files, also of those that another folder's file takes precedence over.
        missing: the folders that do not exist.
    """

    found: Mapping[str, TreeSource | TreeFileError]
    fingerprint: Fingerprint
    missing: frozenset[Path] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are served, sorted."""
        return tuple(sorted(self.found))

    def with_source(self, name: str, source: TreeSource) -> "TreeFiles":
        """The same files with this one serving the name."""
        return replace(self, found={**self.found, name: source})


def read_tree_files(folders: Sequence[Path], *, closed: Collection[Path] = ()) -> TreeFiles:
    """Read all tree files; if they change meanwhile, again.

    Args:
        folders: searched in this order; one that does not exist counts as empty.
        closed: those of them out of which no link may lead.

    Raises:
        OSError: a folder cannot be listed, or has too many tree files.
    """
    for _ in range(_TRIES):
        paths, fingerprint, missing = _scan(folders)
        found = {name: _read(*place, name, is_closed=place[1] in closed) for name, place in paths.items()}
        if _scan(folders)[1] == fingerprint:
            break
    return TreeFiles(found, fingerprint, missing)


def fingerprint_of(folders: Sequence[Path]) -> Fingerprint:
    """The present state of the files.

    Raises:
        OSError: as `read_tree_files`.
    """
    return _scan(folders)[1]


def _scan(folders: Sequence[Path]) -> tuple[dict[str, tuple[Path, Path]], Fingerprint, frozenset[Path]]:
    paths: dict[str, tuple[Path, Path]] = {}
    states: list[tuple[str, int, int, int, int]] = []
    missing: set[Path] = set()
    for folder in dict.fromkeys(folders):
        try:
            files = sorted(_files(folder))
        except FileNotFoundError:
            missing.add(folder)
            continue
        for file, size, changed, touched, number in files:
            paths.setdefault(file.removesuffix(_ENDING), (folder / file, folder))
            states.append((os.fspath(folder / file), size, changed, touched, number))
    return paths, tuple(states), frozenset(missing)


def _files(folder: Path) -> Iterator[tuple[str, int, int, int, int]]:
    """The tree files of a folder with their states; one that a link names and that is not there is one of them."""
    count = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.endswith(_ENDING) or not TREE_NAME.fullmatch(entry.name.removesuffix(_ENDING)):
                continue
            try:
                state = entry.stat()
            except OSError:
                if entry.is_symlink():
                    yield entry.name, -1, 0, 0, 0
                continue
            if stat.S_ISREG(state.st_mode):
                count += 1
                if count > MOST_FILES:
                    raise OSError(errno.E2BIG, f"there are more than {MOST_FILES:,} tree files", os.fspath(folder))
                yield entry.name, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino


def _read(path: Path, folder: Path, name: str, *, is_closed: bool) -> TreeSource | TreeFileError:
    try:
        if is_closed and path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            message = "the file is a link that leads out of its folder, and is not read"
            return TreeFileError([Mistake(Place(str(path)), message, "put the file itself into the folder")])
        return read_source(path, name=name)
    except TreeFileError as error:
        return error
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        return TreeFileError([Mistake(Place(str(path)), f"the file cannot be read: {error}")])


log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TreeState:
    """A tree as it is served, and its present file.

    Args:
        source: its present file; `None` if that cannot be read.
        tree: the last valid version; `None` if there was none. Parameters without a default have sample values, and
            such a tree is only run as a part of others.
        error: the mistakes of the present files; `None` if they are what is served.
        internal: it is a part of other trees and is not run by itself.
        asked: the present files of this tree and of those that it includes, by name; `None` for one that is not there.
    """

    name: str
    source: TreeSource | None
    tree: TreeDefinition | None
    error: TreeFileError | None
    internal: bool
    asked: Mapping[str, TreeSource | TreeFileError | None] = field(default_factory=dict)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The mistakes of the present files."""
        return self.error.mistakes if self.error is not None else ()

    @property
    def is_runnable(self) -> bool:
        """Whether a run can begin with it: there is a valid version, and it needs no arguments."""
        return self.tree is not None and not self.tree.required and not self.internal

    @property
    def includes(self) -> tuple[str, ...]:
        """The trees that its present file includes, directly or not."""
        return tuple(name for name in self.asked if name != self.name)


class ReloadingTrees:
    """A library's trees, cached until their files change.

    Args:
        library: where they are found.
        closed: folders of the library out of which no link may lead.
    """

    def __init__(self, library: TreeLibrary, *, closed: Collection[Path] = ()) -> None:
        self.library = library
        self.is_watched = False
        self.problem: str | None = None
        """Why the folders cannot be read at present."""
        self._closed = frozenset(closed)
        self._files: TreeFiles | None = None
        self._states: dict[str, TreeState] = {}

    @property
    def registry(self) -> Registry:
        """The kinds that trees are read with."""
        return self.library.registry

    def names(self) -> tuple[str, ...]:
        """The names of all trees, sorted."""
        return self._current().names

    def is_internal(self, name: str) -> bool:
        """Whether a tree is only a part of others.

        Raises:
            TreeNotFoundError: there is no such tree.
        """
        return self.state(name).internal

    def load(self, name: str) -> TreeDefinition:
        """The tree of the present files, or the last valid one while they have mistakes.

        Raises:
            TreeNotFoundError: there is no such tree.
            TreeFileError: it has mistakes, and no valid version was loaded before; or it needs arguments.
        """
        state = self.state(name)
        if state.tree is not None and not state.tree.required:
            return state.tree
        if state.error is None and state.source is not None:
            return self.library.load_source(state.source)  # raises: it has parameters without a default
        assert state.error is not None  # noqa: S101  otherwise it has a tree or a source
        raise state.error

    def state(self, name: str) -> TreeState:
        """A tree as it is served, with the mistakes of its present file.

        Raises:
            TreeNotFoundError: there is no such tree.
        """
        files = self._current()
        state = self._states.get(name)
        if state is None:
            if name not in files.found:
                raise TreeNotFoundError(name, files.names, self.library.folders)
            state = self._states[name] = self._read(name, files, None)
        return state

    def states(self) -> tuple[TreeState, ...]:
        """All trees, sorted by name."""
        return tuple(self.state(name) for name in self.names())

    def with_source(self, name: str, source: TreeSource) -> tuple[TreeState, ...]:
        """What a tree, and those that include it, would be if this were its file; nothing is changed.

        Raises:
            OSError: a folder cannot be read.
        """
        files = self.read_files().with_source(name, source)
        states = [self._read(each, files, self._states.get(each)) for each in files.names]
        return tuple(state for state in states if name in state.asked)

    def refresh(self, *, is_first: bool = False) -> tuple[str, ...]:
        """Read the files that have changed; takes milliseconds.

        Args:
            is_first: read all trees, also those that were never used.

        Returns:
            The names whose state has changed.
        """
        try:
            files = self.read_files()
        except OSError as error:
            self._note_problem(f"{error.strerror}: {str(error.filename)!r}")
            return ()
        if self._files is not None and (vanished := files.missing - self._files.missing):
            self._note_problem(f"the folder has vanished: {', '.join(repr(str(folder)) for folder in vanished)}")
            return ()
        self._note_problem(None)
        names = files.names if is_first or self.is_watched else [name for name in self._states if name in files.found]
        before, after = self._states, {name: self._read(name, files, self._states.get(name)) for name in names}
        known = files.found if self._files is None else self._files.found
        self._states, self._files = after, files
        changed = [name for name in dict.fromkeys((*before, *after)) if before.get(name) is not after.get(name)]
        for name in changed:
            _log_change(name, before.get(name), after.get(name), is_new=name not in known)
        return tuple(changed)

    def read_files(self) -> TreeFiles:
        """The files as they are now; what is served does not change.

        Raises:
            OSError: a folder cannot be read.
        """
        return read_tree_files(self.library.folders, closed=self._closed)

    def _current(self) -> TreeFiles:
        """The files as they are now, as far as they can be read."""
        if not self.is_watched and self._have_changed():
            self.refresh()
        if self._files is None:  # they could never be read
            return TreeFiles({}, ())
        return self._files

    def _have_changed(self) -> bool:
        if self._files is None or self.problem is not None:
            return True
        try:
            return fingerprint_of(self.library.folders) != self._files.fingerprint
        except OSError:
            return True

    def _note_problem(self, problem: str | None) -> None:
        if problem is not None and problem != self.problem:
            log.warning("trees.unreadable", problem=problem)
        elif problem is None and self.problem is not None:
            log.info("trees.readable")
        self.problem = problem

    def _read(self, name: str, files: TreeFiles, before: TreeState | None) -> TreeState:
        """The state of a tree; the one before if none of its files has changed."""
        if before is not None and all(files.found.get(each) == source for each, source in before.asked.items()):
            return before
        asked: dict[str, TreeSource | TreeFileError | None] = {}

        def find(wanted: str) -> TreeSource:
            found = asked[wanted] = files.found.get(wanted)
            if found is None:
                raise TreeNotFoundError(wanted, files.names, self.library.folders)
            if isinstance(found, TreeFileError):
                raise found
            return found

        kept = before.tree if before is not None else None
        try:
            source = find(name)
        except TreeFileError as error:
            return TreeState(name, None, kept, error, kept is not None and kept.internal, asked)
        loading = Loading(self.library.registry, find)
        tree = loading.load(source, samples=True)
        if tree is not None:
            return TreeState(name, source, tree, None, tree.internal, asked)
        wrong = TreeFileError(loading.mistakes, loading.sources) if loading.mistakes else None
        return TreeState(name, source, kept, wrong, self._is_internal(source, kept), asked)

    def _is_internal(self, source: TreeSource, kept: TreeDefinition | None) -> bool:
        if kept is not None:
            return kept.internal
        return read_header(read_yaml(source.text, file=source.file), registry=self.library.registry).internal


def _log_change(name: str, before: TreeState | None, after: TreeState | None, *, is_new: bool) -> None:
    """Log what has become of a tree; nothing where one was only read for the first time, and is not new."""
    if after is None:
        log.info("tree.removed", tree=name)
        return
    sha = after.tree.sha if after.tree is not None else None
    if after.error is not None:
        if before is None or str(before.error) != str(after.error):
            log.warning("tree.rejected", tree=name, serving=sha, mistakes=str(after.error))
    elif after.tree is None or (before is None and not is_new):
        return
    elif before is None or before.tree is None:
        log.info("tree.added", tree=name, sha=sha)
    elif before.tree.sha != sha or before.error is not None:
        from bt_runtime.changes.differences import difference  # noqa: PLC0415  where a file has changed

        log.info("tree.reloaded", tree=name, sha=sha, difference=str(difference(before.tree, after.tree)))
