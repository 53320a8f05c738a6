"""Reads git's own files to find out which files belong to a work tree, without running git.

Nothing in a project is executed. Git cannot be run: a repository's configuration names programs that git starts (hooks,
`core.fsmonitor`, filters, `remote.….uploadpack` of a partial clone), and no set of switches is known to disable all of
them. So a repository's configuration is not read at all.

Only regular files of bounded size are opened, without blocking. A work tree's `.git` may point anywhere (`gitdir: …`);
only file names are taken from there.
"""

import os
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from oracle.core.search.ranking import Stamp, stamp_of
from oracle.tools import git_index
from oracle.tools.files import read_regular
from oracle.tools.ignore_rules import MAX_BYTES, IgnoreRules, read_rules

_MAX_LINK_BYTES = 8_192
_MAX_CONFIG_BYTES = 262_144
_SECTION = re.compile(r"\s*+\[\s*+([\w.-]++)\s*+(\"[^\"]*+\")?\s*+\]")
_EXCLUDES_FILE = re.compile(r"\s*+excludesfile\s*+=\s*+(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tracked:
    """The content of an index, as paths relative to the top of the work tree.

    Args:
        files: tracked files.
        submodules: the folders of submodules.
        folders: every folder that contains a tracked file or submodule.
    """

    files: frozenset[str] = frozenset()
    submodules: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()


class Repository:
    """A work tree's repository; its folder is `.git`, or the target of that link."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def tracked(self) -> Tracked:
        """The content of its index, read on first use."""
        path = self._folder / "index"
        try:
            return _tracked(path, stamp_of(path.stat()))
        except OSError:
            return Tracked()

    def excludes(self) -> IgnoreRules | None:
        """The rules of `info/exclude`, shared by all work trees of a repository."""
        shared = _first_line(self._folder / "commondir")
        return read_ignore_file((self._folder / shared if shared else self._folder) / "info" / "exclude")


def repository_of(folder: Path) -> Repository | None:
    """The repository whose work tree begins in this folder, if any."""
    path = folder / ".git"
    try:
        is_folder = path.is_dir()
    except OSError:
        return None
    if not is_folder:
        line = _first_line(path)
        if line is None or not line.startswith("gitdir: "):
            return None
        path = folder / line.removeprefix("gitdir: ")
    return Repository(path) if (path / "HEAD").exists() else None


def read_ignore_file(path: Path, *, follow_link: bool = True) -> IgnoreRules | None:
    """The rules of an ignore file; `None` if it does not exist or cannot be read."""
    data = read_regular(path, max_bytes=MAX_BYTES, follow_link=follow_link)
    return read_rules(data) if data else None


def user_excludes() -> IgnoreRules | None:
    """The rules of the current user for all repositories (`core.excludesFile` of the user's own settings)."""
    home = Path(os.environ.get("HOME") or os.path.devnull)
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    named = _excludes_file(home / ".gitconfig") or _excludes_file(settings / "config")
    if named is None:
        return read_ignore_file(settings / "ignore")
    return read_ignore_file(home / named.removeprefix("~/"))


@lru_cache(maxsize=8)
def _tracked(path: Path, stamp: Stamp) -> Tracked:  # noqa: ARG001  a part of the key
    """The content of an index, cached by its stamp."""
    data = read_regular(path, max_bytes=git_index.MAX_BYTES)
    files, submodules = git_index.tracked_names(data or b"")
    folders: set[str] = set()
    for name in (*files, *submodules):
        parent = name.rpartition("/")[0]
        while parent and parent not in folders:
            folders.add(parent)
            parent = parent.rpartition("/")[0]
    return Tracked(files, submodules, frozenset(folders))


def _first_line(path: Path) -> str | None:
    data = read_regular(path, max_bytes=_MAX_LINK_BYTES)
    line = os.fsdecode(data).split("\n", 1)[0].rstrip("\r") if data else ""
    return line if line and "\0" not in line else None


def _excludes_file(config: Path) -> str | None:
    """The value of `core.excludesFile` in a user's configuration; included files are not read."""
    data = read_regular(config, max_bytes=_MAX_CONFIG_BYTES)
    section, found = "", None
    for line in (data or b"").decode("utf-8", "replace").split("\n"):
        if header := _SECTION.match(line):
            section = "" if header[2] else header[1].casefold()
        elif section == "core" and (value := _EXCLUDES_FILE.match(line)):
            found = value[1].rstrip().strip('"')
    return found or None
