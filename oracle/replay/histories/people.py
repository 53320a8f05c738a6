"""What came from outside: what people were asked and decided, what operators did by the debugger, other workers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from bt_runtime.text.phrases import clipped, listed
from oracle.replay.histories.model import DebugFacts, DecisionFacts, History, SeamFacts, UnderWayFacts
from oracle.runs.record.debug import DebugEventKind, Debugged
from oracle.runs.record.events import Resumed

_DECIDED: Final[Mapping[str, str]] = {
    "approve": "approved",
    "refuse": "refused",
    "edit": "approved with other arguments",
    "answer": "answered",
}


def seam_facts(event: Resumed, *, tick: int, at_s: float) -> SeamFacts:
    """An event of the log.

    Args:
        event: the event.
        tick: the one that comes next.
        at_s: from the start of the query.

    Raises:
        ValueError: it is damaged.
    """
    numbers = (event.attempt, event.pause_s, event.counted_s, at_s)
    if not all(isinstance(number, int | float) for number in numbers):
        raise ValueError("the parts of this event are of other types")
    return SeamFacts(
        tick,
        at_s,
        event.attempt,
        event.pause_s,
        event.counted_s,
        tuple(UnderWayFacts(*each) for each in event.under_way),
        event.is_woken,
        event.version,
    )


def take_decision(history: History, decision: DecisionFacts) -> None:
    """Add the decision about an interrupt, and show it where it was asked."""
    history.decisions.append(decision)
    for at, asked in enumerate(history.interrupts):
        if asked.interrupt.id == decision.interrupt.id:
            history.interrupts[at] = replace(asked, interrupt=decision.interrupt)


def withdraw_pending(history: History, *, tick: int) -> None:
    """The run has ended: nothing that it has asked is open any more."""
    for asked in list(history.interrupts):
        if asked.interrupt.status == "pending":
            withdrawn = replace(asked.interrupt, status="withdrawn")
            take_decision(history, DecisionFacts(tick, asked.at_s, withdrawn))


def answers_sentence(answers: Mapping[str, object]) -> str:
    """What people have decided, as a sentence.

    Args:
        answers: the value that a tick got: by the id of what was asked, who has decided what.
    """
    said = []
    for answer in answers.values():
        fields = answer if isinstance(answer, Mapping) else {}
        who, decided = clipped(str(fields.get("by") or "a person")), _DECIDED.get(str(fields.get("decision")))
        said.append(f"{who} {decided}" if decided else "nobody answered in time")
    sentence = listed(said)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence.startswith(("nobody", "a person")) else f"{sentence}."


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
