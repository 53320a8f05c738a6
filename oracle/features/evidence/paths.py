"""Paths of files in a text: which words are paths, which of them are the same, and which lines are cited with them.

`and/or`, `TCP/IP`, `24/7`, versions, dates and addresses are no paths: a path ends with the suffix of a file, or is a
folder in code with a slash behind it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from oracle.features.evidence.words import words

_NAMES: Final = "README|CHANGELOG|LICENSE|Makefile|Dockerfile|Containerfile|CONTRIBUTING|Gemfile|Procfile|Jenkinsfile"
_LINES: Final = r"(?:(?:::?|#)L?(?P<line>\d{1,6})(?:\s?[-:]\s?L?(?P<end>\d{1,6}))?)?"
_PATH: Final = re.compile(
    r"(?<![\w./~@:-])(?P<path>(?:\.\.?/|~?/)?(?:[\w.@+-]{1,80}/){0,12}"
    r"(?:\.?[\w@+-][\w.@+-]{0,100}\.(?P<suffix>[A-Za-z][A-Za-z0-9]{0,9})"
    rf"|(?:{_NAMES})(?![\w./-])))(?![\w/~]){_LINES}"
    r"|(?<![\w./~@:-])(?P<folder>(?:[\w.@+-]{1,80}/){1,12})(?=[`\s.,;:)]|$)"
)
_LINK: Final = re.compile(rf"\]\(<?(?P<path>[^\s()<>:#]{{1,300}}\.(?P<suffix>\w{{1,9}})){_LINES}(?:#[^\s()<>]*)?>?\)")
_PRODUCT: Final = re.compile(r"[A-Za-z0-9]{1,12}\.js|ASP\.NET", re.ASCII)
_LINE_OF: Final = re.compile(r"\b[Ll]ines?\s+(?P<line>\d{1,6})(?:\s?(?:-|to|and|through)\s?(?P<end>\d{1,6}))?")
_OF: Final = re.compile(r"\s*(?:of|in|from|at)\s+(?:the\s+)?(?:file\s+|note\s+)?[`*\[(\"]{0,4}")
_AT: Final = re.compile(
    r"[`*\])\"]{0,4}(?:\([^\s()]{0,300}\))?\s{0,3}[,:(-]{0,2}\s{0,3}(?:at|on|see|in|around|from)?\s{0,3}"
)
_OUTSIDE: Final = re.compile(r"/|~|[A-Za-z]:\\")


class Mention(NamedTuple):
    """A path in a text, as it is written, its place, and the first and last of the lines that are cited, if any."""

    path: str
    start: int
    end: int
    lines: tuple[int, int] | None = None

    @property
    def is_outside(self) -> bool:
        """Whether it is of the user's machine rather than of a project or vault."""
        return _OUTSIDE.match(self.path) is not None


def mentions(text: str) -> list[Mention]:
    """The paths of a text, in order; of a citation such as `line 12 of path` or `path (lines 3-5)` with its lines."""
    links = [
        Mention(each["path"], each.start("path"), each.end("path"), _range(each)) for each in _suffixed(_LINK, text)
    ]
    inside = {at for each in links for at in range(each.start, each.end)}
    found = [*links, *(each for each in _paths(text) if each.start not in inside)]
    lines = list(_LINE_OF.finditer(text)) if found else []
    for at, each in enumerate(found):
        for cited in lines if each.lines is None else ():
            if _joins(text, each, cited):
                found[at] = each._replace(lines=_range(cited))
                lines.remove(cited)
                break
    return sorted(found, key=lambda each: each.start)


def _joins(text: str, path: Mention, cited: re.Match[str]) -> bool:
    if cited.end() <= path.start:
        return path.start - cited.end() < 40 and _OF.fullmatch(text, cited.end(), path.start) is not None
    return cited.start() - path.end < 340 and _AT.fullmatch(text, path.end, cited.start()) is not None


def _paths(text: str) -> Iterator[Mention]:
    for found in _suffixed(_PATH, text):
        if found["folder"]:
            yield Mention(found["folder"], found.start("folder"), found.end("folder"))
        elif not _PRODUCT.fullmatch(found["path"]):
            yield Mention(found["path"], found.start(), found.end(), _range(found))


def _suffixed(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches with the suffix of a file, or with another way to be a path."""
    for found in pattern.finditer(text):
        if (suffix := found["suffix"]) is None or suffix.casefold() in words("suffixes"):
            yield found


def _range(found: re.Match[str]) -> tuple[int, int] | None:
    if found["line"] is None:
        return None
    first = int(found["line"])
    return first, max(first, int(found["end"] or first))


def normal(path: str) -> str:
    """A path as it is compared: without `./`, in lower case."""
    return re.sub(r"^(?:\.{1,2}/)+", "", path.strip("`*_'\" ").replace("\\", "/")).strip("/").casefold()


def is_same(wanted: str, known: str) -> bool:
    """Whether two normal paths name the same file, as far as the shorter one says."""
    wanted, known = _stem(wanted), _stem(known)
    return wanted == known or known.endswith(f"/{wanted}") or (wanted.endswith(f"/{known}") and "/" in known)


def _stem(path: str) -> str:
    return path.removesuffix(".md").removeprefix("threads/")


class Paths:
    """Files by their paths; a path that is shorter than another one may name the same file."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._by_name: dict[str, set[str]] = {}
        self.add(*paths)

    def add(self, *paths: str) -> None:
        """Add paths."""
        for path in map(normal, paths):
            self._by_name.setdefault(_stem(path.rpartition("/")[2]), set()).add(path)

    def same(self, path: str) -> list[str]:
        """Those that are the same file."""
        path = normal(path)
        return [each for each in self._by_name.get(_stem(path.rpartition("/")[2]), ()) if is_same(path, each)]

    def has_name(self, path: str) -> bool:
        """Whether the name of a file occurs without its folder."""
        name = normal(path).rpartition("/")[2]
        return name in self._by_name.get(_stem(name), ())

    def __contains__(self, path: str) -> bool:
        return bool(self.same(path))

    def __iter__(self) -> Iterator[str]:
        return (path for paths in self._by_name.values() for path in paths)

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))
