"""A recorded run: read from the store, and its query built anew, so that a tree can be ticked with what was recorded.

Nothing that takes time is started: the model and the tools are stand-ins that only have their names.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import field

from bt_runtime import Registry, Replay, TickRecord, Trace, TreeDefinition, TreeFileError, TreeNotFoundError, replay
from bt_runtime.library.named import read_sources
from bt_runtime.text import iso
from bt_runtime.text.data import dataclass
from oracle.agent.control.opening import open_agent
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.journal import RuleBreach
from oracle.agent.query import Query
from oracle.core.chunks import Chunk, Source
from oracle.core.errors import UserError
from oracle.core.logs import quiet
from oracle.decision import AgentConfig
from oracle.domains.domain import domain_in
from oracle.replay.histories.model import DELETED
from oracle.runs.record.events import Opened
from oracle.runs.record.record import Record
from oracle.runs.repeating import RebuiltRun, StillClock, UnaskedModel, sources_found, stand_in
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.trees import TreeVersion
from oracle.tools import ToolRegistry


class UnreplayableError(UserError):
    """A recorded run cannot be repeated; the message says why."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run as its log has it.

    Args:
        record: its row.
        version: the version of the tree that it ran.
        opened: the first event of its log: settings, tools and time at the start.
        ticks: its tick records, with the values of all outcomes.
        chunks: what the user was sent, each with the number of the tick record that follows it in the log.
        stops: rules of the tree that ended the run, by the number of the tick record that followed.
    """

    record: RunRecord
    version: TreeVersion
    opened: Opened
    ticks: tuple[TickRecord, ...]
    chunks: tuple[tuple[int, Chunk], ...]
    stops: Mapping[int, RuleBreach] = field(default_factory=dict)

    def tree(self, registry: Registry) -> TreeDefinition:
        """The tree that it ran.

        Raises:
            UnreplayableError: its kinds or keys do not exist any more.
        """
        try:
            return read_sources(self.version.source, name=self.version.name, registry=registry)
        except (TreeFileError, TreeNotFoundError) as error:
            first = str(error).partition("\n")[0]
            raise UnreplayableError(f"its version of the tree cannot be read any more: {first}") from None

    def sources(self) -> Mapping[int, tuple[Source, ...]]:
        """The sources that were found before each tick, by the number of the tick."""
        return sources_found(self.chunks)


async def read_run(archive: Archive, record: RunRecord) -> RecordedRun:
    """Read a run.

    Raises:
        UnreplayableError: its texts or ticks are gone, no tree drove it, or its log is damaged.
        StoreUnavailableError: the database cannot be read at present.
    """
    if record.kept != "whole":
        raise UnreplayableError(DELETED[record.kept])
    version = await archive.tree(record.tree_sha) if record.tree_sha else None
    if version is None:
        raise UnreplayableError(
            "its version of the tree is not in the store any more" if record.tree_sha else "no YAML tree drove it"
        )
    events = await archive.events(record.id)
    try:
        log = await asyncio.to_thread(Record.fold, events)
    except ValueError as error:
        raise UnreplayableError(f"its log is damaged: {error}") from None
    ticks = log.tick_records()
    if not ticks:
        raise UnreplayableError("its ticks are not in the store")
    stops: dict[int, RuleBreach] = {}
    for tick, breach in log.breaches():
        if breach.enforcement == "stop":
            stops.setdefault(tick, breach)
    opened = log.opened or Opened(ticks[0].at_s)
    return RecordedRun(record, version, opened, tuple(ticks), tuple(log.chunks()), stops)


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
        stops: rules that ended the run before a tick, by its number; read when the tick is repeated.
        trace: watches the tree.
    """
    clock = StillClock(opened.start_s)
    at, query, chunks = iso(record.created_at), _query(record, opened), list[Chunk]()
    domain = domain_in(registry)
    equipment = Equipment(
        model=UnaskedModel(record.model_used or ""),
        tools=ToolRegistry(map(stand_in, opened.tools), domain.types),
        segments=domain.shared_segments,
        classifier=domain.classifier(),
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
    tokens, room, is_partial = opened.history
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
        read_before=opened.read_before,
        history_tokens=tokens,
        history_room=room,
        is_history_partial=is_partial,
        output_schema=record.input.get("output_schema"),
    )
