"""The event log: numbers, followers, ends."""

import asyncio
from dataclasses import replace
from random import Random

import pytest
from sqlalchemy import Connection, delete, update

from oracle.runs.storage import schema
from oracle.runs.storage.dialect import PAGE, PAGE_BYTES
from oracle.runs.storage.erasing import mark_forgotten
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.log import LogWatch
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.tails import MOST_BYTES
from tests.oracle.runs.storage.making import DONE, END, begun, content, heard, new_run
from tests.support.waiting import until


async def test_a_follower_gets_every_chunk_once_wherever_and_whenever_it_joins(store: Store) -> None:
    log, random, followers = await begun(store), Random(7), []
    for number in range(600):
        log.chunk(content("x" * 2000))  # of all this, only the end stays in memory
        if number % 3 == 0:
            await asyncio.sleep(0)
        if number % 50 == 0:
            await log.flush()
        if random.random() < 0.1:
            after = random.randrange(log.chunks + 1)
            followers.append((after, asyncio.create_task(heard(store, after=after))))
    await log.finish(DONE, END)
    async with asyncio.timeout(60):
        for after, follower in followers:
            assert await follower == list(range(after + 1, 602))


async def test_a_slow_follower_costs_no_memory_and_misses_nothing(store: Store) -> None:
    log, numbers = await begun(store), list[int]()
    log.chunk(content("first"))
    await log.flush()
    chunks = store.log.follow("run-1")
    numbers += [chunk.n for chunk in await anext(chunks)]
    for _ in range(1000):
        log.chunk(content("x" * 1000))
    await log.flush()
    tail = store.log._tails.get("run-1")
    assert tail is not None
    assert sum(len(chunk.data) for chunk in tail._chunks) <= MOST_BYTES
    await log.finish(DONE, END)
    async for batch in chunks:
        numbers += [chunk.n for chunk in batch]
    assert numbers == list(range(1, 1003))


async def test_a_batch_is_bounded_in_number_and_in_size(store: Store) -> None:
    small, large = await begun(store, "small"), await begun(store, "large")
    for _ in range(PAGE + 100):
        small.chunk(content("a"))
    for _ in range(6):
        large.chunk(content("x" * 600_000))
    await small.finish(DONE, END)
    await large.finish(DONE, END)
    sizes = [len(batch) async for batch in store.log.follow("small")]
    assert sizes == [PAGE, 101]
    sizes = [len(batch) async for batch in store.log.follow("large")]
    assert sizes == [2, 2, 2, 1]


