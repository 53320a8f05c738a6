"""Texts, numbers, times and reasons as the views of runs show them.

Text from outside is shown by `safe` alone, which keeps it on one line and shows control characters as escapes.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from rich.text import Text

from bt_runtime.text import visible
from oracle.replay.histories.model import CACHE_MISSES, RunFacts, TurnFacts
from oracle.replay.histories.naming import shown_value

_LONGEST = 2_000  # characters of a text that are looked at; more never fits
_LONGEST_VALUE = 48
_LONGEST_REASON = 24
_VERSION_CHARS = 7
_PATH_PARTS = 3
_REASONS: Mapping[str, str] = {
    "max_iterations": "turn limit",
    "token_budget": "token limit",
    "timeout": "time limit",
    "user_cancelled": "cancelled",
    "error_limit": "tool errors",
}
_UNDER_WAY: Mapping[str, str] = {"queued": "· queued", "running": "━ running", "parked": "? waiting"}
_ENDS: Mapping[str, tuple[str, str]] = {"completed": ("✓", "ok"), "user_cancelled": ("╸", "dim"), "error": ("◆", "err")}
_LIMIT = re.compile(r"\(([\d,]+)/([\d,]+)( tokens| s)?\)")


def safe(value: str) -> str:
    """Text from outside, on one line and without control characters."""
    return visible(" ".join(value[:_LONGEST].split()))


def line(*parts: str | Text | tuple[str, str]) -> Text:
    """One line of these parts with their styles; what does not fit on it is `…`."""
    return Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def shortened(value: str, width: int) -> str:
    """The text if it fits into that many cells, else its beginning and `…`."""
    text = Text(value)
    text.truncate(width, overflow="ellipsis")
    return text.plain


def cells(drawn: Iterable[tuple[str, str]]) -> Text:
    """Characters with their styles as one text; neighbours of one style are one piece of it."""
    runs = groupby(drawn, key=lambda cell: cell[1])
    return Text.assemble(*(("".join(character for character, _ in run), style) for style, run in runs))


def outcome(run: RunFacts) -> Text:
    """How the run ended, or that it is under way: a mark and a word."""
    reason = run.termination_reason
    if run.status != "finished" or reason is None:
        return Text(_UNDER_WAY.get(run.status, "· unknown"), "run")
    mark, style = _ENDS.get(reason, ("▲", "warn"))
    word = safe(_REASONS.get(reason, reason.replace("_", " ")))
    return Text(f"{mark} {shortened(word, _LONGEST_REASON)}", style)


def tree_label(run: RunFacts) -> str:
    """The tree and its version: `oracle@45a4acd`."""
    return safe(f"{run.tree}@{run.tree_version[:_VERSION_CHARS]}" if run.tree_version else run.tree)


def seconds(value: float, *, places: int = 1) -> str:
    """A duration: `45 ms`, `9.73 s`, `3:20 min`."""
    if value < 0.1:
        return f"{max(0.0, value) * 1000:.0f} ms"
    if value < 120:
        return f"{value:.{places}f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02} h" if hours else f"{minutes}:{rest:02} min"


def thousands(value: float) -> str:
    """A number of tokens, short: `940`, `21.3k`, `50k`."""
    return f"{value:.0f}" if value < 1000 else f"{value / 1000:.1f}".removesuffix(".0") + "k"


def cache_use(turn: TurnFacts) -> str:
    """The input of a turn by what the provider's cache had of it, and why it was missed; empty where nothing is known.

    `input 8.9k cached, 300 written, 120 fresh · cache missed: the tools changed`
    """
    read, written = turn.cache_read_tokens, turn.cache_creation_tokens
    missed = f"cache missed: {CACHE_MISSES[turn.cache_miss]}" if turn.cache_miss else ""
    if not (read or written):
        return missed
    fresh = max(0, turn.input_tokens - read - written)
    used = f"input {thousands(read)} cached, {thousands(written)} written, {thousands(fresh)} fresh"
    return f"{used} · {missed}" if missed else used


def path_end(path: str) -> str:
    """The end of a node's path, which says most: `…/selector/other_strategy/condition`."""
    parts = path.split("/")
    return safe("/".join(parts if len(parts) <= _PATH_PARTS else ("…", *parts[-_PATH_PARTS:])))


def age(seconds_ago: float) -> str:
    """How long ago: `12 s`, `5 min`, `3 h`, `9 d`."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds_ago >= size:
            return f"{seconds_ago // size:.0f} {unit}"
    return f"{max(0.0, seconds_ago):.0f} s"


def moment(at: float) -> str:
    """A time in UTC: `2026-11-22 11:22:10`."""
    try:
        return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):
        return "?"


def value_of(value: Any, *, longest: int = _LONGEST_VALUE) -> str:  # noqa: ANN401  of a blackboard key
    """A value on one line; numbers with separators, long ones shortened."""
    try:
        return shortened(safe(shown_value(value, 2 * longest)), longest)
    except (ValueError, RecursionError):
        return "…"


def short_notice(kind: str, message: str) -> str:
    """A notification in a few words: `7/10 turns`, `another approach`."""
    limit = _LIMIT.search(message)
    if limit and kind in ("limit_warning", "limit_reached"):
        used, most = (thousands(int(digits.replace(",", "")[:12] or 0)) for digits in limit.group(1, 2))
        return f"{used}/{most}{limit[3] or ' turns'}"
    if kind == "fallback" and "another approach" in message:
        return "another approach"
    return safe(kind.replace("_", " "))
