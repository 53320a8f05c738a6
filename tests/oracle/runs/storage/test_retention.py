"""Retention by age and by size: oldest first, never what is under way, and rows keep figures."""

import asyncio
from collections.abc import Callable

import pytest
from sqlalchemy import delete, func, insert, select, update

from oracle.runs.storage.dialect import EVENT_BYTES
from oracle.runs.storage.retention import Pruned
from oracle.runs.storage.schema import command, event, run
from oracle.runs.storage.store import Store, open_store
from tests.oracle.agent.conversations.contract import exchange, texts_of
from tests.oracle.runs.storage.making import Hands
from tests.oracle.runs.storage.runs_made import begun, ended

DAY_S = 24 * 3600.0


async def texts_left(store: Store, run_ids: list[str]) -> list[bool]:
    """Which runs still have their events and texts; a run that has one has the other."""
    found = []
    for run_id in run_ids:
        record = await store.runs.find(run_id)
        assert record is not None
        has_events = bool(await store.log.events(run_id))
        assert has_events is bool(record.input) is (record.forgotten_at is None)
        found.append(has_events)
    return found


async def used_bytes(store: Store) -> int:
    return await store.database.read(lambda connection: store.database.dialect.used_bytes(connection, 0))


async def test_runs_that_ended_too_long_ago_lose_their_texts(timed: Store, clock: Hands) -> None:
    old = await ended(timed)
    clock.at_s += 2 * DAY_S
    new = await ended(timed)
    clock.at_s += DAY_S / 2
    pruned = await timed.retention.prune(older_than_s=DAY_S, most_bytes=None)
    assert await texts_left(timed, [old.id, new.id]) == [False, True]
    assert pruned.runs == 1
    assert pruned.bytes >= 5 * EVENT_BYTES
    after = await timed.runs.find(old.id)
    assert after is not None
    assert (after.tokens_used, after.turns, after.answer, after.forgotten_at) == (321, 2, None, clock.at_s)


async def test_a_run_that_ended_exactly_so_long_ago_keeps_its_texts(timed: Store, clock: Hands) -> None:
    run = await ended(timed)
    clock.at_s += DAY_S
    assert await timed.retention.prune(older_than_s=DAY_S, most_bytes=None) == Pruned(0, 0)
    assert await texts_left(timed, [run.id]) == [True]


async def test_runs_that_are_too_old_and_runs_that_are_too_many_are_counted_together(
    timed: Store, clock: Hands
) -> None:
    old = await ended(timed)
    clock.at_s += 2 * DAY_S
    new = await ended(timed)
    pruned = await timed.retention.prune(older_than_s=DAY_S, most_bytes=0)
    assert await texts_left(timed, [old.id, new.id]) == [False, False]
    assert pruned.runs == 2
    assert pruned.bytes >= 10 * EVENT_BYTES


async def test_nothing_is_deleted_where_there_is_no_limit(timed: Store, clock: Hands) -> None:
    kept = await ended(timed)
    clock.at_s += 1_000 * DAY_S
    assert await timed.retention.prune(older_than_s=None, most_bytes=None) == Pruned(0, 0)
    assert await texts_left(timed, [kept.id]) == [True]


async def test_runs_under_way_are_never_touched(timed: Store, clock: Hands) -> None:
    record, log = await begun(timed)
    log.chunk(b'"text"')
    await log.flush()
    clock.at_s += 1_000 * DAY_S
    assert await timed.retention.prune(older_than_s=0, most_bytes=0) == Pruned(0, 0)
    assert await texts_left(timed, [record.id]) == [True]
    log.chunk(b'"more"')
    await log.flush()
    assert await timed.log.last_chunk(record.id) == 2


async def test_conversations_outlive_their_runs(timed: Store, clock: Hands) -> None:
    record = await ended(timed)
    await timed.conversations.append("ann", record.context_id, exchange())
    clock.at_s += 2 * DAY_S
    await timed.retention.prune(older_than_s=DAY_S, most_bytes=0)
    assert await texts_left(timed, [record.id]) == [False]
    assert await texts_of(timed.conversations, "ann", record.context_id) == ["Q?", "A."]


