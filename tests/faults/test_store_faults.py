"""A database that cannot be written for a while: nothing is lost, nothing is sent before it is durable."""

import resource
import sqlite3
from asyncio import TaskGroup, timeout
from collections.abc import AsyncIterator, Callable
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import pytest_asyncio

from benchmarks.paced import question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess
from benchmarks.service_client import Stream, call
from tests.faults.proxy import Proxy
from tests.faults.service import QUICK, broken_pages, checked_run, service

GUARD_S = 60
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(folder: Path, provider: PacedProvider) -> AsyncIterator[ServerProcess]:
    """One for all: what a test breaks it mends."""
    async with service(folder, provider) as running:
        yield running


async def until_noticed(server: ServerProcess) -> None:
    """The store is known to be out of order: with the next commit, which runs under way bring at once."""
    while (await call(server.address, "GET", "/readyz"))[0] != 503:
        pass


async def begun(server: ServerProcess, *tags: str) -> list[Stream]:
    """Streams of runs under way, each of which has said something."""
    streams = [await Stream(server.address).ask(question(tag)) for tag in tags]
    for stream in streams:
        await stream.until("content")
    return streams


async def ended_whole(server: ServerProcess, streams: list[Stream]) -> None:
    """The streams come to their ends, and nothing is missing."""
    for stream in streams:
        await stream.read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed", stream.chunks[-1]
        await checked_run(server.address, stream.run_id, seen=stream, pace=QUICK)
    assert (await call(server.address, "GET", "/readyz"))[0] == 200


@contextmanager
def locked(database: Path):
    """Another process is writing, and does not come to an end."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def break_store(folder: Path, server: ServerProcess, fault: str) -> Callable[[], object]:
    """Break the store; what is returned mends it."""
    database = folder / "data" / "oracle.db"
    if fault == "full":
        _, most = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (4096, most))  # of any file: its log as well
        return lambda: resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (most, most))
    if fault == "vanished":
        database.rename(folder / "elsewhere.db")
        return lambda: (folder / "elsewhere.db").rename(database)
    holding = locked(database)
    holding.__enter__()
    return lambda: holding.__exit__(None, None, None)


async def test_a_lock_of_another_process_delays_and_loses_nothing(
    folder: Path, provider: PacedProvider, server: ServerProcess
) -> None:
    async with timeout(GUARD_S):
        streams = await begun(server, "l1", "l2")
        with locked(folder / "data" / "oracle.db"):
            held = [len(stream.chunks) for stream in streams]
            await provider.wait_for(lambda it: it.speaking["l1"] == it.speaking["l2"] == 0)
            # The turn is over at the provider. Only what is durable is sent, and the tree does not continue.
            assert all(provider.asked[tag, 2] == 0 for tag in ("l1", "l2"))
        assert all(len(stream.chunks) >= before for stream, before in zip(streams, held, strict=True))
        await ended_whole(server, streams)


async def test_a_full_disk_is_reported_and_loses_nothing(folder: Path, server: ServerProcess) -> None:
    async with timeout(GUARD_S):
        streams = await begun(server, "d1", "d2", "d3")
        mend = break_store(folder, server, "full")
        await until_noticed(server)
        mend()
        await ended_whole(server, streams)
        assert broken_pages(folder / "data" / "oracle.db") == []


async def test_a_missing_database_file_is_reported_and_used_again_when_it_is_back(
    folder: Path, server: ServerProcess
) -> None:
    async with timeout(GUARD_S):
        streams = await begun(server, "v1", "v2")
        mend = break_store(folder, server, "vanished")
        await until_noticed(server)
        assert (await call(server.address, "GET", "/healthz"))[0] == 200
        mend()
        await ended_whole(server, streams)


async def test_terminated_backends_of_postgresql_lose_nothing(
    tmp_path: Path, provider: PacedProvider, postgresql_url: str
) -> None:
    async with (
        timeout(GUARD_S),
        service(tmp_path, provider, settings={"ORACLE_DATABASE_URL": postgresql_url}) as server,
    ):
        streams = await begun(server, "t1", "t2", "t3")
        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            for _ in range(3):
                ended = connection.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                ).fetchone()
                assert ended is not None
                await streams[0].until("content")
        await ended_whole(server, streams)


async def test_an_unreachable_postgresql_is_reported_and_waited_for(
    tmp_path: Path, provider: PacedProvider, postgresql_url: str
) -> None:
    url = urlsplit(postgresql_url)
    async with timeout(GUARD_S), Proxy(url.hostname or "127.0.0.1", url.port or 5432) as proxy:
        through = url._replace(netloc=f"{url.username}@127.0.0.1:{proxy.port}").geturl()
        async with service(tmp_path, provider, settings={"ORACLE_DATABASE_URL": through}) as server:
            streams = await begun(server, "u1", "u2", "u3")
            proxy.cut()
            await until_noticed(server)
            proxy.mend()
            await ended_whole(server, streams)


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["full", "locked", "vanished"])
async def test_after_a_minute_without_a_store_queries_are_refused_and_nothing_is_lost(
    folder: Path, server: ServerProcess, fault: str
) -> None:
    """Longer than the patience of readers (30 s): the runs wait, and go on once they can be written."""
    async with timeout(100):
        streams = await begun(server, "m1", "m2", "hang")
        mend = break_store(folder, server, fault)
        refused = await _refusals(server, 3)
        assert all(status == 503 and "retry-after" in headers for status, headers in refused), refused
        memory = server.rss_bytes
        for stream in streams:  # no stream waits without end
            await stream.read_all()
        assert server.rss_bytes - memory < 20_000_000
        mend()
        *told, hanging = streams
        for stream in told:
            ended = await checked_run(server.address, stream.run_id, seen=stream)
            assert ended.chunks[-1]["termination_reason"] == "completed"
        # Of this one nothing waited to be written; it goes on.
        assert (await call(server.address, "POST", f"/api/oracle/runs/{hanging.run_id}/cancel"))[0] == 202
        ended = await checked_run(server.address, hanging.run_id, seen=hanging)
        assert ended.chunks[-1]["termination_reason"] == "user_cancelled"
        after = await begun(server, "m3")
        await ended_whole(server, after)


async def _refusals(server: ServerProcess, count: int) -> list[tuple[int, dict[str, str]]]:
    answers: list[tuple[int, dict[str, str]]] = []

    async def ask(number: int) -> None:
        body = {"question": question(f"n{number}")}
        status, headers, _ = await call(server.address, "POST", "/api/oracle/stream", body=body)
        answers.append((status, headers))

    async with TaskGroup() as group:
        for number in range(count):
            group.create_task(ask(number))
    return answers
