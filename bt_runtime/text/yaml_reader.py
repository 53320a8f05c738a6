"""YAML text to values with places, for text of any origin.

Values are built from the parser's events, one by one, so that bounds hold before anything is constructed. Rules:

- One document of plain data in UTF-8: at most 1 MB, 100 levels deep, 20 000 values, where aliases count as often as
  they are used. So an alias bomb is refused before it expands.
- Scalars by the core schema of YAML 1.2; numbers fit into JSON.
- Keys are text and unique in a mapping; a key that YAML reads as anything else needs quotes.
- Aliases repeat a complete value. Tags are refused, and so are merge keys `<<`, which are YAML 1.1.
- Reading continues after a mistake where possible, so that the rest of the file is checked as well.

Plain scalars have their values by the core schema of YAML 1.2, not PyYAML's YAML 1.1: `on`, `yes` and `NO` are text,
`12:30:00` is text and not 45 000 seconds, `2024-01-01` is text, and octal is `0o17`.
"""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from itertools import islice
from typing import Any

import yaml

from bt_runtime.text.data import dataclass
from bt_runtime.text.mistakes import Mistake, Place, place_at
from bt_runtime.text.phrases import brief
from bt_runtime.text.suggestions import Suggestion

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_LARGEST_INT = 2**63 - 1
_LONGEST_NUMBER = 60

Scalar = str | int | float | bool | None


def resolve(text: str) -> Scalar:
    """The value of a plain scalar.

    Raises:
        ValueError: for a number that other readers of JSON cannot represent: beyond 64 bits, infinite, not a number.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INT.fullmatch(text):
        return _int(text, 10)
    if _OCTAL.fullmatch(text):
        return _int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return _int(text[2:], 16)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            raise ValueError("the number is too large")
        return value
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("only finite numbers can be used")
    return text


def _int(digits: str, base: int) -> int:
    value = int(digits, base) if len(digits) <= _LONGEST_NUMBER else _LARGEST_INT + 1
    if not -_LARGEST_INT <= value <= _LARGEST_INT:
        raise ValueError("the number is too large for 64 bits")
    return value


YAML_ENDINGS = (".yaml", ".yml")
LARGEST_FILE_BYTES = 1_000_000
DEEPEST = 100
MOST_VALUES = 20_000

_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser of all readers, so that they agree on what is well-formed: the one in Python refuses more."""
_HINTS = (
    ("mapping values are not allowed", "put quotes around text that contains ': '"),
    ("that cannot start any token", "put quotes around text that begins with a special character"),
    ("found unexpected end of stream", "a quote or a bracket is not closed"),
    ("could not find expected ':'", "a ':' is missing, or the indentation is wrong"),
    ("did not find expected", "check the indentation and the brackets above this place"),
)

_SPACES = Suggestion("use spaces", written="\t", instead="  ")


@dataclass(frozen=True, slots=True, eq=False)
class YamlNode:
    """A value with its place.

    Args:
        data: a scalar, the items of a list, or the entries of a mapping by key.
        place: where it begins; for an alias, where the repeated value begins.
        quoted: a scalar in quotes; its text begins one column later.
        end: behind the last character of a scalar, quotes included; `None` for a collection.
    """

    data: "Scalar | tuple[YamlNode, ...] | dict[str, Entry]"
    place: Place
    quoted: bool = False
    size: int = 1
    height: int = 0
    end: Place | None = None

    def plain(self) -> Any:  # noqa: ANN401  JSON data
        """The value without places."""
        if isinstance(self.data, dict):
            return {key: entry.node.plain() for key, entry in self.data.items()}
        if isinstance(self.data, tuple):
            return [item.plain() for item in self.data]
        return self.data

    @property
    def shape(self) -> str:
        """What it is, for messages: `a mapping`, `a list`, or a scalar's value."""
        if isinstance(self.data, dict):
            return "a mapping"
        return "a list" if isinstance(self.data, tuple) else brief(self.data)


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A key of a mapping, its place, its value, and the place behind the key; `None` for one that is not written."""

    key: str
    place: Place
    node: YamlNode
    end: Place | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file that has been read.

    Args:
        text: its text; undecodable bytes are replaced.
        root: its value; `None` if it could not be read to the end.
        mistakes: the mistakes, in the order of the file.
    """

    file: str
    text: str
    root: YamlNode | None
    mistakes: tuple[Mistake, ...]


