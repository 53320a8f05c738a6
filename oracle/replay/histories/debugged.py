"""What operators did with a run by the debugger, and the words for it."""

from typing import Any, get_args

from bt_runtime.text.phrases import clipped, value_of
from oracle.replay.histories.model import DebugFacts, History
from oracle.replay.histories.naming import title_at
from oracle.runs.record.debug import DebugEventKind, Debugged


def debug_facts(event: Debugged, *, tick: int, at_s: float) -> DebugFacts | None:
    """An event of the log; `None` for one that only keeps the run paused for longer.

    Args:
        event: the event.
        tick: the one that comes next.
        at_s: from the start of the query.

    Raises:
        ValueError: it is damaged.
    """
    if event.what not in get_args(DebugEventKind):
        raise ValueError(f"a debugger does not do {event.what!r}")
    if event.what == "renewed":
        return None
    more = event.more
    hit: dict[str, Any] = more.get("hit") or {}
    found = DebugFacts(
        tick,
        at_s,
        event.what,
        by=event.by,
        path=more.get("path") or hit.get("path"),
        key=more.get("key"),
        value=more.get("value"),
        result=more.get("result"),
        why=more.get("why") or hit.get("kind"),
        paused_s=more.get("paused_s"),
    )
    words = (found.by, found.path, found.key, found.result, found.why)
    if not all(word is None or isinstance(word, str) for word in words) or not isinstance(
        found.paused_s, int | float | None
    ):
        raise ValueError("the parts of this event are of other types")
    return found


def debug_words(history: History, done: DebugFacts) -> str:
    """What was done, as a phrase: `hint set to "Be brief." by olga`."""
    by = f" by {clipped(done.by)}" if done.by else ""
    match done.what:
        case "pausing":
            return f"a pause was asked for{by}"
        case "paused":
            where = f" at {title_at(history, done.path)}" if done.path else ""
            return f"paused by a breakpoint{where}" if done.why else f"paused{by}"
        case "stepped":
            return f"stepped{by}"
        case "set":
            return f"{clipped(done.key or 'a value')} set to {value_of(done.value)}{by}"
        case "forced":
            return f"{title_at(history, done.path or '')} forced to {clipped(done.result or 'a result')}{by}"
        case "resumed":
            why = {"lease": ", because no operator was there", "cancel": ", because the query was cancelled"}
            why |= {"stopping": ", because the service was stopping", "limit": ", because it was held for an hour"}
            return f"resumed after {done.paused_s or 0:,.1f} s{by}{why.get(done.why or '', '')}"
