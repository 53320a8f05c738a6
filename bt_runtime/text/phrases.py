"""Phrases that several explanations share: counts, numbers with units, values, lists.

Values may come from the model, tools and users: they are shown on one line, escaped, and of bounded length.
"""

import json
from collections.abc import Iterable, Sequence
from math import isfinite

from bt_runtime.text.shown import visible

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


def clipped(text: str, most: int = MOST_SHOWN) -> str:
    """A text from any source, as it is quoted: on one line, escaped, cut with `…`."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return visible(" ".join(cut.split()))


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
            cut = value if len(value) <= MOST_SHOWN else value[: MOST_SHOWN - 1] + "…"
            return visible(json.dumps(cut, ensure_ascii=False))
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


def values_line(pairs: Iterable[tuple[str, object]], *, between: str = " · ") -> str:
    """Names with their values: `signal "stuck" · turn 5`."""
    return between.join(f"{name} {value_of(value)}" for name, value in pairs)
