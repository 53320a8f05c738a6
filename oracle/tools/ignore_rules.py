"""The rules of git's ignore files (gitignore(5)).

Rules:

- The last pattern that matches decides; a pattern with `!` re-includes.
- A pattern with a `/` before its end is matched against the path below the file's folder, any other against the name.
- A pattern that ends with `/` is for folders alone.
- Most patterns are literals, which are looked up in dictionaries. All others form one expression, in which the last
  pattern comes first. A file is read up to limits; patterns beyond them are ignored.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
