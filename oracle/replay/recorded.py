"""A recorded run, read from the store with everything that is needed to repeat it."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from bt_runtime import Registry, TickRecord, TreeDefinition, TreeFileError, TreeNotFoundError
from bt_runtime.library.named import read_sources
from oracle.agent.rule_gate import RuleBreach
from oracle.core.chunks import Chunk, Source
from oracle.core.errors import UserError
from oracle.replay.histories.model import DELETED
from oracle.runs.record.events import Opened
from oracle.runs.record.record import Record
from oracle.runs.repeating import sources_found
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord
from oracle.runs.storage.trees import TreeVersion


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
