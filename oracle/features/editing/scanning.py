"""A tolerant scanner of YAML's structure, for tree files that are being typed.

The text is often not YAML while it is typed, so the reader cannot say where the cursor is. The scanner follows
indentation, dashes, keys and brackets line by line, ignores what it does not understand, and never fails. It takes time
in proportion to the text, and returns nothing for a text that is much larger than any tree.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from bt_runtime.text import Place
from bt_runtime.text.data import dataclass
from bt_runtime.text.yaml_reader import DEEPEST
from oracle.features.editing.lines import LARGEST_TEXT, Lines

Path = tuple[str | int, ...]

_COLON = re.compile(r":(?=\s|$)")
_COMMENT = re.compile(r"(?:^|\s)#")
_QUOTED = {'"': re.compile(r'"((?:[^"\\]|\\.)*)(")?'), "'": re.compile(r"'((?:[^']|'')*)(')?")}
_FLOW = re.compile(
    r"""(?P<space>\s+)|(?P<comment>(?<!\S)\#.*)|(?P<mark>[\[\]{},]|:(?=[\s,\[\]{}]|$))"""
    r"""|(?P<quoted>"(?:[^"\\]|\\.)*"?|'(?:[^']|'')*'?)|(?P<plain>(?:[^\s\[\]{},:]|:(?![\s,\[\]{}]|$))+)"""
)
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)+")
_HEADER = re.compile(r"[|>][-+0-9]*+\s*+(?:(?<=\s)#.*)?$", re.DOTALL)
_LONGEST_KEY = 1024
"""A longer key is no key in YAML."""
_DEEPEST = 2 * DEEPEST
"""Collections further in are skipped; the reader refuses files with half as many levels."""
_DEEPEST_DECLARATION = 3
"""The section, the name, and a field of it."""


@dataclass(slots=True)
class _Frame:
    """A collection that is open."""

    indent: int
    is_mapping: bool
    is_flow: bool = False
    key: str | None = None
    index: int = -1
    is_filled: bool = False
    """The value of the present key or item has begun on its line."""
    scalars: dict[str, str] = field(default_factory=dict)
    """The keys so far, each with the scalar behind it on its line, or with nothing."""
    pending: str = ""

    @property
    def step(self) -> str | int | None:
        return self.key if self.is_mapping else self.index


@dataclass(frozen=True, slots=True)
class WrittenKey:
    """A key with the scalar behind it, as far as that is on its line."""

    path: Path
    place: Place
    value: str


@dataclass(frozen=True, slots=True)
class Spot:
    """Where the cursor is.

    Args:
        path: the keys and item numbers down to the mapping whose key is typed, or to the value that is typed.
        at: `key`: a key of the mapping; `value`: a value on the line of its key; `start`: a value that may still become
            a mapping or a list; `comment`: inside of a comment; `nowhere`: behind a complete value.
        text: what is written of the scalar before the cursor, without its quote; for a comment the text behind the `#`.
        begin: where that text begins.
        quote: the quote that is open, or nothing.
        scalars: by the depth of the path, the scalars beside each of its keys; the last one are those of the mapping
            whose key is typed.
        is_flow: inside of brackets.
        indent: the number of spaces before the line.
    """

    path: Path
    at: Literal["key", "value", "start", "comment", "nowhere"]
    text: str
    begin: Place
    quote: str = ""
    scalars: tuple[Mapping[str, str], ...] = ()
    is_flow: bool = False
    indent: int = 0


