"""Parses one prompt file into a segment, or reports all its mistakes. No I/O.

Front matter keys: `id`, `description`, `priority`, one of `always` and `when`, `roomy_from`, and for the file that
lists the tools `without_tools`. The body is sent to the model unchanged, except for a placeholder: `{{tools}}` in
`tools-reference`, `{{environment}}` in `environment`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeGuard, TypeVar

from bt_runtime.text import Mistake, Place, brief, place_at
from bt_runtime.text.yaml_reader import Entry, read_yaml

from .environment import ENVIRONMENT_PLACEHOLDER
from .errors import suggest, whole_file
from .segment import ENVIRONMENT_ID, QUERY_TYPES, TOOLS_ID, Segment, SegmentCondition
from .tool_reference import TOOLS_PLACEHOLDER

MAX_FILE_BYTES: Final = 64_000
MAX_PRIORITY: Final = 999
KEYS: Final = ("id", "description", "priority", "always", "when", "roomy_from", "without_tools")
WHEN_KEYS: Final = ("query_type", "history_tokens_over", "previous_errors", "roomy")
_PLACES: Final = {TOOLS_PLACEHOLDER: TOOLS_ID, ENVIRONMENT_PLACEHOLDER: ENVIRONMENT_ID}
_Value = TypeVar("_Value")
_Default = TypeVar("_Default")
_FENCE: Final = re.compile(r"---[ \t]*$", re.MULTILINE)
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(?P<yaml>.*?)^---[ \t]*$", re.MULTILINE | re.DOTALL)
_ID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z_][\w-]*)?\s*(?:\}\})?")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def read_segment(
    data: bytes, *, file: str, query_types: tuple[str, ...] = QUERY_TYPES
) -> Segment | tuple[Mistake, ...]:
    """Read one prompt file.

    Args:
        data: its content.
        file: its name, for messages.
        query_types: those that conditions can name.

    Returns:
        The segment, or every mistake that was found.
    """
    if len(data) > MAX_FILE_BYTES:
        return (whole_file(file, f"the file is larger than {MAX_FILE_BYTES:,} bytes"),)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {data[error.start]:#04x} at offset {error.start:,}"
        return (Mistake(Place(file, data.count(b"\n", 0, error.start) + 1), message),)
    reader = _SegmentReader(text.replace("\r\n", "\n"), file=file, query_types=query_types)
    segment = reader.read()
    return tuple(reader.mistakes) or segment


class _SegmentReader:
    """Reads the parts of one file and collects its mistakes."""

    def __init__(self, text: str, *, file: str, query_types: tuple[str, ...]) -> None:
        self.mistakes: list[Mistake] = []
        self._known = query_types
        self._file = file
        self._text = text
        self._start = Place(file)

    def read(self) -> Segment:
        """The segment; not to be used if there are mistakes."""
        front = _FRONT_MATTER.match(self._text)
        entries = self._entries(front)
        self._check_characters(front.end() if front else 0)
        if entries is None or front is None:
            return self._segment({}, "")
        self._check_names(entries, KEYS, what="front matter key")
        self._check_present(entries)
        segment = self._segment(entries, self._text[front.end() :].strip())
        self._check_body(segment, front.end())
        return segment

    def _entries(self, front: re.Match[str] | None) -> Mapping[str, Entry] | None:
        """The front matter by key, `None` if it cannot be read."""
        if front is None:
            self._missing_front_matter()
            return None
        document = read_yaml("\n" + front["yaml"], file=self._file)  # a line break in place of the fence
        self.mistakes += document.mistakes
        if document.root is None:
            return None
        if isinstance(document.root.data, dict):
            return document.root.data
        hint = "for example: 'id: code-analysis'"
        self._mistake(Place(self._file, 2), "the front matter must be a mapping of keys to values", hint)
        return None

    def _missing_front_matter(self) -> None:
        if _FENCE.match(self._text):
            self._mistake(self._start, "the front matter does not end", "close it with a line '---'")
        else:
            hint = "begin with '---', the keys id, description, priority, and always or when, and a second '---'"
            self._mistake(self._start, "the file has no front matter", hint)

    def _segment(self, entries: Mapping[str, Entry], body: str) -> Segment:
        return Segment(
            id=self._value(entries, "id", _is_id, "a name like 'code-analysis'", default=""),
            description=self._value(entries, "description", _is_line, "one line of text", default=""),
            priority=self._value(
                entries, "priority", _is_priority, f"a whole number from 0 to {MAX_PRIORITY}", default=0
            ),
            when=self._condition(entries),
            text=body,
            without_tools=self._value(entries, "without_tools", _is_line, "one line of text", default="").strip(),
            roomy_from=self._value(entries, "roomy_from", _is_line, "one line of text", default="").strip(),
            source=self._file,
        )

    def _check_present(self, entries: Mapping[str, Entry]) -> None:
        for name in ("id", "description", "priority"):
            if name not in entries:
                self._mistake(self._start, f"the front matter has no {name!r}")
        if ("always" in entries) == ("when" in entries):
            both = "both 'always' and 'when'" if "always" in entries else "neither 'always' nor 'when'"
            hint = "give one: 'always: true', or 'when:' with a condition"
            self._mistake(self._start, f"the front matter has {both}", hint)

    def _check_names(self, entries: Mapping[str, Entry], known: tuple[str, ...], *, what: str) -> None:
        for name, entry in entries.items():
            if name not in known:
                self._mistake(entry.place, f"unknown {what} {brief(name)}", suggest(name, known))

    def _condition(self, entries: Mapping[str, Entry]) -> SegmentCondition | None:
        always = self._value(entries, "always", _is_bool, "true or false", default=True)
        if "when" not in entries:
            return None if always else SegmentCondition(is_named=True)
        when = entries["when"]
        conditions = when.node.data
        if not isinstance(conditions, dict) or not conditions:
            hint = f"use at least one of: {', '.join(WHEN_KEYS)}"
            self._mistake(when.place, f"'when' must be a mapping of conditions, not {brief(when.node.plain())}", hint)
            return None
        self._check_names(conditions, WHEN_KEYS, what="condition")
        return SegmentCondition(
            query_types=self._query_types(conditions),
            history_tokens_over=self._value(
                conditions, "history_tokens_over", _is_count, "a whole number of tokens, 0 or more", default=None
            ),
            previous_errors=self._value(conditions, "previous_errors", _is_bool, "true or false", default=None),
            roomy=self._value(conditions, "roomy", _is_bool, "true or false", default=None),
        )

    def _query_types(self, conditions: Mapping[str, Entry]) -> tuple[str, ...]:
        if "query_type" not in conditions:
            return ()
        entry = conditions["query_type"]
        value = entry.node.plain()
        names = value if isinstance(value, list) else [value]
        if not names:
            self._mistake(entry.place, "'query_type' names no query type", f"use one of: {', '.join(self._known)}")
        for name in names:
            if name not in self._known:
                self._mistake(entry.place, f"unknown query type {brief(name)}", suggest(str(name), self._known))
        return tuple(name for name in self._known if name in names)

    def _value(
        self,
        entries: Mapping[str, Entry],
        name: str,
        is_right: Callable[[object], TypeGuard[_Value]],
        right: str,
        *,
        default: _Default,
    ) -> _Value | _Default:
        """The value of an entry; the default if it is missing, or wrong, which is reported."""
        entry = entries.get(name)
        if entry is None:
            return default
        value = entry.node.plain()
        if is_right(value):
            return value
        self._mistake(entry.place, f"{name!r} must be {right}, not {brief(value)}")
        return default

    def _check_characters(self, body_start: int) -> None:
        found = _CONTROL.search(self._text, body_start)
        if found:
            self._mistake(self._at(found.start()), f"control character {found.group()!r}", "remove it")

    def _check_body(self, segment: Segment, body_start: int) -> None:
        if not segment.text:
            self._mistake(self._at(len(self._text)), "the file has no text after its front matter")
        if segment.roomy_from and f"\n{segment.roomy_from}\n" not in segment.text:
            hint = 'name a line of the body after its first one, such as roomy_from: "## Details"'
            self._mistake(self._start, f"the body has no line {brief(segment.roomy_from)}", hint)
        if segment.required and segment.when is not None:
            self._mistake(self._start, f"{segment.id!r} is required and cannot have a condition", "use 'always: true'")
        if segment.id:  # a wrong id is reported already, and without an id the rules for the body are unknown
            self._check_placeholders(segment, body_start)
            self._check_without_tools(segment)

    def _check_placeholders(self, segment: Segment, body_start: int) -> None:
        found = list(_PLACEHOLDER.finditer(self._text, body_start))
        for each in found:
            owner = _PLACES.get(each.group())
            if owner is None:
                known = " and ".join(f"{name} in {segment_id}" for name, segment_id in _PLACES.items())
                hint = f"there are {known}; for plain braces put a space between them"
                self._mistake(self._at(each.start()), f"unknown placeholder {each.group()!r}", hint)
            elif segment.id != owner:
                self._mistake(self._at(each.start()), f"{each.group()} belongs into {owner} alone")
        for name, owner in _PLACES.items():
            count = sum(each.group() == name for each in found)
            if segment.id == owner and count != 1:
                self._mistake(self._start, f"{owner} must have {name} once, not {count} times")

    def _check_without_tools(self, segment: Segment) -> None:
        if (segment.id == TOOLS_ID) != bool(segment.without_tools):
            needs = "needs" if segment.id == TOOLS_ID else "cannot have"
            hint = "it is the one line that stands for the list when no tool is offered"
            self._mistake(self._start, f"{segment.id!r} {needs} 'without_tools'", hint)

    def _at(self, offset: int) -> Place:
        return place_at(self._text, offset, file=self._file)

    def _mistake(self, place: Place, message: str, hint: str | None = None) -> None:
        self.mistakes.append(Mistake(place, message, hint))


def _is_bool(value: object) -> TypeGuard[bool]:
    return isinstance(value, bool)


def _is_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= 64 and _ID.fullmatch(value) is not None


def _is_line(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip()) and len(value.strip().splitlines()) == 1


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_priority(value: object) -> TypeGuard[int]:
    return _is_count(value) and value <= MAX_PRIORITY
