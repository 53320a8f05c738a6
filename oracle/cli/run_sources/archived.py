"""Runs of a database, which a service may be writing."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from bt_runtime import Registry
from oracle.cli.run_sources.protocol import ListedRun
from oracle.histories import Explainer, History, read_history
from oracle.histories.reading import event_pages
from oracle.histories.rows import run_facts
from oracle.storage import Archive, RunFilter

_SILENT_S: Final = 30.0
"""A worker writes a heartbeat every few seconds, by the clock of the database, which may differ from this machine's."""


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """The runs of a database.

    Args:
        archive: is read.
        registry: the node kinds of today.
    """

    archive: Archive
    registry: Registry

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:
        """The newest of those runs."""
        records = await self.archive.matching(wanted, limit=limit)
        return [ListedRun(run_facts(record), record.summary) for record in records]

    async def history(self, run: str) -> History:
        """Everything that the database has of the run."""
        record = await self.archive.find(run)
        history = await read_history(self.archive, record, registry=self.registry)
        if record.status == "running" and (silent := _silence(time.time() - record.heartbeat_at)):
            history.problem = "; ".join(filter(None, (history.problem, silent)))
        return history

    async def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The history as it grows; looks when something was committed."""
        record = await self.archive.find(run)
        if record.status == "finished":
            yield await read_history(self.archive, record, registry=self.registry)
            return
        version = await self.archive.tree(record.tree_sha) if record.tree_sha else None
        explainer = await asyncio.to_thread(Explainer, record, version, registry=self.registry)
        seq, is_first = 0, True
        async with aclosing(self.archive.changes()) as changes:
            async for _ in changes:
                record = await self.archive.find(record.id)  # before its events: those of its end are there then
                is_new = False
                async for page in event_pages(self.archive, record, after_seq=seq):
                    await asyncio.to_thread(explainer.feed_all, page)
                    seq, is_new = page[-1].seq, True
                if record.status == "finished":
                    explainer.ended(record)
                if is_first or is_new or record.status == "finished":
                    is_first = False
                    yield explainer.history
                if record.status == "finished":
                    return


def _silence(quiet_s: float) -> str:
    """What a run under way says whose worker has not been heard of for so long; empty if it probably lives."""
    if quiet_s < _SILENT_S:
        return ""
    last = f"the service that runs it was last heard of {quiet_s:,.0f} s ago"
    return f"{last}; if it has died, the run ends when a service starts"
