"""Readers in other processes are woken by commits."""

import asyncio

from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.store import Store
from tests.oracle.runs.storage.runs_made import begun

PATIENCE_S = 30


async def test_a_reader_is_woken_at_once_and_by_each_commit(store: Store, store_url: str) -> None:
    record, log = await begun(store)
    async with open_archive(store_url) as archive:
        changes = archive.changes()
        await anext(changes)
        for number in (1, 2):
            log.chunk(b'"s"')
            await log.flush()
            while len(await archive.events(record.id)) < number:
                await asyncio.wait_for(anext(changes), PATIENCE_S)
            assert [event.seq for event in await archive.events(record.id, after_seq=number - 1)] == [number]
        await changes.aclose()
