"""What operators did with a run by the debugger."""

from typing import Any, get_args

from oracle.replay.histories.model import DebugFacts
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
