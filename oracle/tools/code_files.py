"""The files of a project that the tools may show: the one list used for searching, listing and reading.

In a git work tree these are the files that git would list: tracked files, and untracked ones that are not ignored.
Elsewhere these are all files except those in hidden folders, virtual environments, dependencies and build results, and
those that a `.gitignore` excludes. Links and files with credentials are never listed: what a tool reads is sent to the
model's provider.

Git itself is not run (see `oracle.tools.git_folder`). A repository inside the project follows its own rules; a project
inside a repository follows the rules of that repository, unless the whole project is ignored there.
"""

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from bt_runtime.text.data import dataclass
from oracle.core.search.file_index import Stamp
from oracle.tools.files import entries_of, regular_stamp
from oracle.tools.git_folder import IgnoreRules, Repository, read_ignore_file, repository_of, user_excludes
from oracle.tools.keys import check_cancelled
from oracle.tools.secret_files import is_secret

MAX_FILES = 20_000
_TIMEOUT_S = 5.0
_IGNORE_FILE = ".gitignore"
_SKIPPED_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "site-packages", "venv", "env", "dist", "build", "target", "out", "coverage"}
    | {"bower_components", "htmlcov"}
)
_SHOWN_HIDDEN_FOLDERS = frozenset({".github", ".gitlab", ".circleci"})


class ProjectFile(NamedTuple):
    """A regular file: its path relative to the root, with `/`, and the stamp of its version."""

    path: str
    stamp: Stamp

    @property
    def size(self) -> int:
        """In bytes."""
        return self.stamp[2]


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a project, in order.

    `is_complete` is false if there are more than `MAX_FILES`, or if listing them took too long.
    """

    files: tuple[ProjectFile, ...]
    is_complete: bool


def list_project(root: Path, *, private: Sequence[str] = (), clock: Callable[[], float] = time.monotonic) -> Listing:
    """All files of a project that the tools may show, without the `private` ones (`private_below`)."""
    files: list[ProjectFile] = []
    deadline = clock() + _TIMEOUT_S
    base, prefix, scope = _start(root)
    folders = [(prefix, scope)]
    while folders and len(files) <= MAX_FILES and clock() <= deadline:
        check_cancelled()
        folder, scope = folders.pop()
        inner = []
        entries = entries_of(f"{base}/{folder}")
        scope = _entered(scope, base, folder, {entry.name for entry in entries})
        for entry in entries:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if _is_withheld(path[len(prefix) :], private, is_folder=is_folder):
                continue
            if is_folder:
                within = _within(scope, base, path, entry.name)
                inner += [] if within is None else [(f"{path}/", within)]
            elif _shows_file(scope, path, entry.name) and (stamp := regular_stamp(entry)) is not None:
                files.append(ProjectFile(path[len(prefix) :], stamp))
        folders += reversed(inner)
    is_complete = not folders and len(files) <= MAX_FILES
    return Listing(tuple(sorted(files[:MAX_FILES], key=lambda file: file.path)), is_complete)


def is_listed(root: Path, path: str, *, private: Sequence[str] = ()) -> bool:
    """Whether a file would be in a complete listing; only the folders on its path are read."""
    if _is_withheld(path, private, is_folder=False):
        return False
    base, folder, scope = _start(root)
    *folders, last = path.split("/")
    for name in folders:
        within = _step(scope, base, folder, name)
        if within is None:
            return False
        folder, scope = f"{folder}{name}/", within
    entries = {entry.name: entry for entry in entries_of(f"{base}/{folder}")}
    scope = _entered(scope, base, folder, entries.keys())
    return last in entries and _shows_file(scope, folder + last, last) and regular_stamp(entries[last]) is not None


def top_folders(root: Path, *, private: Iterable[Path] = ()) -> tuple[str, ...]:
    """The sorted names of the folders directly below a project's root, without hidden, generated and private ones."""
    folder = Path(os.path.realpath(root))
    hidden = private_below(folder, private)
    return tuple(
        entry.name
        for entry in entries_of(folder)
        if entry.is_dir(follow_symlinks=False)
        and not entry.name.startswith(".")
        and not _is_skipped_folder(Path(entry.path), entry.name)
        and not is_secret(entry.name)
        and not is_private(entry.name, hidden)
    )


