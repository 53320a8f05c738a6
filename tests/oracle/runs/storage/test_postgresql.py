"""Several workers on one PostgreSQL database, and a server that comes and goes."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import psycopg
import pytest
from sqlalchemy import Connection, func, insert, select, text

from oracle.runs.storage.errors import RunLostError, StoreUnavailableError, TooManyRunsError
from oracle.runs.storage.postgresql import _ENTER_FENCE, _fence
from oracle.runs.storage.records import RunCommand, RunRecord
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.user_settings import user_settings
from tests.oracle.runs.storage.making import DONE, END, beats, begun, content, heard, new_run
from tests.oracle.runs.storage.proxy import proxied
from tests.support.waiting import until

pytestmark = pytest.mark.long("waits for leases, notifications and the patience of a server")


async def pid_of_writer(store: Store) -> int:
    return await store.write(lambda connection: connection.scalar(text("SELECT pg_backend_pid()")))


async def test_workers_that_start_at_once_migrate_once(empty_postgresql_url: str) -> None:
    async with AsyncExitStack() as stack:
        opening = [stack.enter_async_context(open_store(empty_postgresql_url, worker=f"worker-{n}")) for n in range(4)]
        stores = await asyncio.gather(*opening)
        versions = select(text("version_num")).select_from(text("alembic_version"))
        for store in stores:
            assert len(await store.database.read(lambda connection: connection.scalars(versions).all())) == 1


async def test_a_run_is_followed_live_on_another_worker(two: tuple[Store, Store]) -> None:
    one, other = two
    log = await begun(one)
    log.chunk(content(0))
    await log.flush()
    follower = asyncio.create_task(heard(other))
    for number in range(1, 300):
        log.chunk(content(number))
        if number % 7 == 0:
            await log.flush()
    await log.finish(DONE, END)
    async with asyncio.timeout(20):
        assert await follower == list(range(1, 302))


async def test_very_many_runs_in_one_commit_wake_all_their_followers(two: tuple[Store, Store]) -> None:
    one, other = two
    names = [f"{'r' * 50}-{number}" for number in range(200)]  # more than one notification takes
    logs = await asyncio.gather(*(begun(one, name, context_id=name) for name in names))
    followers = [asyncio.create_task(heard(other, name)) for name in names]
    await until(lambda: sum(bool(tail._waiting) for tail in other.log._tails) == len(names))
    await asyncio.gather(*(log.finish(DONE, END) for log in logs))
    async with asyncio.timeout(30):
        assert await asyncio.gather(*followers) == [[1]] * len(names)


async def test_a_command_reaches_only_the_worker_of_the_run(two: tuple[Store, Store]) -> None:
    one, other = two
    of_one, of_other = asyncio.Queue[RunCommand](), asyncio.Queue[RunCommand]()
    one.commands.subscribe(of_one.put_nowait)
    other.commands.subscribe(of_other.put_nowait)
    await begun(one)
    await other.commands.send(RunCommand("run-1", "cancel"))
    async with asyncio.timeout(20):
        assert await of_one.get() == RunCommand("run-1", "cancel")
    assert of_one.empty()
    assert of_other.empty()


async def take_all(store: Store) -> list[RunRecord]:
    """Take the runs of all other workers, as if all of them had been silent."""
    return await store.claims.take_over(await beats(store))


async def test_a_silent_run_is_taken_by_one_worker_only(postgresql_url: str) -> None:
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(open_store(postgresql_url, worker=f"w{n}")) for n in range(4)]
        for number in range(20):
            await stores[0].runs.begin(new_run(f"run-{number}"))
        silent = await beats(stores[1])  # once: a later reader would see the first take-over
        taken = await asyncio.gather(*(store.claims.take_over(silent) for store in stores[1:]))
        names = [(run.id, run.worker) for runs, store in zip(taken, stores[1:], strict=True) for run in runs]
        assert sorted(name for name, _ in names) == sorted(f"run-{number}" for number in range(20))
        for name, worker in names:
            run = await stores[0].runs.find(name)
            assert run is not None
            assert (run.worker, run.epoch) == (worker, 2)


async def test_a_worker_that_has_shown_itself_since_it_was_looked_at_keeps_its_runs(two: tuple[Store, Store]) -> None:
    one, other = two
    await one.runs.begin(new_run())
    seen = await beats(other)
    assert list(seen) == ["one"]
    await one.claims.beat()
    assert await other.claims.take_over(seen) == []
    assert await beats(one) == {}  # of the others


async def test_a_worker_that_lost_a_run_is_fenced_off(two: tuple[Store, Store]) -> None:
    one, other = two
    told = list[bool]()
    log = await begun(one)
    log.on_lost = lambda: told.append(log.is_lost)
    log.chunk(content("a"))
    await log.flush()
    follower = asyncio.create_task(heard(one))
    (taken,) = await take_all(other)
    for _ in range(5):
        log.chunk(content("never"))
    with pytest.raises(RunLostError):
        await log.flush()
    with pytest.raises(RunLostError):
        await log.finish(DONE, END)
    assert told == [True]
    assert await other.log.last_chunk("run-1") == 1
    again = other.log.writer(taken, seq=1, chunk_n=1)
    again.chunk(content("interrupted"))
    await again.finish(DONE, END)
    async with asyncio.timeout(20):
        assert await follower == [1, 2, 3]


async def test_a_worker_that_is_committing_is_not_silent(two: tuple[Store, Store]) -> None:
    one, other = two
    await one.runs.begin(new_run())
    loop, entered, leave = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def hold(connection: object) -> None:
        loop.call_soon_threadsafe(entered.set)
        asyncio.run_coroutine_threadsafe(leave.wait(), loop).result(20)

    holding = asyncio.create_task(one.write(hold))
    await entered.wait()
    assert await take_all(other) == []
    leave.set()
    await holding
    assert len(await take_all(other)) == 1


async def test_a_worker_that_was_stopped_in_the_middle_of_a_commit_loses_its_runs(
    postgresql_url: str, two: tuple[Store, Store]
) -> None:
    one, other = two
    log = await begun(one)
    stopped = psycopg.connect(postgresql_url)
    stopped.execute(_ENTER_FENCE.encode(), (_fence("one"),))
    copying = stopped.cursor().copy("COPY event (run_id, seq, kind, data, at) FROM STDIN")
    copying.__enter__().write_row(("run-1", 1, "tick", "{}", 1.0))
    assert await take_all(other) == []
    async with asyncio.timeout(20):
        while not (taken := await take_all(other)):
            pass
    with pytest.raises(psycopg.OperationalError):
        copying.__exit__(None, None, None)
    stopped.close()
    assert [run.epoch for run in taken] == [2]
    log.chunk(content("never"))
    with pytest.raises(RunLostError):
        await log.flush()


async def test_two_workers_together_give_a_user_no_more_runs_than_one_may_have(two: tuple[Store, Store]) -> None:
    news = [new_run(f"run-{number}") for number in range(20)]
    beginnings = [two[number % 2].runs.begin(new, most_per_user=3) for number, new in enumerate(news)]
    results = await asyncio.gather(*beginnings, return_exceptions=True)
    assert {type(result) for result in results} == {RunRecord, TooManyRunsError}
    assert sum(isinstance(result, RunRecord) for result in results) == 3


async def test_commands_of_a_run_that_was_taken_over_go_to_its_new_worker(two: tuple[Store, Store]) -> None:
    one, other = two
    await one.runs.begin(new_run())
    await other.commands.send(RunCommand("run-1", "cancel"))  # nobody listens there
    queue: asyncio.Queue[RunCommand] = asyncio.Queue()
    other.commands.subscribe(queue.put_nowait)
    await take_all(other)
    other.commands.look()  # as who goes on with the run does, when it takes commands for it
    async with asyncio.timeout(20):
        assert (await queue.get()).kind == "cancel"


async def test_a_writer_whose_connection_is_ended_by_the_server_loses_nothing(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="worker-1") as store:
        log = await begun(store)
        follower = asyncio.create_task(heard(store))
        for _ in range(5):
            pid = await pid_of_writer(store)
            for _ in range(200):
                log.chunk(content("a"))
                await asyncio.sleep(0)
            with psycopg.connect(postgresql_url, autocommit=True) as connection:
                connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
            await log.flush()
        await log.finish(DONE, END)
        async with asyncio.timeout(20):
            assert await follower == list(range(1, 1002))


async def test_a_commit_whose_answer_is_lost_is_done_once(postgresql_url: str) -> None:
    async with proxied(postgresql_url) as (url, proxy), open_store(url, worker="worker-1") as store:
        log = await begun(store)
        runs = list[int]()

        def add(connection: object) -> int:
            runs.append(1)
            row = {"user_id": f"user-{len(runs)}", "data": {}, "revision": 1, "at": 0.0}
            connection.execute(insert(user_settings), row)  # type: ignore[attr-defined]
            return len(runs)

        for number in range(3):
            for _ in range(10):
                log.chunk(content("a"))
            proxy.loses_next_commit = True
            assert await store.write(add) == number + 1
        assert proxy.lost_commits == 3
        proxy.loses_next_commit = True
        await log.finish(DONE, END)
        assert proxy.lost_commits == 4
        assert not log.is_lost
        assert await heard(store) == list(range(1, 32))
        query = select(func.count()).select_from(user_settings)
        assert await store.database.read(lambda connection: connection.scalar(query)) == 3


async def test_new_events_are_announced_after_their_commit_and_an_end_with_it(postgresql_url: str) -> None:
    """A notification locks the whole server until the commit of its transaction is on disk."""
    async with open_store(postgresql_url, worker="worker-1") as store:
        notify, in_transactions = store.database.dialect.notify, list[int | None]()

        def note(connection: Connection, channel: str, notes: Sequence[str]) -> None:
            query = "SELECT txid_current_if_assigned()"  # there is one as soon as something was written
            in_transactions.append(connection.exec_driver_sql(query).scalar_one())
            notify(connection, channel, notes)

        store.database.dialect.notify = note  # type: ignore[method-assign]
        log = await begun(store)
        log.chunk(content("a"))
        await log.flush()
        await log.finish(DONE, END)
        *of_events, of_end = in_transactions
        assert set(of_events) == {None}
        assert of_end is not None


async def test_a_server_that_is_away_is_waited_for(postgresql_url: str) -> None:
    async with proxied(postgresql_url) as (url, proxy), open_store(url, worker="worker-1", patience_s=0.3) as store:
        log = await begun(store)
        follower = asyncio.create_task(heard(store))
        proxy.refuses = True
        proxy.cut()
        log.chunk(content("a"))
        await until(lambda: store.health.problem is not None)
        assert "s3cret" not in str(store.health.problem)
        with pytest.raises(StoreUnavailableError):
            await store.write(lambda _: None)
        with pytest.raises(StoreUnavailableError):
            await store.ping()
        assert not follower.done()
        proxy.refuses = False
        await until(lambda: store.health.problem is None)
        await log.finish(DONE, END)
        async with asyncio.timeout(20):
            assert await follower == [1, 2]


async def test_a_follower_elsewhere_goes_on_after_its_connection_broke(postgresql_url: str) -> None:
    async with (
        proxied(postgresql_url) as (url, proxy),
        open_store(postgresql_url, worker="one") as one,
        open_store(url, worker="other") as other,
    ):
        log = await begun(one)
        follower = asyncio.create_task(heard(other))
        queue: asyncio.Queue[RunCommand] = asyncio.Queue()
        other.commands.subscribe(queue.put_nowait)
        await other.runs.begin(new_run("others"))
        await until(lambda: any(tail._waiting for tail in other.log._tails))
        proxy.cut()
        log.chunk(content("a"))
        await log.finish(DONE, END)  # nobody may be listening just now
        await one.commands.send(RunCommand("others", "cancel"))
        async with asyncio.timeout(20):
            assert await follower == [1, 2]
            assert (await queue.get()).kind == "cancel"


@pytest.mark.soak
async def test_a_server_that_does_not_answer_is_a_problem(postgresql_url: str) -> None:
    async with proxied(postgresql_url) as (url, proxy), open_store(url, worker="worker-1", patience_s=0.1) as store:
        log = await begun(store)
        proxy.freeze()
        log.chunk(content("a"))
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            await store.write(lambda _: None)
        proxy.thaw()
        await until(lambda: store.health.problem is None)
        await log.finish(DONE, END)
        assert await heard(store) == [1, 2]