async def test_the_oldest_runs_go_until_the_rest_fits(timed: Store, clock: Hands) -> None:
    runs = []
    for _ in range(8):
        clock.at_s += 1
        runs.append(await ended(timed, chunks=40, chunk_bytes=5_000))
    before = await used_bytes(timed)
    pruned = await timed.retention.prune(older_than_s=None, most_bytes=before // 2)
    left = await texts_left(timed, [each.id for each in runs])
    gone = left.count(False)
    assert left == [False] * gone + [True] * (8 - gone)
    assert gone == pruned.runs
    assert 3 <= gone <= 6
    assert await used_bytes(timed) <= before * 0.6


async def test_space_that_is_free_again_is_no_reason_to_delete_more(timed: Store, clock: Hands) -> None:
    runs = []
    for _ in range(8):
        clock.at_s += 1
        runs.append(await ended(timed, chunks=40, chunk_bytes=5_000))
    limit = await used_bytes(timed) // 2
    for _ in range(3):
        await timed.retention.prune(older_than_s=None, most_bytes=limit)
    left = await texts_left(timed, [each.id for each in runs])
    assert 2 <= left.count(True) <= 5


@pytest.mark.long("thousands of events")
async def test_more_runs_than_a_batch_and_more_events_than_a_portion_go_as_well(timed: Store, clock: Hands) -> None:
    one = await ended(timed, chunks=3_000)
    row = await timed.database.read(lambda connection: connection.execute(select(run)).one()._asdict())
    copies = [{**row, "id": f"copy-{at}", "context_id": f"copy-{at}"} for at in range(250)]
    events = [{"run_id": each["id"], "seq": 1, "kind": "final", "data": b"{}", "at": 1.0} for each in copies]

    def work(connection) -> None:
        connection.execute(insert(run), copies)
        connection.execute(insert(event), events)

    await timed.write(work)
    clock.at_s += 2 * DAY_S
    assert (await timed.retention.prune(older_than_s=DAY_S, most_bytes=None)).runs == 251
    count = select(func.count()).select_from(event)
    assert await timed.database.read(lambda connection: connection.scalar(count)) == 0
    assert await texts_left(timed, [one.id, "copy-0", "copy-249"]) == [False] * 3


async def test_live_runs_go_on_while_old_ones_are_deleted(timed: Store, clock: Hands) -> None:
    for _ in range(5):
        await ended(timed, chunks=2_000)
    clock.at_s += 2 * DAY_S
    _, log = await begun(timed)
    pruning = asyncio.create_task(timed.retention.prune(older_than_s=DAY_S, most_bytes=None))
    flushed = 0
    async with asyncio.timeout(20):
        while not pruning.done():
            log.chunk(b'"live"')
            await log.flush()
            flushed += 1
    assert (await pruning).runs == 5
    assert flushed >= 10  # one between each two portions of the ten thousand events


async def test_what_a_dead_process_left_half_deleted_is_deleted(timed: Store) -> None:
    record = await ended(timed)
    forgotten = update(run).where(run.c.id == record.id).values(forgotten_at=5.0, input={}, answer=None)
    await timed.write(lambda connection: connection.execute(forgotten).close())
    await timed.retention.prune(older_than_s=None, most_bytes=None)
    assert await texts_left(timed, [record.id]) == [False]
    after = await timed.runs.find(record.id)
    assert after is not None
    assert after.forgotten_at == 5.0


async def test_commands_to_ended_runs_go_and_those_to_running_ones_stay(timed: Store) -> None:
    over, (running, _) = await ended(timed), await begun(timed)
    await timed.write(lambda connection: connection.execute(delete(command)).close())
    rows = [{"run_id": name, "kind": "cancel", "data": {}, "at": 1.0} for name in (over.id, running.id, "never-was")]
    await timed.write(lambda connection: connection.execute(insert(command), rows).close())
    await timed.retention.prune(older_than_s=None, most_bytes=None)
    names = select(command.c.run_id)
    assert await timed.database.read(lambda connection: list(connection.scalars(names))) == [running.id]


async def test_pruning_twice_at_once_deletes_each_run_once(postgresql_url: str, clock: Hands) -> None:
    opened: Callable[[str], object] = lambda name: open_store(postgresql_url, worker=name, now=clock)  # noqa: E731
    async with opened("one") as one, opened("two") as two:  # type: ignore[attr-defined]
        runs = [await ended(one, chunks=50) for _ in range(10)]
        clock.at_s += 2 * DAY_S
        async with asyncio.timeout(20):
            await asyncio.gather(*(store.retention.prune(older_than_s=DAY_S, most_bytes=None) for store in (one, two)))
        assert await texts_left(two, [each.id for each in runs]) == [False] * 10
