"""The files of a folder that git tracks, and those that it ignores.

Ignore files, as gitignore(5) has them:

- The last pattern that matches decides; a pattern with `!` re-includes.
- A pattern with a `/` before its end is matched against the path below the file's folder, any other against the name.
- A pattern that ends with `/` is for folders alone.
- Most patterns are literals, which are looked up in dictionaries. All others form one expression, in which the last
  pattern comes first. A file is read up to limits; patterns beyond them are ignored.

The names of tracked files are read from git's index (gitformat-index(5)). That file is untrusted: it is read up to a
limit, no path in it is opened, and names are no longer than a path may be. A malformed index tracks nothing. Of a split
index only its own entries count, not the shared ones.

Nothing in a project is executed. Git cannot be run: a repository's configuration names programs that git starts (hooks,
`core.fsmonitor`, filters, `remote.….uploadpack` of a partial clone), and no set of switches is known to disable all of
them. So a repository's configuration is not read at all.

Only regular files of bounded size are opened, without blocking. A work tree's `.git` may point anywhere (`gitdir: …`);
only file names are taken from there.
"""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from struct import Struct, error

from bt_runtime.text.data import dataclass
from oracle.core.search.file_index import Stamp, stamp_of
from oracle.tools.files import read_regular
from oracle.tools.globs import literal_of, name_regex, path_regex, suffix_of

MAX_BYTES = 262_144
"""The maximum size of an ignore file."""
_MAX_EXPRESSIONS = 500
_MAX_PATTERN_CHARS = 1_000
_MAX_ENDINGS = 200


@dataclass(frozen=True, slots=True)
class _Rule:
    glob: str
    re_includes: bool
    folders_only: bool
    has_path: bool


