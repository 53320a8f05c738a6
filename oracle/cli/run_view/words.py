"""Numbers, times and reasons as the views of runs show them."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from oracle.cli.run_view.spans import Span, Style, safe, shortened
from oracle.histories.model import RunFacts

_REASONS: Mapping[str, str] = {
    "max_iterations": "turn limit",
    "token_budget": "token limit",
    "timeout": "time limit",
    "user_cancelled": "cancelled",
    "no_progress": "no progress",
    "error_limit": "tool errors",
}
_LONGEST_VALUE = 48
_LONGEST_REASON = 24
_VERSION_CHARS = 7
_PATH_PARTS = 3


def outcome(run: RunFacts) -> Span:
    """How the run ended, or that it is under way: a mark and a word."""
    if run.status == "running" or run.termination_reason is None:
        return Span("━ running" if run.status == "running" else "· unknown", "run")
    word = shortened(
        safe(_REASONS.get(run.termination_reason, run.termination_reason.replace("_", " "))), _LONGEST_REASON
    )
    match run.termination_reason:
        case "completed":
            return Span(f"✓ {word}", "ok")
        case "user_cancelled":
            return Span(f"╸ {word}", "dim")
        case "error":
            return Span(f"◆ {word}", "err")
    return Span(f"▲ {word}", "warn")


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
    if value < 1000:
        return f"{value:.0f}"
    return f"{value / 1000:.1f}".removesuffix(".0") + "k"


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
    """A value as JSON on one line; numbers with separators, long ones shortened."""
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**15 else f"{value:.3g}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        value = value[: 4 * longest]
    try:
        shown = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        return "…"
    shown = safe(shown)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def verdict(value: Any) -> Span:  # noqa: ANN401  of an expression
    """What an expression came to: `→ yes`."""
    word: str
    style: Style
    match value:
        case True:
            word, style = "yes", "ok"
        case False:
            word, style = "no", "fail"
        case _:
            word, style = value_of(value), "plain"
    return Span(f"→ {word}", style)


_LIMIT = re.compile(r"\(([\d,]+)/([\d,]+)( tokens| s)?\)")


def short_notice(kind: str, message: str) -> str:
    """A notification in a few words: `7/10 turns`, `another approach`."""
    limit = _LIMIT.search(message)
    if limit and kind in ("limit_warning", "limit_reached"):
        unit = limit[3] or " turns"
        return f"{thousands(_int(limit[1]))}/{thousands(_int(limit[2]))}{unit}"
    if kind == "fallback" and "another approach" in message:
        return "another approach"
    return safe(kind.replace("_", " "))


def _int(digits: str) -> int:
    return int(digits.replace(",", "")[:12] or 0)