def is_private(path: str, private: Sequence[str]) -> bool:
    """Whether the path is one of `private`, or below one. Case is ignored, as on some file systems."""
    if not private:
        return False
    folded = path.casefold()
    return any(folded == each or folded.startswith(f"{each}/") for each in private)


def private_below(root: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """The paths that are below the root, in the form that `is_private` takes."""
    real = (Path(os.path.realpath(path)) for path in paths)
    inside = (path.relative_to(root) for path in real if path != root and path.is_relative_to(root))
    return tuple(path.as_posix().casefold() for path in inside)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The rules for the entries of a folder.

    Args:
        rules: ignore files, highest precedence first, each with the length of the path of its folder.
        repository: the repository of the work tree; `None` outside of one.
        top: the length of the path of the work tree's top folder.
        tracked_only: the folder is ignored, and only its tracked files are shown.
    """

    rules: tuple[tuple[IgnoreRules, int], ...] = ()
    repository: Repository | None = None
    top: int = 0
    tracked_only: bool = False

    def ignores(self, path: str, name: str, *, is_folder: bool) -> bool:
        if self.tracked_only:
            return True
        for rules, length in self.rules:
            is_ignored = rules.ignores(path[length:], name, is_folder=is_folder)
            if is_ignored is not None:
                return is_ignored
        return False


def _start(root: Path) -> tuple[Path, str, _Scope]:
    """The folder that paths are relative to, the root's own path below it, and the scope of the root.

    The folder is the root itself, or the top of the work tree that contains it.
    """
    if repository_of(root) is None:
        top = next((outer for outer in root.parents if repository_of(outer) is not None), None)
        folder, scope = "", None if top is None else _Scope()
        for name in root.relative_to(top).parts if top is not None else ():
            scope = None if top is None or scope is None else _step(scope, top, folder, name)
            folder += f"{name}/"
        if top is not None and scope is not None:
            return top, folder, scope
    return root, "", _Scope()


def _step(scope: _Scope, base: Path, folder: str, name: str) -> _Scope | None:
    """The scope of a folder inside another one; `None` if it is not shown."""
    entries = {entry.name: entry for entry in entries_of(f"{base}/{folder}")}
    if name not in entries or not entries[name].is_dir(follow_symlinks=False):
        return None
    return _within(_entered(scope, base, folder, entries.keys()), base, folder + name, name)


def _entered(scope: _Scope, base: Path, folder: str, names: Collection[str]) -> _Scope:
    """The scope extended by the folder's own repository and ignore file."""
    here = len(folder)
    if ".git" in names and (repository := repository_of(base / folder)) is not None:
        weakest = [rules for rules in (repository.excludes(), user_excludes()) if rules is not None]
        scope = _Scope(tuple((rules, here) for rules in weakest), repository, here)
    if _IGNORE_FILE in names and not scope.tracked_only:
        rules = read_ignore_file(base / folder / _IGNORE_FILE, follow_link=False)
        scope = scope if rules is None else replace(scope, rules=((rules, here), *scope.rules))
    return scope


def _within(scope: _Scope, base: Path, path: str, name: str) -> _Scope | None:
    """The scope of a folder in this one; `None` if it is not shown."""
    is_ignored = scope.ignores(path, name, is_folder=True)
    if scope.repository is None:
        return None if is_ignored or _is_skipped_folder(base / path, name) else scope
    if not is_ignored:
        return scope
    tracked, below_top = scope.repository.tracked, path[scope.top :]
    if below_top in tracked.folders or below_top in tracked.submodules:
        return replace(scope, tracked_only=True)
    return None


def _shows_file(scope: _Scope, path: str, name: str) -> bool:
    if not scope.ignores(path, name, is_folder=False):
        return True
    return scope.repository is not None and path[scope.top :] in scope.repository.tracked.files


def _is_withheld(path: str, private: Sequence[str], *, is_folder: bool) -> bool:
    return is_secret(f"{path}/" if is_folder else path) or is_private(path, private)


def _is_skipped_folder(path: Path, name: str) -> bool:
    if name.startswith("."):
        return name not in _SHOWN_HIDDEN_FOLDERS
    return name in _SKIPPED_FOLDERS or name.endswith(".egg-info") or (path / "pyvenv.cfg").exists()
