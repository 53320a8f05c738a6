"""Builds the query of a recorded run anew, so that a tree can be ticked with what was recorded.

Nothing that takes time is started: the model and the tools are stand-ins that only have their names.
"""

from collections.abc import Mapping

from bt_runtime import Registry, Replay, Trace, TreeDefinition, replay
from bt_runtime.text import iso
from oracle.agent.control.opening import StillClock, UnaskedModel, open_agent
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.query import Query
from oracle.agent.rule_gate import RuleBreach
from oracle.core.chunks import Chunk, Source
from oracle.core.logs.configuring import quiet
from oracle.decision import AgentConfig
from oracle.replay.recorded import RecordedRun
from oracle.runs.record.events import Opened
from oracle.runs.repeating import RebuiltRun, stand_in
from oracle.runs.storage.records import RunRecord
from oracle.tools import ToolRegistry


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
        tools=ToolRegistry(map(stand_in, opened.tools)),
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
    return RebuiltRun(agent, clock, sources, stops, chunks)


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
