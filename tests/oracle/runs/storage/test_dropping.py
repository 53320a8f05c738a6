"""Texts that go before the figures: marked first, then reduced in portions, on both databases."""

import asyncio

from sqlalchemy import insert, select, update

from oracle.runs.storage.records import LogEntry, RunEnd
from oracle.runs.storage.request_keys import request_key
from oracle.runs.storage.retention import PORTION
from oracle.runs.storage.schema import run
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import Hands
from tests.oracle.runs.storage.runs_made import begun
from tests.oracle.runs.storage.test_retention import DAY_S


def reduce(event: LogEntry) -> bytes | None:
    """Signals have no figures here."""
    return None if event.kind == "signal" else b'{"n":%d}' % event.seq


async def drop(store: Store, older_than_s: float = DAY_S) -> int:
    return await store.retention.drop_texts(older_than_s=older_than_s, new_reducer=lambda: reduce)


async def kinds(store: Store, run_id: str) -> list[tuple[str, bytes]]:
    return [(event.kind, event.data) for event in await store.log.events(run_id, limit=10_000)]


async def recorded(store: Store, *, ticks: int = 1) -> str:
    """An ended run with events of several kinds."""
    record, log = await begun(store)
    for _ in range(ticks):
        log.append("tick", b'"Secret value"')
        log.append("signal", b'"Secret signal"')
        log.chunk(b'"Secret text"')
    store.prompts.keep(record.id, "sha", "Secret prompt")
    failed = {"error": "Secret error", "error_type": "internal", "cause": "Secret cause"}
    await log.finish(b'{"type":"done"}', RunEnd("error", "Secret answer.", 2, 321, False, "model-1", failed))
    return record.id


async def test_texts_go_and_figures_stay(timed: Store, clock: Hands) -> None:
    run_id = await recorded(timed)
    clock.at_s += 2 * DAY_S
    assert await drop(timed) == 1
    assert await kinds(timed, run_id) == [("tick", b'{"n":1}'), ("final", b'{"n":5}')]
    after = await timed.runs.find(run_id)
    assert after is not None
    assert (after.kept, after.texts_dropped_at, after.answer, after.input) == ("figures", clock.at_s, None, {})
    assert (after.tokens_used, after.turns, after.error) == (321, 2, {"error_type": "internal"})
    assert await timed.log.page(run_id) is None
    assert [batch async for batch in timed.log.follow(run_id)] == []
    assert await timed.prompts.find("sha") is None
    assert await drop(timed) == 0


async def test_texts_that_are_not_old_enough_stay(timed: Store, clock: Hands) -> None:
    run_id = await recorded(timed)
    clock.at_s += DAY_S
    assert await drop(timed) == 0
    assert len(await kinds(timed, run_id)) == 5
    assert await timed.prompts.find("sha") == "Secret prompt"


async def test_the_digest_of_the_request_goes_with_its_texts(timed: Store, clock: Hands) -> None:
    run_id = await recorded(timed)
    row = {"id": "key", "run_id": run_id, "body": "digest", "at": clock.at_s}
    await timed.write(lambda connection: connection.execute(insert(request_key), row).close())
    clock.at_s += 2 * DAY_S
    await drop(timed)
    bodies = select(request_key.c.body)
    assert await timed.database.read(lambda connection: list(connection.scalars(bodies))) == [""]


async def test_a_run_under_way_and_one_that_is_followed_keep_their_texts(timed: Store, clock: Hands) -> None:
    running, log = await begun(timed)
    log.append("tick", b'"value"')
    await log.flush()
    followed = await recorded(timed)
    clock.at_s += 2 * DAY_S
    stream = timed.log.follow(followed)
    assert await anext(stream)
    assert await drop(timed) == 0
    assert [data for _, data in await kinds(timed, running.id)] == [b'"value"']
    assert len(await kinds(timed, followed)) == 5
    await stream.aclose()
    assert await drop(timed) == 1
    log.chunk(b'"goes on"')
    await log.flush()
    assert len(await kinds(timed, running.id)) == 2


async def test_a_long_log_is_reduced_in_portions_while_live_runs_go_on(timed: Store, clock: Hands) -> None:
    run_id = await recorded(timed, ticks=2 * PORTION)
    clock.at_s += 2 * DAY_S
    _, log = await begun(timed)
    dropping = asyncio.create_task(drop(timed))
    flushed = 0
    async with asyncio.timeout(20):
        while not dropping.done():
            log.chunk(b'"live"')
            await log.flush()
            flushed += 1
    assert flushed >= 6
    left = await kinds(timed, run_id)
    assert len(left) == 2 * PORTION + 1
    assert not [data for _, data in left if b"Secret" in data]


async def test_what_a_dead_process_left_half_reduced_is_reduced(timed: Store) -> None:
    run_id = await recorded(timed)
    marked = update(run).where(run.c.id == run_id).values(texts_dropped_at=5.0, answer="", input={})
    await timed.write(lambda connection: connection.execute(marked).close())
    assert await drop(timed, 10 * DAY_S) == 0
    assert await kinds(timed, run_id) == [("tick", b'{"n":1}'), ("final", b'{"n":5}')]
    after = await timed.runs.find(run_id)
    assert after is not None
    assert (after.texts_dropped_at, after.answer) == (5.0, None)


async def test_figures_go_with_the_conversation_and_with_their_age(timed: Store, clock: Hands) -> None:
    one, two = await recorded(timed), await recorded(timed)
    clock.at_s += 2 * DAY_S
    await drop(timed)
    record = await timed.runs.find(one)
    assert record is not None
    assert await timed.conversations.forget("ann", record.context_id)
    assert await kinds(timed, one) == []
    await timed.retention.prune(older_than_s=DAY_S, most_bytes=None)
    assert await kinds(timed, two) == []
    for run_id in (one, two):
        gone = await timed.runs.find(run_id)
        assert gone is not None
        assert (gone.kept, gone.tokens_used) == ("gone", 321)


async def test_workers_that_drop_at_the_same_time_do_not_disturb_each_other(postgresql_url: str, clock: Hands) -> None:
    async with (
        open_store(postgresql_url, worker="one", now=clock) as one,
        open_store(postgresql_url, worker="two", now=clock) as two,
    ):
        run_ids = [await recorded(one, ticks=20) for _ in range(5)]
        clock.at_s += 2 * DAY_S
        async with asyncio.timeout(20):
            forgetting = asyncio.create_task(_forget(one, run_ids[0]))
            await asyncio.gather(drop(one), drop(two), forgetting)
        for run_id in run_ids[1:]:
            assert [kind for kind, _ in await kinds(two, run_id)] == ["tick"] * 20 + ["final"]
        assert await kinds(two, run_ids[0]) == []


async def _forget(store: Store, run_id: str) -> None:
    record = await store.runs.find(run_id)
    assert record is not None
    await store.conversations.forget("ann", record.context_id)
