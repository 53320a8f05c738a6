"""Reads the history of a run from the store, a page of its log at a time."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from bt_runtime import Registry
from oracle.replay.histories.codec import add_prompts
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.model import History
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import LogEntry, RunRecord

PAGE: Final = 1_000
"""Events that are read at once."""


async def read_history(archive: Archive, record: RunRecord, *, registry: Registry) -> History:
    """Everything that the store has of a run, with the reasons as far as it can be repeated.

    Explaining takes place in a thread, so that the event loop goes on.

    Args:
        archive: where the log of the run is read.
        record: its row.
        registry: the node kinds of today.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    version = await archive.tree(record.tree_sha) if record.tree_sha else None
    explainer = await asyncio.to_thread(Explainer, record, version, registry=registry)
    async for page in event_pages(archive, record):
        await asyncio.to_thread(explainer.feed_all, page)
    explainer.ended(record)
    await add_prompts(archive, explainer.history)
    return explainer.history


async def event_pages(
    archive: Archive, record: RunRecord, *, after_seq: int = 0
) -> AsyncGenerator[list[LogEntry], None]:
    """The committed events of a run after that number, page by page; none of one whose texts and ticks were deleted.

    Raises:
        StoreUnavailableError: the database cannot be read at present.
    """
    while record.kept != "gone":
        page = await archive.events(record.id, after_seq=after_seq, limit=PAGE)
        if page:
            yield page
            after_seq = page[-1].seq
        if len(page) < PAGE:
            return
