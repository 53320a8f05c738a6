import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from sqlalchemy import update
from structlog.testing import capture_logs

from bt_runtime.testing import FakeClock
from oracle.classify import classify_query
from oracle.core.metrics import Metrics
from oracle.runs.options import RunOptions
from oracle.runs.recovery import Recovery
from oracle.runs.storage import schema
from oracle.runs.storage.claims import Sighting
from oracle.runs.storage.erasing import mark_forgotten
from oracle.runs.storage.records import NewRun, Places, RunRecord
from oracle.runs.storage.schema import run
from oracle.runs.storage.store import Store, open_store
from oracle.runs.upkeep import SilentWorkers, Upkeep
from tests.acceptance.harness import CODE_QUESTION, answers
from tests.oracle.runs.running import managed, settle, told
from tests.oracle.runs.storage.making import latest, new_run
from tests.support.waiting import until

OPTIONS = RunOptions(silent_s=15, heartbeat_s=3, retain_s=0, prune_s=60)


def classified(question, encoded, previous):
    return classify_query(question)


async def look(upkeep: Upkeep) -> None:
    """What the timers of heartbeats and of looks do."""
    await upkeep.beat()
    await upkeep.look()
    await upkeep.claim()


async def end_it(_: RunRecord) -> bool:
    """Nobody goes on with it."""
    return False


def upkeep_of(store: Store, clock: FakeClock, go_on: Callable[[RunRecord], Awaitable[bool]] = end_it) -> Upkeep:
    recovery = Recovery(
        store,
        default_model="m",
        writes=lambda _: False,
        now=time.time,
        classified=classified,
    )

    return Upkeep(
        store,
        recovery,
        claimed=lambda _: None,
        go_on=go_on,
        places=Places,
        options=OPTIONS,
        clock=clock,
        metrics=Metrics(),
    )


async def begin(store: Store, name: str = "r1") -> RunRecord:
    new = NewRun(
        id=name,
        user_id="local",
        context_id=f"c-{name}",
        tree="oracle",
        input={"question": CODE_QUESTION},
        limits={},
        timeout_s=120,
    )
    return await store.runs.begin(new)


@pytest.fixture
async def stores(postgresql_url: str) -> AsyncIterator[tuple[Store, Store]]:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        yield one, two


async def test_a_worker_whose_heartbeat_does_not_change_is_silent(stores: tuple[Store, Store]) -> None:
    one, two = stores
    record, clock = await begin(one), FakeClock(jump=False)
    upkeep = upkeep_of(two, clock)
    for _ in range(15):  # looked at after 0, 1, … 14 seconds
        await look(upkeep)
        clock.advance(1)
    assert await one.runs.find(record.id) == record
    await look(upkeep)
    ended = await told(two, record)
    assert (ended.record.worker, ended.record.termination_reason) == ("two", "error")


@pytest.mark.parametrize("step_s", [-3600.0, 20.0, 3600.0], ids=["an hour back", "20 s ahead", "an hour ahead"])
async def test_a_step_of_the_databases_clock_ends_no_run(stores: tuple[Store, Store], step_s: float) -> None:
    one, two = stores
    record, clock = await begin(one), FakeClock(jump=False)
    upkeep = upkeep_of(two, clock)
    for _ in range(10):
        # As if the clock had been set: a heartbeat is `step_s` away from what the clock says next.
        step = update(schema.worker).values(beat_at=schema.worker.c.beat_at - step_s)
        await one.claims.beat()
        await one.write(lambda connection, step=step: connection.execute(step).close())
        await look(upkeep)
        clock.advance(3)
    found = await one.runs.find(record.id)
    assert found is not None
    assert (found.status, found.worker, found.epoch) == ("running", "one", 1)


async def test_a_worker_that_was_silent_itself_takes_over_nothing_for_a_while(stores: tuple[Store, Store]) -> None:
    one, two = stores
    record, clock = await begin(one), FakeClock(jump=False)
    upkeep = upkeep_of(two, clock)
    await look(upkeep)
    clock.advance(100)  # it stood still, or could not reach the database, and so could the others not
    for _ in range(4):
        await look(upkeep)
        clock.advance(4)
    assert await one.runs.find(record.id) == record
    await look(upkeep)
    ended = await told(two, record)
    assert (ended.record.worker, ended.record.termination_reason) == ("two", "error")


async def test_a_worker_that_cannot_write_its_own_heartbeat_takes_over_nothing(stores: tuple[Store, Store]) -> None:
    one, two = stores
    record, clock = await begin(one), FakeClock(jump=False)
    upkeep = upkeep_of(two, clock)
    for _ in range(10):  # it can read: perhaps the disk of the server is full
        await upkeep.look()
        await upkeep.claim()
        clock.advance(4)
    assert await one.runs.find(record.id) == record


