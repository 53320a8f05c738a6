"""Values, sizes, times and counts as messages and explanations show them.

Values may come from the model, tools and users: they are shown on one line, escaped, and of bounded length.
"""

import json
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Literal


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


_SIZES = ({"characters"}, {"items"}, {"entries"})
_LONG = 64  # characters and items; what is shorter is hardly longer than its size

CHARACTERS_PER_TOKEN = 4
"""Where a provider reports no usage."""


def extent(value: object, *, most: int, with_texts: bool = True) -> int:
    """The number of items, entries and characters of a value, at all levels; beyond `most` it is not counted on.

    A value that is part of another several times counts each time, as it does in JSON: a list of two times itself,
    repeated fifty times, takes no memory and has 2^50 items.

    Args:
        value: JSON data.
        most: the greatest number of interest.
        with_texts: count the characters of texts.
    """
    found, rest = 0, [value]
    while rest and found <= most:
        each = rest.pop()
        if isinstance(each, str):
            found += len(each) if with_texts else 0
        elif isinstance(each, list | tuple):
            found += len(each)
            rest += each
        elif isinstance(each, Mapping):
            found += len(each)
            rest += each.values()
            rest += each if with_texts else ()
    return found


def size_of(value: Any) -> Any:  # noqa: ANN401  JSON data
    """A number, boolean, null, empty text or size as it is; the size of everything else."""
    if isinstance(value, str):
        return {"characters": len(value)} if value else value
    if isinstance(value, Mapping):
        return value if _is_size(value) else {"entries": len(value)}
    return {"items": len(value)} if isinstance(value, list | tuple) else value


def without_long(values: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Keys and values, with sizes in the place of long values."""
    return tuple((key, size_of(value) if extent(value, most=_LONG) > _LONG else value) for key, value in values)


def _is_size(value: Mapping[str, Any]) -> bool:
    return set(value) in _SIZES and all(type(size) is int for size in value.values())


def estimate_tokens(characters: int) -> int:
    """The tokens of a text of that many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


MOST_SHOWN = 40
"""Characters of a text that a phrase shows."""
_MOST_ITEMS = 3


def number(value: float) -> str:
    """With thousands separators, and no more digits than a reader needs: `21,324`, `9.7`."""
    if not isfinite(value):
        return str(value)
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}" if abs(value) < 1e15 else f"{value:g}"
    return f"{value:,.1f}" if abs(value) >= 1 else f"{value:.3g}"


def counted(count: int, singular: str, plural: str = "") -> str:
    """`1 turn`, `2 turns`, `21,324 tokens`."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def seconds(duration_s: float) -> str:
    """A duration: `1.63 s`, and below 0.1 s `85 ms`."""
    return f"{duration_s * 1000:.0f} ms" if duration_s < 0.1 else f"{duration_s:.2f} s"


def truncated(text: str, most: int) -> str:
    """The text in at most `most` characters, 1 or more: a longer one is cut and ends in `…`."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def clipped(text: str, most: int = MOST_SHOWN) -> str:
    """A text from any source, as it is quoted: on one line, escaped, cut with `…`."""
    return visible(" ".join(truncated(text, most).split()))


def value_of(value: object) -> str:  # noqa: PLR0911  a table of types
    """A value as tree files write it: `"stuck"`, `21,324`, `0.72`, `true`, `null`."""
    if type(value) is int and -1000 < value < 1000:
        return str(value)
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            if len(value) <= MOST_SHOWN and value.isprintable() and '"' not in value and "\\" not in value:
                return f'"{value}"'
            return visible(json.dumps(truncated(value, MOST_SHOWN), ensure_ascii=False))
        case int():
            return f"{value:,}" if abs(value) < 10**15 else f"{value:.3g}" if abs(value) < 10**300 else "a huge number"
        case float():
            return f"{value:,.10g}"
        case list() | tuple():
            shown = [value_of(each) for each in value[:_MOST_ITEMS]]
            more = len(value) - _MOST_ITEMS
            return clipped(f"[{', '.join([*shown, f'{more:,} more'] if more > 0 else shown)}]", 2 * MOST_SHOWN)
        case dict():
            return f"{{{counted(len(value), 'entry', 'entries')}}}" if value else "{}"
    return f"<{type(value).__name__}>"


def joined(parts: Iterable[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    each = tuple(parts)
    return each[0] if len(each) == 1 else f"{', '.join(each[:-1])} {last} {each[-1]}" if each else ""


def listed(names: Sequence[str], most: int = _MOST_ITEMS) -> str:
    """Names of a list that may be long: `a, b and 7 more`."""
    shown = [clipped(name) for name in names[:most]]
    more = len(names) - len(shown)
    return joined([*shown, f"{more:,} more"] if more else shown)


def values_line(pairs: Iterable[tuple[str, object]]) -> str:
    """Names with their values: `signal "stuck" · turn 5`."""
    return " · ".join(f"{name} {value_of(value)}" for name, value in pairs)
