"""Two workers on one PostgreSQL: a client may stream, resume and cancel on either; one ends what the other leaves."""

from asyncio import timeout
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from benchmarks.paced import question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess
from benchmarks.service_client import Stream, call
from tests.faults.service import QUICK, checked_run, service


@pytest.fixture
async def workers(
    tmp_path: Path, provider: PacedProvider, postgresql_url: str
) -> AsyncIterator[tuple[ServerProcess, ServerProcess]]:
    settings = {"ORACLE_DATABASE_URL": postgresql_url}
    async with AsyncExitStack() as stack:
        a, b = (service(tmp_path, provider, data=name, settings=settings) for name in "ab")
        yield await stack.enter_async_context(a), await stack.enter_async_context(b)


async def test_a_run_of_one_worker_is_read_continued_and_cancelled_on_the_other(
    workers: tuple[ServerProcess, ServerProcess], provider: PacedProvider
) -> None:
    a, b = workers
    async with timeout(60):
        first = await Stream(a.address).ask(question("w1"))
        await first.until("content", count=3)
        along = await Stream(b.address).resume(first.run_id, after=2)
        await along.read_all()
        await first.read_all()
        assert along.ids == first.ids[2:]
        assert along.chunks == first.chunks[2:]
        await checked_run(b.address, first.run_id, seen=first, pace=QUICK)
        context_id = first.chunks[-1]["context_id"]
        second = await Stream(b.address).ask(question("hang"), context_id=context_id)
        await second.until("content")
        busy, _, _ = await call(a.address, "POST", "/api/oracle", body={"question": "x", "context_id": context_id})
        assert busy == 409
        accepted, _, _ = await call(a.address, "POST", f"/api/oracle/runs/{second.run_id}/cancel")
        assert accepted == 202
        await second.read_all()
        assert second.chunks[-1]["termination_reason"] == "user_cancelled"
        await provider.wait_for(lambda it: it.speaking["hang"] == 0)
        await checked_run(a.address, second.run_id, seen=second, pace=QUICK)


async def test_a_worker_that_starts_beside_another_leaves_its_runs_alone(
    tmp_path: Path, provider: PacedProvider, postgresql_url: str
) -> None:
    settings = {"ORACLE_DATABASE_URL": postgresql_url}
    async with timeout(60), service(tmp_path, provider, data="a", settings=settings) as a:
        stream = await Stream(a.address).ask(question("hang"))
        await stream.until("content")
        async with service(tmp_path, provider, data="b", settings=settings) as b:
            _, _, row = await call(b.address, "GET", f"/api/oracle/runs/{stream.run_id}")
            assert row["status"] == "running"
            assert (await call(b.address, "POST", f"/api/oracle/runs/{stream.run_id}/cancel"))[0] == 202
            assert (await stream.read_all()).chunks[-1]["termination_reason"] == "user_cancelled"


@pytest.mark.soak
async def test_the_runs_of_a_killed_worker_are_ended_by_the_other(
    workers: tuple[ServerProcess, ServerProcess],
) -> None:
    """After 15 s of silence, looked for every 5 s."""
    a, b = workers
    streams = [await Stream(a.address).ask(question(tag)) for tag in ("hang", "x1", "x2")]
    for stream in streams:
        await stream.until("content")
    along = await Stream(b.address).resume(streams[0].run_id)
    await a.kill()
    async with timeout(25):
        await along.read_all()
        for stream in streams:
            told = await checked_run(b.address, stream.run_id, seen=stream, pace=QUICK)
            assert [chunk["error_type"] for chunk in told.chunks if chunk["type"] == "error"] == ["interrupted"]
    assert along.chunks[-1]["type"] == "done"
