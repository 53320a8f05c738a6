"""The writer: order, groups, failures that pass, entries that can never be written."""

import asyncio
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, insert, select, text, update

from oracle.runs.storage import schema
from oracle.runs.storage.errors import RunBrokenError, RunLostError, StoreUnavailableError
from oracle.runs.storage.run_log import RunLog
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.user_settings import user_settings
from oracle.runs.storage.writer import CommitFigures
from tests.oracle.runs.storage.making import DONE, END, begun, content, heard, new_run
from tests.support.waiting import until


def count_events(connection: Connection) -> int:
    return connection.execute(select(func.count()).select_from(schema.event)).scalar_one()


def add_settings(user: str) -> Callable[[Connection], None]:
    row = {"user_id": user, "data": {}, "revision": 1, "at": 0.0}
    return lambda connection: connection.execute(insert(user_settings), row).close()


async def users(store: Store) -> list[str]:
    query = select(user_settings.c.user_id).order_by(user_settings.c.user_id)
    return await store.database.read(lambda connection: list(connection.scalars(query)))


@contextmanager
def locked(store: Store) -> Iterator[None]:
    """Another program holds the write lock of the file."""
    with sqlite3.connect(str(store.database.file), isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            other.execute("ROLLBACK")
    other.close()


@pytest.fixture
async def file_store(sqlite_url: str) -> AsyncIterator[Store]:
    async with open_store(sqlite_url, worker="worker-1") as opened:
        yield opened


async def test_a_write_sees_what_was_appended_before_it(store: Store) -> None:
    log = await begun(store)
    for number in range(1, 6):
        log.chunk(content(number))
        log.append("tick", b"{}")
        assert await store.write(count_events) == 2 * number


async def test_what_a_write_raises_affects_no_other_write(store: Store) -> None:
    def spoil(connection: Connection) -> None:
        add_settings("spoilt")(connection)
        raise KeyError("spoilt")

    log = await begun(store)
    log.chunk(content("a"))
    good, bad, double, after = await asyncio.gather(
        store.write(add_settings("ann")),
        store.write(spoil),
        store.write(add_settings("ann")),
        store.write(add_settings("zoe")),
        return_exceptions=True,
    )
    assert (good, after) == (None, None)
    assert isinstance(bad, KeyError)
    assert type(double).__name__ == "IntegrityError"
    assert await users(store) == ["ann", "zoe"]
    assert await store.log.last_chunk("run-1") == 1
    assert store.health.problem is None


async def test_a_write_with_invalid_sql_delays_no_other_write(store: Store) -> None:
    with pytest.raises(Exception, match="no_such_table"):
        await store.write(lambda connection: connection.execute(text("SELECT * FROM no_such_table")).close())
    await store.write(add_settings("ann"))
    assert await users(store) == ["ann"]


async def test_a_run_with_something_that_cannot_be_written_stops_alone_and_without_a_gap(store: Store) -> None:
    good, bad = await begun(store, "good"), await begun(store, "bad")
    bad.chunk(content("kept"))
    await bad.flush()
    twin = store.log.writer(await store.runs.find("bad"))  # type: ignore[arg-type]  # numbers that are taken already
    good.chunk(content("a"))
    twin.chunk(content("never"))
    good.chunk(content("b"))
    twin.chunk(content("never either"))
    await good.flush()
    with pytest.raises(RunBrokenError, match="'bad' can never be written"):
        await twin.flush()
    with pytest.raises(RunBrokenError):
        await twin.finish(DONE, END)
    assert not twin.is_lost
    assert store.health.problem is None
    await good.finish(DONE, END)
    assert await heard(store, "good") == [1, 2, 3]
    assert [event.data for event in await store.log.events("bad")] == [content("kept")]

    again = store.log.writer(await store.runs.find("bad"), seq=1, chunk_n=1)  # type: ignore[arg-type]
    await again.finish(DONE, END)
    assert await heard(store, "bad") == [1, 2]


async def test_a_run_cannot_end_in_the_commit_in_which_it_breaks(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("kept"))
    await log.flush()
    twin = store.log.writer(await store.runs.find("run-1"))  # type: ignore[arg-type]
    twin.chunk(content("never"))
    with pytest.raises(RunBrokenError):
        await twin.finish(DONE, END)
    run = await store.runs.find("run-1")
    assert run is not None
    assert run.status == "running"


async def test_figures_of_every_commit_are_observed(store_url: str) -> None:
    figures: list[CommitFigures] = []
    async with open_store(store_url, worker="worker-1", observe=figures.append) as store:
        log = await begun(store)
        for _ in range(100):
            log.chunk(content("a"))
        await log.flush()
    assert sum(each.events for each in figures) == 100
    assert all(each.queue_s >= 0 and each.commit_s > 0 for each in figures)


def hold_tick(log: RunLog, *chunks: str) -> None:
    """A tick that sends chunks."""
    log.hold()
    for text_ in chunks:
        log.chunk(content(text_))
    log.append("tick", b"{}")


async def test_a_tick_and_what_it_has_sent_are_one_commit_however_few_entries_a_commit_takes(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oracle.runs.storage.writer._MOST_ENTRIES", 1)
    figures: list[CommitFigures] = []
    async with open_store(store_url, worker="worker-1", observe=figures.append) as store:
        log = await begun(store)
        log.chunk(content("before"))
        hold_tick(log, "a", "b", "c")
        log.release()
        log.chunk(content("after"))
        await log.flush()
        kinds = [event.kind for event in await store.log.events("run-1")]
    assert kinds == ["chunk", "chunk", "chunk", "chunk", "tick", "chunk"]
    assert [each.events for each in figures if each.events] == [1, 4, 1]


async def test_nothing_of_a_tick_is_written_before_it_is_complete(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("before"))
    hold_tick(log, "a")
    assert log.pending_since_s is not None
    assert await store.write(count_events) == 1
    log.release()
    assert await store.write(count_events) == 3
    assert log.pending_since_s is None


async def test_who_waits_for_a_commit_or_the_end_lets_go_what_is_held(store: Store) -> None:
    log = await begun(store)
    hold_tick(log, "a")
    await log.flush()
    assert await store.write(count_events) == 2
    hold_tick(log, "b")
    hold_tick(log, "c")  # the one before was never completed: its run raised
    await log.finish(DONE, END)
    assert await heard(store) == [1, 2, 3, 4]


async def test_what_follows_from_a_tick_is_written_in_its_commit(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oracle.runs.storage.writer._MOST_ENTRIES", 1)
    figures: list[CommitFigures] = []
    seen: list[int] = []
    async with open_store(store_url, worker="worker-1", observe=figures.append) as store:
        log = await begun(store)

        def follow(connection: Connection) -> None:
            seen.append(count_events(connection))
            add_settings("ann")(connection)

        log.hold()
        log.chunk(content("a"))
        log.with_commit(follow)
        log.append("tick", b"{}")
        log.release()
        await log.flush()
        assert await users(store) == ["ann"]
        log.with_commit(add_settings("zoe"))  # of no tick
        await log.flush()
        assert await users(store) == ["ann", "zoe"]
        assert log.pending_since_s is None
    assert seen == [2]
    assert [each.events for each in figures if each.events] == [2]


async def test_a_tick_whose_work_can_never_be_done_is_not_written_and_its_run_stops_alone(store: Store) -> None:
    good, bad = await begun(store, "good"), await begun(store, "bad")
    bad.chunk(content("kept"))
    good.with_commit(add_settings("ann"))
    hold_tick(bad, "never")
    bad.with_commit(add_settings("ann"))  # there is one already
    bad.release()
    bad.chunk(content("never either"))
    good.chunk(content("a"))
    with pytest.raises(RunBrokenError, match="a tick of the run 'bad' can never be written"):
        await bad.flush()
    await good.flush()
    assert [event.data for event in await store.log.events("bad")] == [content("kept")]
    assert await users(store) == ["ann"]
    bad.with_commit(add_settings("zoe"))
    await store.write(count_events)
    assert await users(store) == ["ann"]


async def test_a_worker_that_was_taken_over_writes_no_work_of_its_ticks(store: Store) -> None:
    log = await begun(store)
    await store.write(lambda connection: connection.execute(update(schema.run).values(epoch=99)).close())
    log.with_commit(add_settings("ann"))
    with pytest.raises(RunLostError):
        await log.flush()
    assert await users(store) == []


async def test_closing_writes_what_waits(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1") as store:
        log = await begun(store)
        for _ in range(50):
            log.chunk(content("a"))
    async with open_store(store_url, worker="worker-2") as store:
        assert await store.log.last_chunk("run-1") == 50


async def test_a_closed_store_refuses_instead_of_hanging(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1") as store:
        log = await begun(store)
    log.chunk(content("too late"))
    with pytest.raises(StoreUnavailableError, match="closed"):
        await log.flush()
    with pytest.raises(StoreUnavailableError, match="closed"):
        await store.runs.find("run-1")


async def test_followers_get_nothing_while_the_file_is_locked_and_everything_after_that(file_store: Store) -> None:
    store = file_store
    log, numbers = await begun(store), list[int]()
    follower = asyncio.create_task(heard(store, each=numbers.append))
    with locked(store):
        for _ in range(20):
            log.chunk(content("a"))
        await until(lambda: store.health.problem is not None)
        assert store.health.problem == "database is locked"
        assert store.health.since_s is not None
        log.chunk(content("b"))
        assert numbers == []
        assert await store.log.last_chunk("run-1") == 0
        await store.ping()  # it can be read all the time
    await log.flush()
    assert store.health.problem is None
    assert store.health.since_s is None
    await log.finish(DONE, END)
    async with asyncio.timeout(20):
        assert await follower == list(range(1, 23))


@pytest.mark.long("waits for the store's patience")
async def test_beyond_the_patience_callers_get_an_error_and_nothing_is_dropped(sqlite_url: str) -> None:
    async with open_store(sqlite_url, worker="worker-1", patience_s=0.5) as store:
        log = await begun(store)
        with locked(store):
            log.chunk(content("a"))
            patient = [asyncio.create_task(log.flush()), asyncio.create_task(log.finish(DONE, END))]
            write, begin = await asyncio.gather(
                store.write(add_settings("ann")),
                store.runs.begin(new_run("run-2")),
                return_exceptions=True,
            )
            for error in (write, begin):
                assert isinstance(error, StoreUnavailableError), error
                assert "database is locked" in str(error)
            assert not any(task.done() for task in patient)
        await asyncio.gather(*patient)
        assert await heard(store) == [1, 2]
        assert await users(store) == []
        assert await store.runs.find("run-2") is None


async def test_a_full_disk_is_waited_out(file_store: Store) -> None:
    store = file_store
    log = await begun(store)

    def set_pages(number: int) -> None:
        with store.database.writing() as connection:
            connection.exec_driver_sql(f"PRAGMA max_page_count={number}")

    set_pages(1)  # means: no more than there are
    follower = asyncio.create_task(heard(store))
    for _ in range(100):
        log.chunk(content("x" * 1000))
    await until(lambda: store.health.problem is not None)
    assert store.health.problem == "database or disk is full"
    assert await store.log.last_chunk("run-1") == 0
    set_pages(1_000_000)
    await log.finish(DONE, END)
    assert store.health.problem is None
    async with asyncio.timeout(20):
        assert await follower == list(range(1, 102))


async def test_a_missing_file_is_reported_and_waited_for(file_store: Store) -> None:
    store = file_store
    log, file = await begun(store), store.database.file
    assert file is not None
    aside = file.with_name("aside.db")
    file.rename(aside)
    log.chunk(content("a"))
    await until(lambda: store.health.problem is not None)
    assert "is gone" in str(store.health.problem)
    shutil.copy(aside, file)  # another file of the same name is not it either: it would lack what follows
    log.chunk(content("b"))
    await until(lambda: store.health.problem is not None)
    aside.replace(file)
    await log.flush()
    assert await store.log.last_chunk("run-1") == 2


_KILLED = """
import asyncio, sys
from oracle.runs.storage.store import open_store
from tests.oracle.runs.storage.making import begun, content

async def write(log):
    while True:
        for _ in range(3):
            log.chunk(content("a"))
        await log.flush()

async def read(store, name):
    async for batch in store.log.follow(name):
        print(name, batch[-1].n, flush=True)

async def main():
    async with open_store(sys.argv[1], worker="killed") as store:
        logs = [await begun(store, f"run-{number}") for number in range(5)]
        writing = [asyncio.create_task(write(log)) for log in logs]
        await asyncio.gather(*(read(store, log.run_id) for log in logs))

asyncio.run(main())
"""


def killed(store_url: str) -> dict[str, int]:
    """Have a process write and follow five runs, kill it; the last number that was heard of each."""
    command = [sys.executable, "-c", _KILLED, store_url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4])
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(100)]
    process.send_signal(signal.SIGKILL)
    lines += process.communicate(timeout=20)[0].splitlines()
    last: dict[str, int] = {}
    for line in lines:
        name, _, number = line.strip().partition(" ")
        if name.startswith("run-") and number.isdecimal():
            last[name] = int(number)
    assert len(last) == 5
    return last


@pytest.mark.long("starts and kills a process")
async def test_what_followers_got_before_a_kill_is_stored(store_url: str) -> None:
    last = await asyncio.to_thread(killed, store_url)
    async with open_store(store_url, worker="after") as store:
        for name, number in last.items():
            numbers = [event.chunk_n for event in await store.log.events(name, limit=1_000_000)]
            assert numbers == list(range(1, len(numbers) + 1))
            assert len(numbers) >= number
        assert len(await store.claims.take_over(None)) == 5