async def test_a_worker_whose_lock_is_free_twice_without_a_heartbeat_has_died(stores: tuple[Store, Store]) -> None:
    one, two = stores
    record, clock = await begin(one), FakeClock(jump=False)
    silence = SilentWorkers(silent_s=15, heartbeat_s=3, clock=clock)
    seen = (await two.claims.sightings()).workers
    free = {"one": Sighting(seen["one"].beat_at, is_free=True)}
    assert [silence.note(each, by_locks=True) for each in (seen, free, seen, free)] == [{}] * 4
    assert silence.note({"one": Sighting(7.0, is_free=True)}, by_locks=True) == {}
    assert silence.note({"one": Sighting(7.0, is_free=True)}, by_locks=False) == {}
    assert silence.note({"one": Sighting(7.0, is_free=True)}, by_locks=True) == {}
    assert silence.note({"one": Sighting(7.0, is_free=True)}, by_locks=True) == {"one": 7.0}
    assert await two.claims.take_over({"one": 7.0}) == []  # not the heartbeat that it has
    assert [run.id for run in await two.claims.take_over({"one": seen["one"].beat_at})] == [record.id]


async def test_of_what_may_have_killed_workers_one_is_gone_on_with_after_each_look(stores: tuple[Store, Store]) -> None:
    one, two = stores
    for name in ("r1", "r2", "r3"):
        await begin(one, name)
    clock = FakeClock(jump=False)
    suspect = update(schema.run).values(attempts=schema.run.c.n + 1)
    await one.write(lambda connection: connection.execute(suspect).close())
    gone_on = list[str]()

    async def go_on(record: RunRecord) -> bool:
        gone_on.append(record.id)
        return True

    upkeep = upkeep_of(two, clock, go_on=go_on)
    while not gone_on:
        clock.advance(1)
        await look(upkeep)
        await upkeep.claim()  # again, with the same look
        await settle()
    for count in (1, 2):
        assert gone_on == ["r1", "r2", "r3"][:count]
        await look(upkeep)
        await settle()
    assert gone_on == ["r1", "r2", "r3"]


async def test_a_worker_does_not_take_its_own_runs_over(stores: tuple[Store, Store]) -> None:
    one, _ = stores
    record = await begin(one)
    await look(upkeep_of(one, FakeClock(jump=False)))
    found = await one.runs.find(record.id)
    assert found is not None
    assert (found.status, found.epoch) == ("running", record.epoch)


async def test_a_run_that_may_have_been_begun_is_removed(store: Store) -> None:
    record = await begin(store)
    upkeep = upkeep_of(store, FakeClock(jump=False))
    for run_id in (record.id, "never-begun"):
        upkeep.doubt(new_run(run_id, context_id=record.context_id))
    await upkeep.look()
    assert await latest(store, user_id=None, limit=10) == []
    assert await store.conversations.load("local", record.context_id) is None


async def test_texts_of_old_runs_go_after_their_time(store: Store) -> None:
    async with managed(store, [answers()], options=OPTIONS) as it:
        record = (await it.ask()).record
        await settle()
        with capture_logs() as logs:
            it.clock.advance(60)
            for _ in range(200):
                await store.ping()  # a round trip of the database: the timer's own work needs some
                if any(each["event"] == "runs.pruned" for each in logs):
                    break
        pruned = await store.runs.find(record.id)
        assert pruned is not None
        assert (pruned.answer, pruned.turns, pruned.tokens_used) == (None, record.turns, record.tokens_used)
        assert await store.log.events(record.id) == []


async def test_what_was_being_forgotten_goes_also_where_everything_is_kept(store: Store) -> None:
    async with managed(store, [answers()], options=RunOptions(prune_s=60)) as it:
        record = (await it.ask()).record
        await store.write(lambda connection: mark_forgotten(connection, [record.id], at=1.0))
        await settle()
        it.clock.advance(60)

        async def is_gone() -> bool:
            return not await store.log.events(record.id)

        assert await until(is_gone)


async def test_texts_that_were_being_dropped_go_also_where_they_are_kept_now(store: Store) -> None:
    async with managed(store, [answers()], options=RunOptions(prune_s=60)) as it:
        record = (await it.ask()).record
        marked = update(run).where(run.c.id == record.id).values(texts_dropped_at=1.0, answer="", input={})
        await store.write(lambda connection: connection.execute(marked).close())
        await settle()
        it.clock.advance(60)

        async def is_dropped() -> bool:
            return (found := await store.runs.find(record.id)) is None or found.kept == "figures"

        assert await until(is_dropped)
        assert await store.log.events(record.id, kinds={"chunk"}) == []
