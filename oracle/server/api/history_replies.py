"""The bodies of responses about recorded runs with their reasons, for `/openapi.json`."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from oracle.replay.histories.differences import HistoryDifference
from oracle.replay.histories.model import (
    BreachFacts,
    CallFacts,
    DebugFacts,
    DecisionFacts,
    EndFacts,
    InterruptFacts,
    KeyFacts,
    NoticeFacts,
    RunFacts,
    SeamFacts,
    TextFacts,
    TickFacts,
    TreeFacts,
    TurnFacts,
)
from oracle.server.api.replies import ReplyBody


class _Belonging(ReplyBody):
    turns: list[TurnFacts]
    calls: list[CallFacts]
    notices: list[NoticeFacts]
    texts: list[TextFacts]
    breaches: list[BreachFacts]
    debug: list[DebugFacts]
    seams: list[SeamFacts]
    interrupts: list[InterruptFacts]
    decisions: list[DecisionFacts]


class HistoryPage(_Belonging):
    """A part of a recorded run: some of its ticks, and what belongs to them."""

    format: Literal["oracle-run"]
    version: int = Field(description="Of the format.")
    run: RunFacts
    tree: TreeFacts | None = Field(
        default=None, description="The version that ran; null if it is no longer in the store. Part of the head."
    )
    keys: list[KeyFacts] = Field(
        default=[], description="The blackboard's keys, with their values before the first tick. Part of the head."
    )
    ticks: list[TickFacts]
    end: EndFacts | None = Field(description="Why the run ended; null while it is under way or not yet explained.")
    problem: str = Field(description="Why something is missing or unexplained; empty if nothing is.")
    unexplained_from: int | None = Field(
        description="The first tick without reasons, because the run could not be replayed further; null if every "
        "tick has them."
    )
    next: int | None = Field(description="The `after` of the next page; null if there are no more ticks yet.")


class RunTree(ReplyBody):
    """The version of the tree that a run has used, and its blackboard before the first tick."""

    run_id: str
    tree: TreeFacts | None = Field(
        description="Null if the version is no longer in the store, or no tree controlled the run."
    )
    keys: list[KeyFacts] = Field(description="Empty before the first tick, and if the tree can no longer be read.")
    problem: str = Field(description="Why something is missing; empty if nothing is.")


class TurnList(ReplyBody):
    """Turns of the model, oldest first."""

    run_id: str
    turns: list[TurnFacts]
    next: int | None = Field(description="The `after` of the next page; null if there are no more turns yet.")


class RunComparison(ReplyBody):
    """Two recorded runs side by side; `old` is the run of the path."""

    run_id: str
    with_: str = Field(alias="with")
    is_same: bool = Field(description="They did the same for the same reasons.")
    difference: HistoryDifference


class TickEvent(_Belonging):
    """The `data` of an event of the stream of ticks."""

    type: Literal["tick"]
    tick: TickFacts = Field(
        description="Its `visits` are only those that differ from the same node's previous visit in this stream."
    )
    omitted_visits: int = Field(
        description="How many visits are left out. A node in `visited` without a visit here did the same as in its "
        "previous visit."
    )


class EndEvent(_Belonging):
    """The `data` of the last event of the stream of ticks."""

    type: Literal["end"]
    run: RunFacts
    end: EndFacts | None
    problem: str


TICK_STREAM: TypeAdapter[TickEvent | EndEvent] = TypeAdapter(
    Annotated[TickEvent | EndEvent, Field(discriminator="type")], config=ConfigDict(defer_build=True)
)
"""The `data` of any event of the stream of ticks."""