class Scanner:
    """Follows the structure of a text, line by line."""

    def __init__(self, lines: Lines) -> None:
        self.keys: list[WrittenKey] = []
        self._lines = lines
        self._frames: list[_Frame] = []
        self._block: int | None = None
        """The indentation that the lines of a block scalar exceed."""
        self._quote = ""
        self._number = 0
        self._skipped = 0
        """Brackets that are open beyond the deepest level."""
        self._open: tuple[int, str, str] | None = None
        """The scalar that the line ends in: its column from 0, its text, and its quote if that is open."""
        self._comment: int | None = None

    def line(self, text: str) -> None:
        """Take the next line."""
        self._number += 1
        self._open = self._comment = None
        indent = len(text) - len(text.lstrip(" "))
        is_blank = not text.strip()
        if self._block is not None:
            if is_blank or indent > self._block:
                self._open = (indent, text[indent:], "")
                return
            self._block = None
        if self._quote:
            self._close_quote(text, indent)
        elif self._in_flow():
            self._flow(text, indent)
        elif not is_blank and not text.startswith(("---", "...", "%")):
            if text[indent] == "#":
                self._comment = indent
            else:
                self._block_line(text, indent)

    def _in_flow(self) -> bool:
        return bool(self._frames) and self._frames[-1].is_flow

    def _close_quote(self, text: str, indent: int) -> None:
        rest = _QUOTED[self._quote].match(self._quote + text)
        if rest is None or rest[2] is None:
            self._open = (indent, text[indent:], self._quote)
            return
        self._quote = ""
        if self._in_flow():
            self._flow(text, rest.end() - 1)

    def _dedent(self, column: int, *, is_item: bool) -> None:
        while self._frames:
            top = self._frames[-1]
            if top.indent < column or (top.indent == column and (top.is_mapping or is_item)):
                return
            self._frames.pop()

    def _block_line(self, text: str, column: int) -> None:
        is_item = _is_dash(text, column)
        self._dedent(column, is_item=is_item)
        while _is_dash(text, column) and len(self._frames) < _DEEPEST:
            if not self._frames or self._frames[-1].is_mapping or self._frames[-1].indent != column:
                self._fill()
                self._frames.append(_Frame(column, is_mapping=False))
            self._frames[-1].index += 1
            self._frames[-1].is_filled = False
            column = _skip(text, column + 1)
        if column >= len(text):
            return
        found = _key_at(text, column)
        if found is None:
            self._value(text, column)
            return
        name, end = found
        top = self._frames[-1] if self._frames else None
        if top is None or not top.is_mapping or top.indent != column:
            self._fill()
            self._frames.append(_Frame(column, is_mapping=True))
        self._enter(name, column)
        self._value(text, _skip(text, end))

    def _fill(self) -> None:
        if self._frames:
            self._frames[-1].is_filled = True

    def _enter(self, name: str, column: int) -> None:
        """A key of the topmost mapping."""
        frame = self._frames[-1]
        frame.key, frame.is_filled = name, False
        frame.scalars.setdefault(name, "")
        if self._frames[0].key in {"blackboard", "parameters"} and 1 < len(self._frames) <= _DEEPEST_DECLARATION:
            self.keys.append(WrittenKey(self.path, self._lines.place(self._number, column + 1), ""))

    def _take(self, value: str) -> None:
        """The scalar of the present key."""
        if not self._frames or (self._frames[-1].is_filled and not self._frames[-1].is_flow):
            return  # a further line of the scalar
        frame = self._frames[-1]
        frame.is_filled = True
        if frame.is_mapping and frame.key is not None:
            frame.scalars[frame.key] = value
            if self.keys and len(self._frames) <= _DEEPEST_DECLARATION and self.keys[-1].path == self.path:
                self.keys[-1] = WrittenKey(self.path, self.keys[-1].place, value)

    def _value(self, text: str, column: int) -> None:
        properties = _PROPERTIES.match(text, column)
        column = properties.end() if properties else column
        if column >= len(text):
            return
        first = text[column]
        if first == "#":
            self._comment = column
        elif first in "{[":
            self._fill()
            self._flow(text, column)
        elif first in "|>" and _HEADER.match(text, column):
            self._fill()
            self._block = max((frame.indent for frame in self._frames), default=-1)
        elif first in _QUOTED:
            self._quoted(text, column)
        else:
            self._plain(text, column)

    def _quoted(self, text: str, column: int) -> None:
        match = _QUOTED[text[column]].match(text, column)
        if match is None:
            return
        self._take(match[1])
        if match[2] is None:
            self._quote = text[column]
            self._open = (column + 1, match[1], text[column])
        else:
            comment = _COMMENT.search(text, match.end())
            self._comment = comment.end() - 1 if comment else None

    def _plain(self, text: str, column: int) -> None:
        comment = _COMMENT.search(text, column)
        if comment:
            self._comment = comment.end() - 1
            self._take(text[column : comment.start()].rstrip())
        else:
            self._take(text[column:].rstrip())
            self._open = (column, text[column:], "")

    def _flow(self, text: str, column: int) -> None:
        written = len(text.rstrip())
        while column < len(text):
            match = _FLOW.match(text, column)
            if match is None:
                column += 1
                continue
            column = match.end()
            kind, token = match.lastgroup, match[0]
            if kind == "comment":
                self._comment = match.start()
            elif kind == "mark":
                self._flow_mark(token)
                if not self._in_flow():
                    comment = _COMMENT.search(text, column)
                    self._comment = comment.end() - 1 if comment else None
                    return
            elif kind == "quoted":
                self._flow_quoted(token, match.start(), ends=column == len(text))
            elif kind == "plain":
                self._flow_plain(text, match, is_last=column == written)

    def _flow_plain(self, text: str, match: re.Match[str], *, is_last: bool) -> None:
        frame = self._frames[-1]
        before = frame.pending[-_LONGEST_KEY:]
        joined = f"{before} {match[0]}" if before and not before.endswith(('"', "'")) else match[0]
        frame.pending = joined
        if frame.is_mapping and frame.key is not None:
            self._take(joined)
        if is_last:
            start = match.end() - len(joined) if before else match.start()
            self._open = (max(start, 0), joined + text[match.end() :], "")

    def _flow_quoted(self, token: str, column: int, *, ends: bool) -> None:
        frame = self._frames[-1]
        match = _QUOTED[token[0]].match(token)
        value = match[1] if match else token[1:]
        frame.pending = value
        if frame.is_mapping and frame.key is not None:
            self._take(value)
        if match is not None and match[2] is None and ends:
            self._quote = token[0]
            self._open = (column + 1, value, token[0])

    def _flow_mark(self, mark: str) -> None:
        self._open = None
        frame = self._frames[-1] if self._frames else None
        if mark in "{[" and len(self._frames) >= _DEEPEST:
            self._skipped += 1
        elif mark in "}]" and self._skipped:
            self._skipped -= 1
        elif mark in "{[":
            self._fill()
            self._frames.append(_Frame(-1, is_mapping=mark == "{", is_flow=True, index=0))
            # Brackets belong to the line that they begin on: no indentation closes them.
            self._frames[-1].indent = frame.indent + 1 if frame else 0
        elif frame is None or not frame.is_flow:
            return
        elif mark in "}]":
            self._frames.pop()
        elif mark == ",":
            frame.pending, frame.is_filled = "", False
            if frame.is_mapping:
                frame.key = None
            else:
                frame.index += 1
        elif frame.is_mapping and frame.key is None:
            name, frame.pending = frame.pending, ""
            self._enter(name, 0)

    @property
    def path(self) -> Path:
        """The keys and item numbers that are open."""
        return tuple(step for frame in self._frames if (step := frame.step) is not None)

    def spot(self, text: str) -> Spot:
        """Where the cursor is at the end of the text, the beginning of a line that was not taken yet."""
        was_inside = self._block is not None or bool(self._quote)
        indent = len(text) - len(text.lstrip(" "))
        is_blank = indent == len(text)
        number = self._number + 1
        if is_blank and not was_inside and not self._in_flow():
            return self._at_indentation(indent, number)
        self.line(text)
        here = self._lines.place(number, len(text) + 1)
        if self._comment is not None:
            begin = self._lines.place(number, self._comment + 2)
            return self._spot("comment", text[self._comment + 1 :], begin, indent=indent)
        if self._open is not None:
            column, written, quote = self._open
            begin = self._lines.place(number, column + 1)
            return self._in_scalar(text, written, begin, quote, indent=indent, is_block=self._block is not None)
        return self._behind(text, here, indent)

    def _in_scalar(self, text: str, written: str, begin: Place, quote: str, *, indent: int, is_block: bool) -> Spot:
        top = self._frames[-1] if self._frames else None
        if is_block or top is None:
            return self._spot("value" if top else "key", written, begin, quote=quote, indent=indent)
        if top.is_flow:
            if top.is_mapping:
                at: Literal["key", "value", "start"] = "value" if top.key is not None else "key"
            else:
                at = "start"
            return self._spot(at, written, begin, quote=quote, indent=indent)
        line_begins = begin.column - 1 - len(quote) == indent
        if line_begins and top.is_mapping and top.indent == indent:
            return self._spot("key", written, begin, quote=quote, indent=indent, drop=True)
        is_start = line_begins or (not top.is_mapping and _only_dashes(text[: begin.column - 1 - len(quote)]))
        return self._spot("start" if is_start else "value", written, begin, quote=quote, indent=indent)

    def _behind(self, text: str, here: Place, indent: int) -> Spot:
        """The cursor is not in a scalar."""
        top = self._frames[-1] if self._frames else None
        if top is None:
            return self._spot("key", "", here, indent=indent)
        if top.is_flow:
            if top.is_mapping and top.key is None:
                return self._spot("nowhere" if top.pending else "key", "", here, indent=indent)
            filled = top.is_filled or (not top.is_mapping and bool(top.pending))
            return self._spot(
                "nowhere" if filled else ("value" if top.is_mapping else "start"), "", here, indent=indent
            )
        if top.is_filled or not text.endswith(" "):
            return self._spot("nowhere", "", here, indent=indent)
        return self._spot("value" if top.is_mapping else "start", "", here, indent=indent)

    def _at_indentation(self, indent: int, number: int) -> Spot:
        """The cursor is on an empty line, in a column that says what it belongs to."""
        here = self._lines.place(number, indent + 1)
        self._dedent(indent, is_item=False)
        top = self._frames[-1] if self._frames else None
        if top is None:
            return self._spot("key" if indent == 0 else "nowhere", "", here, indent=indent)
        if top.is_mapping and top.indent == indent:
            return self._spot("key", "", here, indent=indent, drop=True)
        return self._spot("nowhere" if top.is_filled else "start", "", here, indent=indent)

    def _spot(
        self,
        at: Literal["key", "value", "start", "comment", "nowhere"],
        text: str,
        begin: Place,
        *,
        quote: str = "",
        indent: int = 0,
        drop: bool = False,
    ) -> Spot:
        """A spot at the open collections; `drop`: the last key of the topmost mapping is complete."""
        frames = [frame for frame in self._frames if frame.step is not None]
        path = self.path[:-1] if drop else self.path
        scalars = tuple(frame.scalars for frame in frames)
        if at == "key" and not drop:
            scalars = (*scalars, self._frames[-1].scalars if self._frames else {})
        return Spot(path, at, text, begin, quote, scalars, self._in_flow(), indent)


