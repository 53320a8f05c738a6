"""Builds the query of a recorded run anew, so that a tree can be ticked with what was recorded.

Nothing that takes time is started: the model and the tools are stand-ins that only have their names.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

from bt_runtime import LiveTree, Outcome, Registry, Request, TickRecord, Trace, TreeDefinition, build
from bt_runtime.text import iso
from oracle.agent.closing import Closer
from oracle.agent.equipment import Equipment
from oracle.agent.journal import NoJournal
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.output import Output
from oracle.agent.query import Query
from oracle.agent.rule_gate import RuleBreach
from oracle.agent.run import AgentRun
from oracle.agent.signals import SignalLog
from oracle.agent.transcript import Transcript
from oracle.chunks import Chunk, Source
from oracle.classify import HeuristicIntentClassifier
from oracle.control.choosing import turn_limit
from oracle.conversations import MemoryConversations
from oracle.decision import AgentConfig, AgentState
from oracle.models.protocol import ModelEvent, ModelFault, ModelRequest
from oracle.nodes import AgentHost, demanded, values_of
from oracle.nodes.llm_turn import LlmTurn
from oracle.record.events import KnownTool, Opened
from oracle.replays.recorded import RecordedRun
from oracle.storage import RunRecord
from oracle.tools import Tool, ToolRegistry, ToolResult
from prompts import SegmentLibrary, load_segments


class _Unasked:
    """The model of a run that is repeated: it has answered already."""

    has_web_search = False

    def __init__(self, name: str) -> None:
        self.name = name

    async def aclose(self) -> None:
        """Do nothing."""

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:  # noqa: ARG002  the protocol
        raise AssertionError("nothing is asked while a run is repeated")


@dataclass(slots=True)
class _RecordedClock:
    """The time of the tick that is repeated."""

    at_s: float

    def now(self) -> float:
        return self.at_s

    async def wait(self, signal: Any, *, until_s: float | None) -> None:  # noqa: ANN401, ARG002  the protocol
        raise AssertionError("nothing waits while a run is repeated")


@dataclass(frozen=True, slots=True)
class RebuiltRun:
    """A query and its nodes, before the first tick.

    Args:
        agent: the query.
        tree: its nodes.
        clock: shows the time of the tick that is repeated.
        chunks: what the query has sent so far.
        sources: what was found before each tick, by its number.
        stops: rules that ended the run before a tick, by its number.
    """

    agent: AgentRun
    tree: LiveTree
    clock: _RecordedClock
    chunks: list[Chunk]
    sources: Mapping[int, tuple[Source, ...]]
    stops: Mapping[int, RuleBreach]

    def prepare(self, tick: TickRecord) -> None:
        """Set the time of a recorded tick, find what was found before it, and stop where the run was stopped."""
        self.clock.at_s = tick.at_s
        breach = self.stops.get(tick.tick)
        if self.agent.state.is_terminal:
            pass
        elif breach is not None:
            self.agent.fail(ModelFault("tree_failed", breach.text, f"the rule {breach.rule!r} was broken"))
        elif _is_abort(tick):
            self.agent.fail(ModelFault("service_stopping", "The service has stopped the query."))
        for source in self.sources.get(tick.tick, ()):
            self.agent.output.cite(source)

    def speak(self, request: Request, outcome: Outcome) -> None:
        """Say what a turn said before its outcome came."""
        node, value, output = request.node, outcome.value, self.agent.output
        if isinstance(node, LlmTurn) and node.settings.visible and isinstance(value, TurnOutcome):
            output.new_paragraph()
            output.say(value.text)


def _is_abort(tick: TickRecord) -> bool:
    """Whether the service has ended the run before the tick: it delivers a cancel, and the reason is not the user's."""
    return ("cancel_requested", True) in tick.deliveries and ("termination_reason", "error") in tick.writes


def rebuild(
    run: RecordedRun, definition: TreeDefinition, *, registry: Registry, trace: Trace | None = None
) -> RebuiltRun:
    """The query of a recorded run, under the control of a tree.

    Args:
        run: what was recorded.
        definition: the tree that it ran, or another one.
        registry: the kinds that the tree was read with.
        trace: watches the tree.
    """
    return rebuild_query(
        run.record, run.opened, definition, registry=registry, sources=run.sources(), stops=run.stops, trace=trace
    )


def rebuild_query(
    record: RunRecord,
    opened: Opened,
    definition: TreeDefinition,
    *,
    registry: Registry,
    sources: Mapping[int, tuple[Source, ...]],
    stops: Mapping[int, RuleBreach],
    trace: Trace | None = None,
) -> RebuiltRun:
    """The query of a run, whose events may still be coming.

    Args:
        record: its row.
        opened: what it began with.
        definition: the tree that it runs, or another one.
        registry: the kinds that the tree was read with.
        sources: what was found before each tick, by its number; read when the tick is repeated.
        stops: rules that ended the run before a tick, by its number; likewise.
        trace: watches the tree.
    """
    clock, at, chunks = _RecordedClock(opened.start_s), iso(record.created_at), list[Chunk]()
    equipment = Equipment(
        model=_Unasked(record.model_used or ""),
        tools=ToolRegistry(map(_tool, opened.tools)),
        segments=_segments(),
        intents=HeuristicIntentClassifier(),
        clock=clock,
        timestamp=lambda: at,
    )
    query = _query(record, opened)
    agent = AgentRun(
        query=query,
        equipment=equipment,
        output=Output(emit=chunks.append, timestamp=lambda: at),
        state=AgentState(
            user_id=query.user_id,
            project_id=query.project_id,
            config=query.config,
            max_turns=turn_limit(definition),
            start_time=opened.start_s,
        ),
        signals=SignalLog(query.run_id, NoJournal()),
        transcript=Transcript.of((), query.question),
    )
    keys = demanded(definition)
    host = AgentHost(agent, Closer(MemoryConversations(new_id=lambda: query.context_id)), at, count(1), keys)
    tree = build(definition, registry=registry, host=host, values=values_of(agent, keys), trace=trace)
    if trace is not None:
        trace.watch(tree)
    return RebuiltRun(agent, tree, clock, chunks, sources, stops)


def _query(record: RunRecord, opened: Opened) -> Query:
    return Query(
        run_id=record.id,
        question=str(record.input["question"]),
        user_id=record.user_id,
        context_id=record.context_id,
        config=AgentConfig(**record.limits),
        tree=record.tree,
        project_id=record.input.get("project_id"),
        model=record.input.get("model"),
        previous=opened.previous,
        previous_errors=opened.previous_errors,
        encoded=opened.encoded,
    )


@lru_cache(maxsize=1)
def _segments() -> SegmentLibrary:
    return load_segments(None)


def _tool(known: KnownTool) -> Tool:
    return Tool(
        name=known.name,
        description="",
        when_to_use=known.words,
        input_schema={},
        call=_never,
        group=known.group,
        writes=known.writes,
        query_types=known.query_types,
    )


async def _never(_arguments: Mapping[str, Any]) -> ToolResult:
    raise AssertionError("no tool is run while a run is repeated")
