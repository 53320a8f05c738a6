"""Builds the query of a recorded run anew, so that a tree can be ticked with what was recorded.

Nothing that takes time is started: the model and the tools are stand-ins that only have their names.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bt_runtime import LiveTree, Outcome, Registry, Replay, Request, TickRecord, Trace, TreeDefinition, replay
from bt_runtime.text import iso
from oracle.agent.control.opening import OpenAgent, StillClock, UnaskedModel, open_agent
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.nodes.llm_turn import LlmTurn
from oracle.agent.outcomes import TurnOutcome
from oracle.agent.query import Query
from oracle.agent.rule_gate import RuleBreach
from oracle.agent.run import AgentRun
from oracle.core.chunks import Chunk, Source
from oracle.core.logs.configuring import quiet
from oracle.decision import AgentConfig
from oracle.llm.protocol import ModelFault
from oracle.replay.recorded import RecordedRun
from oracle.runs.record.events import KnownTool, Opened
from oracle.runs.storage.records import RunRecord
from oracle.tools import Tool, ToolRegistry, ToolResult


@dataclass(frozen=True, slots=True)
class RebuiltRun:
    """A query and its nodes, before the first tick.

    Args:
        opened: the query and its tree.
        clock: shows the time of the tick that is repeated.
        chunks: what the query has sent so far.
        sources: what was found before each tick, by its number.
        stops: rules that ended the run before a tick, by its number.
    """

    opened: OpenAgent
    clock: StillClock
    chunks: list[Chunk]
    sources: Mapping[int, tuple[Source, ...]]
    stops: Mapping[int, RuleBreach]

    @property
    def agent(self) -> AgentRun:
        """The query."""
        return self.opened.agent

    @property
    def tree(self) -> LiveTree:
        """Its nodes."""
        return self.opened.tree

    def prepare(self, tick: TickRecord) -> None:
        """Set the time of a recorded tick, find what was found before it, and stop where the run was stopped."""
        self.clock.now_s = tick.at_s
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
        run: the recorded run, with the values of all outcomes.
        definition: the tree that it ran, or another one.
        registry: the kinds that the tree was read with.
        trace: watches the tree.
    """
    return rebuild_query(
        run.record, run.opened, definition, registry=registry, sources=run.sources(), stops=run.stops, trace=trace
    )


def repeat(run: RecordedRun, *, registry: Registry) -> Replay:
    """Replay a run on its own version of the tree.

    Raises:
        UnreplayableError: that version cannot be read any more.
    """
    rebuilt = rebuild(run, run.tree(registry), registry=registry)
    with quiet():
        return replay(rebuilt.tree, run.ticks, before_tick=rebuilt.prepare, before_outcome=rebuilt.speak)


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
        opened: the first event of its log: what the query knew when it began.
        definition: the tree that it runs, or another one.
        registry: the kinds that the tree was read with.
        sources: what was found before each tick, by its number; read when the tick is repeated.
        stops: rules that ended the run before a tick, by its number; likewise.
        trace: watches the tree.
    """
    clock = StillClock(opened.start_s)
    at, query, chunks = iso(record.created_at), _query(record, opened), list[Chunk]()
    equipment = Equipment(
        model=UnaskedModel(record.model_used or ""),
        tools=ToolRegistry(map(_tool, opened.tools)),
        clock=clock,
        timestamp=lambda: at,
    )
    agent = open_agent(
        query,
        definition,
        equipment=equipment,
        store=MemoryConversations(new_id=lambda: query.context_id),
        emit=chunks.append,
        registry=registry,
        rules="none",
        node_trace=trace,
    )
    return RebuiltRun(agent, clock, chunks, sources, stops)


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
        grants=opened.grants,
    )


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
