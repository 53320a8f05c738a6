"""Values, texts from any source and times as messages show them: on one line, of bounded size."""

import reprlib
from datetime import UTC, datetime
from typing import Literal


class _Brief(reprlib.Repr):
    """`repr` of bounded size; spells constants as tree files do."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = 60
        self.maxother = 60
        self.maxlong = 40
        self.maxlevel = 3

    def repr1(self, x: object, level: int) -> str:
        if x is None:
            return "null"
        return str(x).lower() if isinstance(x, bool) else super().repr1(x, level)


def brief(value: object) -> str:
    """The value as messages show it: on one line, control characters escaped, long ones shortened in the middle."""
    try:
        return _Brief().repr(value)
    except (ValueError, RecursionError):  # integers beyond Python's limit for decimal text; nesting
        return f"<{type(value).__name__}>"


def visible(text: str) -> str:
    """The text on one line: a tab as a space, what a terminal would obey or hide as an escape."""
    return text if text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character == "\t" or (character.isspace() and character not in "\n\r\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029"):
        return " "
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def iso(at: float | datetime, *, precision: Literal["seconds", "milliseconds"] = "milliseconds") -> str:
    """A time as ISO 8601 in UTC: `2026-11-22T09:30:00.000Z`.

    Args:
        at: seconds since the epoch, or a datetime; one without a zone is taken as UTC.
        precision: the smallest unit shown; smaller ones are cut off.
    """
    if not isinstance(at, datetime):
        at = datetime.fromtimestamp(at, UTC)
    moment = at.astimezone(UTC) if at.tzinfo else at
    return moment.replace(tzinfo=None).isoformat(timespec=precision) + "Z"