class _Stop(Exception):  # noqa: N818  control flow, not an error
    """Reading cannot continue; the mistake is recorded already."""


def read_yaml(text: str | bytes, *, file: str) -> Document:
    """Read one document; never raises, whatever the text."""
    if len(text) > LARGEST_FILE_BYTES:
        message = f"the file is larger than {LARGEST_FILE_BYTES:,} bytes"
        return Document(file, "", None, (Mistake(Place(file), message),))
    if isinstance(text, bytes):
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            return _undecodable(error, file)
    text = text.removeprefix("\ufeff")
    forbidden = [_forbidden(match, text, file) for match in islice(_FORBIDDEN.finditer(text), 10)]
    if forbidden:
        return Document(file, text.encode(errors="replace").decode(), None, tuple(forbidden))
    builder = _Builder(file)
    root = None
    with suppress(_Stop):  # its mistake is recorded
        try:
            for event in parse_events(text):
                builder.feed(event)
            root = builder.finish()
        except yaml.YAMLError as error:
            builder.mistakes.append(syntax_mistake(error, text, file))
    return Document(file, text, root, tuple(builder.mistakes))


def parse_events(text: str) -> Iterator[yaml.Event]:
    """The parser's events.

    Raises:
        yaml.YAMLError: the syntax is wrong; `syntax_mistake` says where and why.
    """
    events: Iterator[yaml.Event] = yaml.parse(text, Loader=LOADER)
    return events


def _forbidden(match: re.Match[str], text: str, file: str) -> Mistake:
    message = f"the character U+{ord(match[0]):04X} is not allowed in a text file"
    return Mistake(place_at(text, match.start(), file=file), message)


def _undecodable(error: UnicodeDecodeError, file: str) -> Document:
    data = error.object
    shown = data.decode(errors="replace")
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        mistake = Mistake(Place(file), "the file is UTF-16, not UTF-8", "save it as UTF-8")
        return Document(file, "", None, (mistake,))
    place = place_at(shown, len(data[: error.start].decode()), file=file)
    mistake = Mistake(place, f"the byte 0x{data[error.start]:02X} is not UTF-8", "save the file as UTF-8")
    return Document(file, shown, None, (mistake,))


def syntax_mistake(error: yaml.YAMLError, text: str, file: str) -> Mistake:
    """What is wrong with a text, as a mistake at the place where it can be corrected."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or "it cannot be read"
    if mark is None:
        return Mistake(Place(file), f"this is not valid YAML: {problem}")
    place = Place(file, mark.line + 1, mark.column + 1)
    lines = text.splitlines()
    start = getattr(error, "context_mark", None)
    if (
        start is not None and getattr(error, "context", None) == "while scanning a simple key"
    ):  # the key without its colon; the problem's own place is where the next token begins
        mark, place = start, Place(file, start.line + 1, start.column + 1)
    line = lines[mark.line] if mark.line < len(lines) else ""
    tab = re.match(r"[ \-?:]*\t", line)
    if tab is not None and mark.column <= len(line) - len(line[tab.end() :].lstrip()):
        return Mistake(Place(file, mark.line + 1, tab.end()), "a tab cannot indent YAML", _SPACES)
    if not line:  # it ended too early: the place of what was not closed says more than the end of the file
        if start is not None and start.line < len(lines) and lines[start.line].strip():
            place = Place(file, start.line + 1, start.column + 1)
        else:
            place = place_at(text, max(len(text.rstrip()) - 1, 0), file=file)
    context = getattr(error, "context", None)
    message = f"{problem} {context}" if context and not context.startswith("while scanning for") else problem
    hint = next((hint for part, hint in _HINTS if part in problem), None)
    return Mistake(place, f"this is not valid YAML: {message}", hint)


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is being read."""

    place: Place
    anchor: str | None
    is_mapping: bool
    items: list[YamlNode] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    key: YamlNode | None = None
    size: int = 1
    height: int = 0

    def closed(self) -> YamlNode:
        data = self.entries if self.is_mapping else tuple(self.items)
        return YamlNode(data, self.place, size=self.size, height=self.height + 1)


