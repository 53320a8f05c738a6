"""One prompt file: bytes in, a segment or all its mistakes out. No I/O.

Front matter keys: `id`, `description`, `priority`, one of `always` and `when`, and for the file that lists the tools
`without_tools`. The body is sent to the model as it stands, but for a placeholder: `{{tools}}` in `tools-reference`,
`{{environment}}` in `environment`.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeGuard, TypeVar

from .environment import ENVIRONMENT_PLACEHOLDER
from .errors import PromptMistake, suggest
from .front_matter import Entry, FrontMatterError, parse_front_matter, split_front_matter
from .segment import ENVIRONMENT_ID, QUERY_TYPES, TOOLS_ID, Condition, Segment
from .tool_reference import TOOLS_PLACEHOLDER

MAX_FILE_BYTES: Final = 64_000
MAX_PRIORITY: Final = 999
KEYS: Final = ("id", "description", "priority", "always", "when", "without_tools")
WHEN_KEYS: Final = ("query_type", "history_tokens_over", "previous_errors")
_PLACES: Final = {TOOLS_PLACEHOLDER: TOOLS_ID, ENVIRONMENT_PLACEHOLDER: ENVIRONMENT_ID}
_Value = TypeVar("_Value")
_Default = TypeVar("_Default")
_ID: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PLACEHOLDER: Final = re.compile(r"\{\{\s*([A-Za-z_][\w-]*)?\s*(?:\}\})?")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def read_segment(data: bytes, *, file: str) -> Segment | tuple[PromptMistake, ...]:
    """Read one prompt file.

    Args:
        data: its content.
        file: its name, for messages.

    Returns:
        The segment, or every mistake that was found.
    """
    if len(data) > MAX_FILE_BYTES:
        return (PromptMistake(file, f"the file is larger than {MAX_FILE_BYTES:,} bytes"),)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8: byte {data[error.start]:#04x} at offset {error.start:,}"
        return (PromptMistake(file, message, line),)
    reader = _SegmentReader(text.replace("\r\n", "\n"), file=file)
    segment = reader.read()
    return tuple(reader.mistakes) or segment


class _SegmentReader:
    """Collects the mistakes of one file while its parts are read."""

    def __init__(self, text: str, *, file: str) -> None:
        self.mistakes: list[PromptMistake] = []
        self._file = file
        self._text = text
        self._lines = text.split("\n")

    def read(self) -> Segment:
        """The segment; not to be used if there are mistakes."""
        entries: Mapping[str, Entry] | None = None
        body, body_line = "", 1
        try:
            yaml_text, body, body_line = split_front_matter(self._text)
            entries = parse_front_matter(yaml_text)
        except FrontMatterError as error:
            self._mistake(error.message, line=error.line, column=error.column, hint=error.hint)
        self._check_characters()
        if entries is not None:
            self._check_names(entries, KEYS, what="front matter key")
            self._check_present(entries)
        segment = self._segment(entries or {}, body.strip())
        if entries is not None:
            self._check_body(segment, body_line)
        return segment

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
            source=self._file,
        )

    def _check_present(self, entries: Mapping[str, Entry]) -> None:
        for name in ("id", "description", "priority"):
            if name not in entries:
                self._mistake(f"the front matter has no {name!r}", line=1)
        if ("always" in entries) == ("when" in entries):
            both = "both 'always' and 'when'" if "always" in entries else "neither 'always' nor 'when'"
            self._mistake(
                f"the front matter has {both}", line=1, hint="give one: 'always: true', or 'when:' with a condition"
            )

    def _check_names(self, entries: Mapping[str, Entry], known: tuple[str, ...], *, what: str) -> None:
        for name, entry in entries.items():
            if name not in known:
                self._mistake_at(entry, f"unknown {what} {_shown(name)}", hint=suggest(name, known))

    def _condition(self, entries: Mapping[str, Entry]) -> Condition | None:
        self._value(entries, "always", _is_true, "true", default=True)
        if "when" not in entries:
            return None
        when = entries["when"]
        if not isinstance(when.value, dict) or not when.value:
            hint = f"use at least one of: {', '.join(WHEN_KEYS)}"
            self._mistake_at(when, f"'when' must be a mapping of conditions, not {_shown(when.value)}", hint=hint)
            return None
        self._check_names(when.value, WHEN_KEYS, what="condition")
        return Condition(
            query_types=self._query_types(when.value),
            history_tokens_over=self._value(
                when.value, "history_tokens_over", _is_count, "a whole number of tokens, 0 or more", default=None
            ),
            previous_errors=self._value(when.value, "previous_errors", _is_bool, "true or false", default=None),
        )

    def _query_types(self, conditions: Mapping[str, Entry]) -> tuple[str, ...]:
        if "query_type" not in conditions:
            return ()
        entry = conditions["query_type"]
        names = entry.value if isinstance(entry.value, list) else [entry.value]
        if not names:
            self._mistake_at(entry, "'query_type' names no query type", hint=f"use one of: {', '.join(QUERY_TYPES)}")
        for name in names:
            if name not in QUERY_TYPES:
                self._mistake_at(entry, f"unknown query type {_shown(name)}", hint=suggest(str(name), QUERY_TYPES))
        return tuple(name for name in QUERY_TYPES if name in names)

    def _value(
        self,
        entries: Mapping[str, Entry],
        name: str,
        is_right: Callable[[object], TypeGuard[_Value]],
        right: str,
        *,
        default: _Default,
    ) -> _Value | _Default:
        """The value of an entry if it is right, else the default and a mistake; the default if it is not there."""
        entry = entries.get(name)
        if entry is None:
            return default
        if not is_right(entry.value):
            self._mistake_at(entry, f"{name!r} must be {right}, not {_shown(entry.value)}")
            return default
        return entry.value

    def _check_characters(self) -> None:
        found = _CONTROL.search(self._text)
        if found:
            line, column = self._place(found.start())
            self._mistake(f"control character {found.group()!r}", line=line, column=column, hint="remove it")

    def _check_body(self, segment: Segment, body_line: int) -> None:
        if not segment.text:
            self._mistake("the file has no text after its front matter", line=min(body_line, len(self._lines)))
        if segment.required and segment.when is not None:
            self._mistake(f"{segment.id!r} is required and cannot have a condition", line=1, hint="use 'always: true'")
        if segment.id:  # a wrong id has been told already; what belongs into the file is not known then
            self._check_placeholders(segment, body_line)
            self._check_without_tools(segment)

    def _check_placeholders(self, segment: Segment, body_line: int) -> None:
        offset = sum(len(line) + 1 for line in self._lines[: body_line - 1])
        found = list(_PLACEHOLDER.finditer(self._text, offset))
        for each in found:
            line, column = self._place(each.start())
            owner = _PLACES.get(each.group())
            if owner is None:
                known = " and ".join(f"{name} in {segment_id}" for name, segment_id in _PLACES.items())
                hint = f"there are {known}; for plain braces put a space between them"
                self._mistake(f"unknown placeholder {each.group()!r}", line=line, column=column, hint=hint)
            elif segment.id != owner:
                self._mistake(f"{each.group()} belongs into {owner} alone", line=line, column=column)
        for name, owner in _PLACES.items():
            count = sum(each.group() == name for each in found)
            if segment.id == owner and count != 1:
                self._mistake(f"{owner} must have {name} once, not {count} times", line=1)

    def _check_without_tools(self, segment: Segment) -> None:
        if (segment.id == TOOLS_ID) != bool(segment.without_tools):
            needs = "needs" if segment.id == TOOLS_ID else "cannot have"
            hint = "it is the one line that stands for the list when no tool is offered"
            self._mistake(f"{segment.id!r} {needs} 'without_tools'", line=1, hint=hint)

    def _place(self, offset: int) -> tuple[int, int]:
        before = self._text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def _mistake_at(self, entry: Entry, message: str, *, hint: str = "") -> None:
        self._mistake(message, line=entry.line, column=entry.column, hint=hint)

    def _mistake(self, message: str, *, line: int, column: int | None = None, hint: str = "") -> None:
        self.mistakes.append(PromptMistake(self._file, message, line, column, hint, self._lines[line - 1]))


def _shown(value: object) -> str:
    """A value as the author wrote it, for a message: without places, and cut."""
    text = repr({key: entry.value for key, entry in value.items()} if isinstance(value, dict) else value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def _is_true(value: object) -> TypeGuard[bool]:
    return value is True


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
