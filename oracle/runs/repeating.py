"""A query that is reopened to repeat its record: its clock, its model, and the inputs that its ticks do not have."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

from bt_runtime import ContinuedClock, LiveTree, Outcome, Request, TickRecord
from bt_runtime.text.data import dataclass
from oracle.agent.control.opening import OpenAgent
from oracle.agent.journal import RuleBreach
from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.run import AgentRun
from oracle.core.chunks import Chunk, Source, SourceFound
from oracle.llm.protocol import ModelEvent, ModelFault, ModelRequest
from oracle.runs.record.events import KnownTool
from oracle.tools import Tool, ToolError, ToolResult


@dataclass(slots=True)
class StillClock:
    """Shows the time that it was set to, in seconds; for runs whose time is not the machine's."""

    now_s: float = 0.0

    def now(self) -> float:
        """The time that it was set to."""
        return self.now_s

    def show(self, at_s: float) -> None:
        """Set the time."""
        self.now_s = at_s

    async def wait(self, event: Any, *, until_s: float | None) -> None:  # noqa: ANN401, ARG002  the protocol
        """Never called: nothing waits on a clock that stands still."""
        raise AssertionError("nothing waits where the clock stands still")


@dataclass(slots=True)
class UnaskedModel:
    """The model of a run that starts no work: its answers are known, or chosen."""

    name: str
    has_web_search: bool = False

    async def aclose(self) -> None:
        """Do nothing."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:  # noqa: ARG002  the protocol
        """Never called."""
        raise AssertionError("the model of this run is never asked")


@dataclass(frozen=True, slots=True)
class RebuiltRun:
    """A query and its nodes, before the first tick.

    Args:
        opened: the query and its tree.
        clock: shows the time of the tick that is repeated.
        sources: what was found before each tick, by its number.
        stops: rules that ended the run before a tick, by its number.
        chunks: what the query has sent so far; empty if nobody asks.
    """

    opened: OpenAgent
    clock: StillClock | ContinuedClock
    sources: Mapping[int, tuple[Source, ...]]
    stops: Mapping[int, RuleBreach]
    chunks: list[Chunk] = field(default_factory=list)

    @property
    def agent(self) -> AgentRun:
        """The query."""
        return self.opened.agent

    @property
    def tree(self) -> LiveTree:
        """Its nodes."""
        return self.opened.tree

    def prepare(self, tick: TickRecord) -> None:
        """Set the time of a recorded tick, restore the sources found before it, and stop if the run was stopped."""
        self.clock.show(tick.at_s)
        breach = self.stops.get(tick.tick)
        if self.agent.state.is_terminal:
            pass
        elif breach is not None:
            self.agent.fail(ModelFault("tree_failed", breach.text, f"the rule {breach.rule!r} was broken"))
        elif ("cancel_requested", True) in tick.deliveries and ("termination_reason", "error") in tick.writes:
            # A cancel for a reason that is not the user's.
            self.agent.fail(ModelFault("service_stopping", "The service has stopped the run."))
        for source in self.sources.get(tick.tick, ()):
            self.agent.output.cite(source)

    def speak(self, request: Request, outcome: Outcome) -> None:
        """Repeat the text that a turn sent before its outcome came."""
        node, value, output = request.node, outcome.value, self.agent.output
        if isinstance(node, LlmTurn) and node.settings.visible and isinstance(value, TurnOutcome):
            output.begin_turn()
            output.say(value.text)


def sources_found(chunks: Iterable[tuple[int, Chunk]]) -> dict[int, tuple[Source, ...]]:
    """The sources among what was sent before each tick, by the number of the tick."""
    found: dict[int, tuple[Source, ...]] = {}
    for tick, chunk in chunks:
        if isinstance(chunk, SourceFound):
            found[tick] = (*found.get(tick, ()), chunk.source)
    return found


def stand_in(known: KnownTool) -> Tool:
    """A tool that only has its name, and its place in the control of a run."""
    return Tool(
        name=known.name,
        description="",
        when_to_use=known.words,
        input_schema={},
        call=never,
        group=known.group,
        writes=known.writes,
        query_types=known.query_types,
        needs_approval=known.needs_approval,
        on_demand=known.on_demand,
        labels=known.labels,
    )


def as_begun(tool: Tool | None, known: KnownTool, *, labels: Sequence[tuple[str, frozenset[str]]]) -> Tool:
    """A tool for a run that goes on: with the labels that the run has begun with, by which it asked and refused.

    One that has got a label since is not called any more: what was approved was another tool.

    Args:
        tool: as it is now; `None`: it is gone.
        known: as the run has recorded it.
        labels: those that the run's tree gives.
    """
    if tool is None:
        return stand_in(known)
    then, now = replace(tool, labels=known.labels), replace(tool, labels=tool.labels_with(labels))
    new = [label for label in now.flows if label not in then.flows]
    return replace(then, call=partial(_relabelled, known.name, new)) if new else then


async def _relabelled(name: str, new: Sequence[str], _arguments: Mapping[str, Any]) -> ToolResult:
    raise ToolError(
        f"{name} was not called: since this question began it has got the label {' and '.join(new)}, so what was "
        "decided about it no longer holds. The user has to ask again."
    )


async def never(_arguments: Mapping[str, Any]) -> ToolResult:
    """The call of a tool that only has its name."""
    raise AssertionError("this tool cannot be run here")
