"""Runs of a database, which a service may be writing."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from bt_runtime import Registry
from oracle.cli.run_sources.protocol import ListedRun
from oracle.histories import Explainer, History, read_history
from oracle.histories.reading import event_pages
from oracle.histories.rows import run_facts
from oracle.storage import Archive, RunFilter


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
        return await read_history(self.archive, await self.archive.find(run), registry=self.registry)

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
