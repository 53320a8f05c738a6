"""The tree files of some folders, read together: trees that include each other are of one state of the files."""

import errno
import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bt_runtime.language.errors import TreeFileError
from bt_runtime.language.reading.header import TREE_NAME
from bt_runtime.language.reading.loading import TreeSource
from bt_runtime.library.named import read_source
from bt_runtime.text import Mistake, Place

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
        """The same files, if this one served the name."""
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
