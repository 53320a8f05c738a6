"""Histories for the tests of views: one that was recorded, and others made of it."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from oracle.core.chunks import Interrupt
from oracle.replay.histories.foreign import history_from_json
from oracle.replay.histories.model import (
    DecisionFacts,
    History,
    InterruptFacts,
    RunFacts,
    SeamFacts,
    TickFacts,
    UnderWayFacts,
)
from oracle.replay.histories.view import add_view

DATA = Path(__file__).parent / "data" / "runs"
NOW = 1_795_347_000.0


@cache
def _recorded() -> History:
    return history_from_json((DATA / "stuck_once.json").read_bytes())


def stuck_once() -> History:
    """Eight turns, 22 ticks; the model is stuck in turn 5 and goes on another way."""
    history = _recorded()
    own = {name: [*getattr(history, name)] for name in ("keys", "ticks", "turns", "calls", "notices", "texts")}
    return replace(history, **own)


def with_error() -> History:
    """The same run; a node has raised an exception in tick 13."""
    history = stuck_once()
    assert history.tree is not None
    node = next(node for node in history.tree.nodes if node.path.endswith("other_strategy/notify"))
    history.ticks[12] = replace(history.ticks[12], errors=((node.path, "ValueError: no such topic: 'x\x1b[31m'"),))
    add_view(history)
    return history


ASKED = Interrupt(
    "d02e564a.1",
    "tool_call",
    "May I write this note?",
    may=("approve", "refuse"),
    response_schema={},
    on_expiry="refuse",
    tool_name="vault_write",
    arguments={"path": "plan.md", "body": "Poll never."},
    expires_at="2026-11-29T11:22:19Z",
)


def continued(*, is_answered: bool = True) -> History:
    """The same run, in which another worker has gone on before tick 13, and a person was asked in tick 12."""
    history = stuck_once()
    interrupt = ASKED
    if is_answered:
        interrupt = replace(ASKED, status="refused", answered_by="olga", answered_at="2026-11-22T11:22:20Z")
        history.decisions = [DecisionFacts(14, 9.8, interrupt, comment="Not there.")]
    else:
        history.run = replace(history.run, status="parked", finished_at=None, termination_reason=None)
        history.ticks, history.end = history.ticks[:13], None
    history.interrupts = [InterruptFacts(13, 5, 9.7, interrupt)]
    under_way = (UnderWayFacts("turn", "loop/sequence/llm_turn", "continued"), UnderWayFacts("tool", "t", "kept"))
    history.seams = [SeamFacts(13, 9.6, 2, 2.1, 2.1, under_way)]
    return history


def gone() -> History:
    """What is left of a run whose texts were deleted."""
    history = stuck_once()
    run = replace(history.run, kept="gone", question="")
    return History(run, end=history.end)


def running(ticks: int) -> History:
    """The first ticks of a run that is under way."""
    history = stuck_once()
    history.run = replace(history.run, status="running", finished_at=None, termination_reason=None, turns=0)
    history.ticks, history.end = history.ticks[:ticks], None
    for name in ("turns", "calls"):
        setattr(history, name, [each for each in getattr(history, name) if (each.ended_tick or 0) <= ticks])
    history.notices = [each for each in history.notices if each.tick <= ticks]
    return history


def unexplained() -> History:
    """A run whose version of the tree can be read, and whose ticks could not be repeated."""
    history = stuck_once()
    history.problem = "tick 1 was not repeated as it was recorded"
    history.ticks = [_plain(tick) for tick in history.ticks]
    return history


def _plain(tick: TickFacts) -> TickFacts:
    return replace(tick, visits=(), decision=None, headline="")


def facts(**fields: object) -> RunFacts:
    """The row of a run."""
    return replace(stuck_once().run, **fields)  # type: ignore[arg-type]