def spot_at(lines: Lines, line: int, column: int) -> Spot:
    """Where a cursor is.

    Args:
        lines: the text.
        line: the line of the cursor, counted from 1.
        column: of the cursor, in characters from 1.
    """
    scanner = Scanner(lines)
    if len(lines.text) > LARGEST_TEXT:
        return Spot((), "nowhere", "", lines.place(line, column))
    for number in range(1, line):
        scanner.line(lines[number])
    return scanner.spot(lines[line][: column - 1])


def declarations(lines: Lines) -> list[WrittenKey]:
    """The keys below `blackboard:` and `parameters:`, with their fields."""
    scanner = Scanner(lines)
    for number in range(1, len(lines) + 1 if len(lines.text) <= LARGEST_TEXT else 1):
        scanner.line(lines[number])
    return scanner.keys


def _is_dash(text: str, column: int) -> bool:
    return text[column : column + 2] in {"-", "- "}


def _only_dashes(text: str) -> bool:
    return bool(text.strip()) and not text.replace("-", "").strip()


def _skip(text: str, column: int) -> int:
    while column < len(text) and text[column] == " ":
        column += 1
    return column


def _key_at(text: str, column: int) -> tuple[str, int] | None:
    """The key of a block mapping that begins in a column, and where its colon ends."""
    first = text[column]
    if first in _QUOTED:
        quoted = _QUOTED[first].match(text, column)
        if quoted is None or quoted[2] is None:
            return None
        colon = _COLON.match(text, _skip(text, quoted.end()))
        return (quoted[1], colon.end()) if colon else None
    if first in "#&*!|>%@`[]{},":
        return None
    colon = _COLON.search(text, column, column + _LONGEST_KEY)
    if colon is None:
        return None
    name = text[column : colon.start()].rstrip()
    return (name, colon.end()) if name and not _COMMENT.search(name) else None