class IgnoreRules:
    """The patterns of the text of one ignore file."""

    def __init__(self, text: str) -> None:
        rules = list(_rules(text))
        self._re_includes = tuple(rule.re_includes for rule in rules)
        self._of_folders = _Lookup(list(enumerate(rules)))
        self._of_files = _Lookup([(number, rule) for number, rule in enumerate(rules) if not rule.folders_only])

    def ignores(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Whether an entry is ignored; `None` if no pattern matches. A link to a folder is not one.

        `path` is below the folder of the ignore file, with `/`; `name` is its last part.
        """
        last = (self._of_folders if is_folder else self._of_files).last(path, name)
        return None if last < 0 else not self._re_includes[last]


@lru_cache(maxsize=64)
def read_rules(data: bytes) -> IgnoreRules:
    """The patterns of a file's content, cached by content."""
    return IgnoreRules(data[:MAX_BYTES].decode("utf-8", "surrogateescape"))


class _Lookup:
    """Numbered rules, arranged so that the last match is found quickly."""

    def __init__(self, rules: Sequence[tuple[int, _Rule]]) -> None:
        self._names: dict[str, int] = {}
        self._paths: dict[str, int] = {}
        self._suffixes: dict[str, int] = {}
        names: list[tuple[int, str]] = []
        paths: list[tuple[int, str]] = []
        for number, rule in rules:
            literal = literal_of(rule.glob)
            if literal is not None:
                (self._paths if rule.has_path else self._names)[literal] = number
            elif not rule.has_path and (suffix := suffix_of(rule.glob)) is not None:
                self._suffixes[suffix] = number
            elif (regex := (path_regex if rule.has_path else name_regex)(rule.glob)) is not None:
                (paths if rule.has_path else names).append((number, regex))
        self._lengths = tuple(sorted({len(suffix) for suffix in self._suffixes}))
        # A quick test that most names fail; with too many endings, the empty one, which all names have.
        self._endings = tuple(self._suffixes) if len(self._suffixes) <= _MAX_ENDINGS else ("",)
        self._name_numbers, self._name_regex = _alternatives(names)
        self._path_numbers, self._path_regex = _alternatives(paths)

    def last(self, path: str, name: str) -> int:
        """The number of the last rule that matches, -1 if there is none."""
        found = self._names.get(name, -1)
        if self._paths and (number := self._paths.get(path, -1)) > found:
            found = number
        for length in self._lengths if name.endswith(self._endings) else ():
            if length > len(name):
                break
            found = max(found, self._suffixes.get(name[len(name) - length :], -1))
        if self._name_regex is not None and (match := self._name_regex.match(name)):
            found = max(found, self._name_numbers[(match.lastindex or 1) - 1])
        if self._path_regex is not None and (match := self._path_regex.match(path)):
            found = max(found, self._path_numbers[(match.lastindex or 1) - 1])
        return found


def _alternatives(regexes: list[tuple[int, str]]) -> tuple[tuple[int, ...], re.Pattern[str] | None]:
    if not regexes:
        return (), None
    last_first = regexes[:_MAX_EXPRESSIONS][::-1]
    numbers = tuple(number for number, _ in last_first)
    return numbers, re.compile("|".join(f"({regex})" for _, regex in last_first))


def _rules(text: str) -> Iterator[_Rule]:
    for raw in text.removeprefix("\ufeff").split("\n"):
        line = _without_trailing_spaces(raw.removesuffix("\r"))
        if line.startswith("#") or len(line) > _MAX_PATTERN_CHARS:
            continue
        re_includes = line.startswith("!")
        glob = line[re_includes:]
        folders_only = glob.endswith("/")
        glob = glob[: len(glob) - folders_only]
        has_path = "/" in glob
        glob = glob.removeprefix("/")
        if glob:
            yield _Rule(glob, re_includes=re_includes, folders_only=folders_only, has_path=has_path)


def _without_trailing_spaces(line: str) -> str:
    """The line without trailing spaces that are not escaped by a backslash."""
    end = len(line)
    while end and line[end - 1] == " ":
        end -= 1
    backslashes = len(line[:end]) - len(line[:end].rstrip("\\"))
    return line[: end + 1] if backslashes % 2 and end < len(line) else line[:end]


MAX_INDEX_BYTES = 64 * 1024 * 1024
_MAX_ENTRIES = 1_000_000
_MAX_NAME_BYTES = 4_096
_HEADER = Struct(">4sII")
_MODE_AT = 24
_FLAGS = Struct(">H")
_MODE = Struct(">I")
_STAT_BYTES = 40
_HASH_BYTES = (20, 32)
"""SHA-1 and SHA-256; which one is used is in the repository's configuration, which is not read."""
_EXTENDED = 0x4000
_NAME_MASK = 0x0FFF
_GITLINK = 0o160000


def tracked_names(index: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """The paths of tracked files and of submodules, relative to the top of the work tree."""
    try:
        signature, version, count = _HEADER.unpack_from(index)
    except error:
        return frozenset(), frozenset()
    if signature != b"DIRC" or version not in {2, 3, 4} or count > _MAX_ENTRIES:
        return frozenset(), frozenset()
    for hash_bytes in _HASH_BYTES:
        try:
            entries = list(_entries(index, count, _STAT_BYTES + hash_bytes, is_compressed=version == 4))
        except (ValueError, error):  # the bytes do not follow the format
            continue
        files = frozenset(os.fsdecode(name) for mode, name in entries if mode != _GITLINK)
        return files, frozenset(os.fsdecode(name) for mode, name in entries if mode == _GITLINK)
    return frozenset(), frozenset()


def _entries(index: bytes, count: int, flags_at: int, *, is_compressed: bool) -> Iterator[tuple[int, bytes]]:
    """The entries with their modes.

    In versions 2 and 3 the flags have a name's length, and NULs pad it to a multiple of eight bytes. Version 4 gives
    how much to cut off the previous name, and the suffix to append.
    """
    at, name = _HEADER.size, b""
    for _ in range(count):
        (flags,) = _FLAGS.unpack_from(index, at + flags_at)
        cut, start = len(name), at + flags_at + (4 if flags & _EXTENDED else 2)
        if is_compressed:
            cut, start = _offset(index, start)
        end = index.find(b"\0", start)
        if end < 0 or cut > len(name) or len(name) - cut + end - start > _MAX_NAME_BYTES:
            raise ValueError
        name = name[: len(name) - cut] + index[start:end]
        if not is_compressed and min(len(name), _NAME_MASK) != flags & _NAME_MASK:
            raise ValueError
        yield _MODE.unpack_from(index, at + _MODE_AT)[0], name
        at = end + 1 if is_compressed else at + (end - at + 8 & ~7)


def _offset(index: bytes, at: int) -> tuple[int, int]:
    """A number in the encoding of pack offsets, and the position after it."""
    value = -1
    while True:
        if at >= len(index) or value > _MAX_NAME_BYTES:
            raise ValueError
        byte = index[at]
        at += 1
        value = ((value + 1) << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at


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
    data = read_regular(path, max_bytes=MAX_INDEX_BYTES)
    files, submodules = tracked_names(data or b"")
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
