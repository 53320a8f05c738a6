"""The blackboard at a tick, and what the tick has changed of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.cells import cell_len

from bt_runtime import forced_path
from oracle.cli.run_view.spans import Line, Span, line, safe
from oracle.cli.run_view.words import value_of
from oracle.histories import History
from oracle.histories.model import TickFacts

_LONGEST_CHANGED = 24


def values_before(history: History, position: int) -> dict[str, Any]:
    """The values before the tick at that position."""
    values = {key.name: key.value for key in history.keys}
    for tick in history.ticks[:position]:
        values = values_after(values, tick)
    return values


def values_after(before: Mapping[str, Any], tick: TickFacts) -> dict[str, Any]:
    """The values after a tick; forced results are no values."""
    delivered = {key: value for key, value in tick.deliveries if forced_path(key) is None}
    return {**before, **delivered, **dict(tick.writes)}


def changed(before: Mapping[str, Any], after: Mapping[str, Any], width: int) -> list[Line]:
    """The keys that differ, on one line, as many as fit."""
    parts = []
    for key, value in after.items():
        if key not in before or value != before[key] or type(value) is not type(before[key]):
            old, new = (value_of(each, longest=_LONGEST_CHANGED) for each in (before.get(key), value))
            parts.append(f"{safe(key)} {old}→{new}")
    if not parts:
        return []
    shown: list[str] = []
    room = width - len("changed")
    for number, part in enumerate(parts, 1):
        rest = f"  + {len(parts) - number} more (--board)" if number < len(parts) else ""
        if cell_len(part) + 2 + len(rest) > room:
            shown.append(f"+ {len(parts) - len(shown)} more (--board)")
            break
        shown.append(part)
        room -= cell_len(part) + 2
    return [line(Span("changed", "warn"), Span("".join(f"  {part}" for part in shown))).fitted(width)]


def whole(before: Mapping[str, Any], after: Mapping[str, Any], width: int) -> Iterator[Line]:
    """Every key, changed ones first; the empty ones by name only."""
    names = sorted(after, key=lambda key: (key in before and after[key] == before[key], key))
    room = max((cell_len(safe(name)) for name in names), default=0)
    empty = [safe(name) for name in names if after[name] in (None, "", [], {}) and after[name] == before.get(name)]
    yield line(Span("blackboard", "strong"))
    for name in names:
        if safe(name) in empty:
            continue
        shown = value_of(after[name], longest=width)
        gap = " " * (room - cell_len(safe(name)) + 2)
        if name in before and after[name] == before[name]:
            yield line(f"  {safe(name)}{gap}", Span(shown, "dim")).fitted(width)
        else:
            old = value_of(before.get(name), longest=width // 3)
            yield line(Span(f"  {safe(name)}{gap}", "warn"), Span(f"{old} → ", "dim"), shown).fitted(width)
    if empty:
        yield line(Span(f"  empty: {', '.join(empty)}", "dim")).fitted(width)
