"""Runs of a database, which a service may be writing."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from oracle.cli.run_sources.protocol import ListedRun
from oracle.histories.model import History
from oracle.histories.rows import run_facts
from oracle.storage import Archive, RunFilter

if TYPE_CHECKING:  # a list of runs needs no node kinds, which are slow to load
    from bt_runtime import Registry

_SILENT_S: Final = 30.0
"""A worker writes a heartbeat every few seconds, by the clock of the database, which may differ from this machine's."""


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """The runs of a database.

    Args:
        archive: is read.
        registry: makes the node kinds of today.
    """

    archive: Archive
    registry: "Callable[[], Registry]"

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:
        """The newest of those runs."""
        records = await self.archive.matching(wanted, limit=limit)
        return [ListedRun(run_facts(record), record.summary) for record in records]

    async def history(self, run: str) -> History:
        """Everything that the database has of the run."""
        from oracle.histories import read_history  # noqa: PLC0415  slow to load

        record = await self.archive.find(run)
        history = await read_history(self.archive, record, registry=self.registry())
        if record.status == "running" and (silent := _silence(time.time() - record.heartbeat_at)):
            history.problem = "; ".join(filter(None, (history.problem, silent)))
        return history

    async def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The history as it grows; looks when something was committed."""
        from oracle.histories import Explainer, read_history  # noqa: PLC0415  slow to load
        from oracle.histories.reading import event_pages  # noqa: PLC0415

        record, registry = await self.archive.find(run), self.registry()
        if record.status == "finished":
            yield await read_history(self.archive, record, registry=registry)
            return
        version = await self.archive.tree(record.tree_sha) if record.tree_sha else None
        explainer = await asyncio.to_thread(Explainer, record, version, registry=registry)
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