async def test_a_page_whose_text_is_exactly_full_is_not_the_last_one(store: Store) -> None:
    log = await begun(store)
    for _ in range(2):
        log.chunk(content("x" * (PAGE_BYTES // 2 - len(content("")))))
    await log.finish(DONE, END)
    page = await store.log.page("run-1")
    assert page is not None
    assert sum(len(chunk.data) for chunk in page.chunks) == PAGE_BYTES
    assert not page.is_last
    assert await store.log.page("run-1", after=2) == ([(3, DONE)], True)


async def test_chunks_are_committed_although_no_caller_waits_for_that(store: Store) -> None:
    log = await begun(store)
    chunks = store.log.follow("run-1")
    async with asyncio.timeout(20):
        for number in (1, 2, 3):
            log.chunk(content(number))
            assert [chunk.n for chunk in await anext(chunks)] == [number]
    await chunks.aclose()


@pytest.mark.long("a hundred runs with followers")
async def test_a_worker_is_notified_of_the_chunks_of_all_runs_of_a_commit(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="other") as other:
        names = [f"{number:064}" for number in range(120)]  # more text than one notification takes
        logs = await asyncio.gather(*(begun(one, name, context_id=name) for name in names))
        followers = [asyncio.create_task(heard(other, name)) for name in names]
        await until(lambda: sum(bool(tail._waiting) for tail in other.log._tails) == len(names))
        await asyncio.gather(*(log.finish(DONE, END) for log in logs))
        async with asyncio.timeout(30):
            assert await asyncio.gather(*followers) == [[1]] * len(names)


@pytest.mark.parametrize("chunks", [PAGE - 1, PAGE, PAGE + 1])
async def test_a_full_page_is_never_the_last_one(store: Store, chunks: int) -> None:
    log = await begun(store)
    for _ in range(chunks - 1):
        log.chunk(content("a"))
    await log.finish(DONE, END)
    page = await store.log.page("run-1")
    assert page is not None
    assert len(page.chunks) == min(chunks, PAGE)
    assert page.is_last is (chunks < PAGE)
    assert len(await heard(store)) == chunks


async def test_there_is_no_page_of_a_run_whose_texts_are_being_deleted(store: Store) -> None:
    log = await begun(store)
    await log.finish(DONE, END)
    await store.write(lambda connection: mark_forgotten(connection, ["run-1"], at=1.0))
    assert await store.log.page("run-1") is None


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4, 10**30])
async def test_following_a_run_that_has_ended_ends(store: Store, after: int) -> None:
    log = await begun(store)
    log.chunk(content("a"))
    log.chunk(content("b"))
    await log.finish(DONE, END)
    assert await heard(store, after=after) == [1, 2, 3][after:]


async def test_followers_that_wait_at_the_end_of_a_live_run_end_with_it(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("a"))
    await log.flush()
    followers = [asyncio.create_task(heard(store, after=after)) for after in (0, 1, 2, 9)]
    await asyncio.sleep(0)
    await log.finish(DONE, END)
    async with asyncio.timeout(20):
        assert await asyncio.gather(*followers) == [[1, 2], [2], [], []]


async def test_following_ends_when_the_events_were_deleted(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("a"))
    await log.finish(DONE, END)
    await store.write(lambda connection: connection.execute(delete(schema.event)).close())
    assert await heard(store) == []


async def test_following_ends_when_the_run_is_abandoned(store: Store) -> None:
    await store.runs.begin(new_run())
    follower = asyncio.create_task(heard(store))
    await until(lambda: any(tail._waiting for tail in store.log._tails))
    await store.runs.abandon("run-1")
    async with asyncio.timeout(20):
        assert await follower == []


async def test_a_follower_of_an_interrupted_run_gets_what_its_next_writer_writes(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("a"))
    await log.flush()
    follower = asyncio.create_task(heard(store))
    await asyncio.sleep(0)
    (taken,) = await store.claims.take_over(None)
    again = store.log.writer(taken, seq=1, chunk_n=1)
    again.chunk(content("interrupted"))
    await again.finish(DONE, END)
    async with asyncio.timeout(20):
        assert await follower == [1, 2, 3]


async def test_a_cancelled_follower_leaves_nothing_behind(store: Store) -> None:
    await store.runs.begin(new_run())
    follower = asyncio.create_task(heard(store))
    await until(lambda: store.log._tails.get("run-1") is not None)
    follower.cancel()
    await asyncio.wait({follower})
    assert store.log._tails.get("run-1") is None


async def test_a_run_that_has_ended_leaves_nothing_in_memory(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("a"))
    await log.finish(DONE, END)
    assert list(store.log._tails) == []


async def test_text_that_is_no_utf8_is_refused_at_once(store: Store) -> None:
    log = await begun(store)
    with pytest.raises(UnicodeDecodeError):
        log.chunk(b"\xff")
    assert log.chunk(content("a")) == 1
    await log.flush()
    assert await store.log.last_chunk("run-1") == 1


async def test_the_age_of_the_oldest_pending_entry_is_known(store: Store) -> None:
    log = await begun(store)
    assert log.pending_since_s is None
    log.chunk(content("a"))
    since_s = log.pending_since_s
    assert since_s is not None
    assert since_s <= asyncio.get_running_loop().time()
    await log.flush()
    assert log.pending_since_s is None


async def test_followers_get_an_error_when_the_store_is_closed(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1") as store:
        await begun(store)
        follower = asyncio.create_task(heard(store))
        await asyncio.sleep(0)
    with pytest.raises(StoreUnavailableError, match="closed"):
        await follower


async def test_no_part_of_a_run_is_shown_while_it_is_being_deleted(store: Store) -> None:
    log = await begun(store)
    for text in range(30):
        log.chunk(content(text))
    await log.finish(DONE, END)

    def forget_half(connection: Connection) -> None:
        connection.execute(update(schema.run).values(forgotten_at=1.0))
        connection.execute(delete(schema.event).where(schema.event.c.seq < 10))

    await store.write(forget_half)
    assert [await heard(store, after=after) for after in (0, 3, 20)] == [[], [], []]


async def test_a_run_ends_whatever_its_provider_calls_the_model(store: Store) -> None:
    log = await begun(store)
    await log.finish(DONE, replace(END, model_used="m\0\ud800" + "x" * 300))
    ended = await store.runs.find("run-1")
    assert ended is not None
    assert ended.model_used == "m\ufffd\ufffd" + "x" * 252


async def test_a_watcher_is_woken_by_every_commit_and_a_follower_by_chunks_alone(store: Store) -> None:
    log = await begun(store)
    with store.log.watching("run-1") as watch, store.log._tails.using("run-1") as tail:
        commits, changes = watch.commits, tail.changes
        log.append("tick", b"{}")
        async with asyncio.timeout(20):
            await watch.wait(commits)
        assert [event.kind for event in await store.log.events("run-1")] == ["tick"]
        assert tail.changes - changes <= 1  # PostgreSQL's listener looks everything up when it has connected
        commits = watch.commits
        log.chunk(content("a"))
        async with asyncio.timeout(20):
            await watch.wait(commits)
        assert tail.changes > changes


async def test_a_watcher_is_woken_by_ticks_that_another_worker_has_committed(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="other") as other:
        log = await begun(one)
        with other.log.watching("run-1") as watch, other.log._tails.using("run-1") as tail:
            async with asyncio.timeout(20):
                while not await other.log.events("run-1"):
                    commits, changes = watch.commits, tail.changes
                    log.append("tick", b"{}")
                    await watch.wait(commits)
            assert tail.changes - changes <= 1  # for the listener's connect, which looks everything up


async def test_who_watches_is_not_left_waiting_by_a_store_that_closes(store_url: str) -> None:
    async def watch_on(watch: LogWatch) -> None:
        while True:  # PostgreSQL may still report the commit that began the run
            await watch.wait(watch.commits)

    async with open_store(store_url, worker="worker-1") as store:
        await begun(store)
        watching = store.log.watching("run-1")
        watch = watching.__enter__()
        waiting = asyncio.create_task(watch_on(watch))
        await asyncio.sleep(0)
    with pytest.raises(StoreUnavailableError):
        await waiting
    watching.__exit__(None, None, None)


async def test_events_are_read_up_to_a_number_of_bytes_and_one_at_least(store: Store) -> None:
    log = await begun(store)
    for size in (10, 10, 50, 10):
        log.append("tick", b'"' + "é".encode() * (size // 2 - 1) + b'"')
        log.append("signal", b'"not asked for"')
    await log.flush()

    async def sizes(max_bytes: int, *, after: int = 0, limit: int = 9) -> list[int]:
        events = await store.log.events("run-1", kinds={"tick"}, after_seq=after, limit=limit, max_bytes=max_bytes)
        return [len(event.data) for event in events]

    assert await sizes(10_000) == [10, 10, 50, 10]
    assert await sizes(20) == await sizes(69) == [10, 10]
    assert await sizes(70) == [10, 10, 50]
    assert await sizes(1) == [10]
    assert await sizes(1, after=3) == [50]
    assert await sizes(10_000, limit=1) == [10]
    assert await store.log.count("run-1", kind="tick", up_to_seq=4) == 2