class _Builder:
    """Builds values from events."""

    def __init__(self, file: str) -> None:
        self.mistakes: list[Mistake] = []
        self._file = file
        self._frames: list[_Frame] = []
        self._anchors: dict[str, YamlNode | None] = {}
        self._root: YamlNode | None = None
        self._documents = 0
        self._values = 0

    def feed(self, event: yaml.Event) -> None:
        """Take the next event.

        Raises:
            _Stop: a bound is reached.
        """
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self._frames.pop()
            self._complete(frame.closed(), frame.anchor)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._stop(self._place(event), "a second document begins here", "one document per file")

    def finish(self) -> YamlNode:
        """The value of the document; null if there is none."""
        return self._root or YamlNode(None, Place(self._file))

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        return Place(self._file, mark.line + 1, mark.column + 1) if mark else Place(self._file)

    def _report(self, place: Place, message: str, hint: str | None = None) -> None:
        self.mistakes.append(Mistake(place, message, hint))

    def _stop(self, place: Place, message: str, hint: str | None = None) -> None:
        self._report(place, message, hint)
        raise _Stop

    def _begin(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> Place:
        """Count a scalar or collection, refuse a tag, and note an anchor."""
        place = self._place(event)
        self._count(1, place)
        if event.tag is not None:
            self._report(
                place,
                f"the tag {event.tag!r} cannot be used",
                "use quotes to make a value text; other tags would run code",
            )
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        return place

    def _count(self, values: int, place: Place) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            hint = "an alias counts as often as it is used" if self._anchors else None
            self._stop(place, f"the file has more than {MOST_VALUES:,} values", hint)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        place = self._begin(event)
        value: Scalar = event.value
        quoted = event.style in {"'", '"'}
        if not event.style:
            try:
                value = resolve(event.value)
            except ValueError as error:
                self._report(place, f"{brief(event.value)}: {error}", "put quotes around it if it is text")
        mark = event.end_mark
        end = Place(self._file, mark.line + 1, mark.column + 1) if mark else None
        self._complete(YamlNode(value, place, quoted=quoted, end=end), event.anchor)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        place = self._begin(event)
        if len(self._frames) >= DEEPEST:
            self._stop(place, f"the file is nested more than {DEEPEST} levels deep")
        self._frames.append(_Frame(place, event.anchor, isinstance(event, yaml.MappingStartEvent)))

    def _alias(self, event: yaml.AliasEvent) -> None:
        place, name = self._place(event), str(event.anchor)
        node = self._anchors.get(name)
        if node is None:
            reason = "contains itself" if name in self._anchors else "is not defined above"
            self._report(place, f"the alias {'*' + name!r} {reason}")
            node = YamlNode("*" + name, place)
        if len(self._frames) + node.height > DEEPEST:
            self._stop(place, f"the file is nested more than {DEEPEST} levels deep")
        self._count(node.size, place)
        self._complete(node, None)

    def _complete(self, node: YamlNode, anchor: str | None) -> None:
        """Add a complete value to its collection."""
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._frames:
            self._root = node
            return
        frame = self._frames[-1]
        frame.size += node.size
        frame.height = max(frame.height, node.height)
        if not frame.is_mapping:
            frame.items.append(node)
        elif frame.key is None:
            frame.key = node
        else:
            self._enter(frame, frame.key, node)
            frame.key = None

    def _enter(self, frame: _Frame, key: YamlNode, node: YamlNode) -> None:
        name = key.data
        if name == "<<" and not key.quoted:
            self._report(key.place, "merge keys '<<' are not part of YAML 1.2", "write the settings out at each node")
        elif not isinstance(name, str):
            shown = brief(name) if not isinstance(name, dict | tuple) else "a list or mapping"
            self._report(key.place, f"a key must be text, not {shown}", "put quotes around it")
        elif name in frame.entries:
            first = frame.entries[name].place.line
            self._report(key.place, f"duplicate key {brief(name)}, first on line {first}", "keep one of them")
        else:
            frame.entries[name] = Entry(name, key.place, node, key.end)
