"""Two workers on one PostgreSQL: a client may stream, resume and cancel on either; one ends what the other leaves."""

from asyncio import timeout
from pathlib import Path

import pytest

from benchmarks.paced import question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess
from benchmarks.service_client import Stream, call
from tests.faults.service import QUICK, checked_run, service

pytestmark = pytest.mark.asyncio(loop_scope="module")


def pair(folder: Path, provider: PacedProvider, url: str) -> tuple[ServerProcess, ServerProcess]:
    """Two workers of one database; not started yet."""
    settings = {"ORACLE_DATABASE_URL": url}
    return service(folder, provider, data="a", settings=settings), service(
        folder, provider, data="b", settings=settings
    )


async def test_a_run_of_one_worker_is_read_continued_and_cancelled_on_another(
    tmp_path: Path, provider: PacedProvider, postgresql_url: str
) -> None:
    a, b = pair(tmp_path, provider, postgresql_url)
    async with timeout(60), a:
        old = await Stream(a.address).ask(question("hang"))
        await old.until("content")
        async with b:
            # One that starts beside it leaves its runs alone.
            assert (await call(b.address, "GET", f"/api/oracle/runs/{old.run_id}"))[2]["status"] == "running"
            await _read_continued_and_cancelled(a, b, provider)
            assert (await call(b.address, "POST", f"/api/oracle/runs/{old.run_id}/cancel"))[0] == 202
            assert (await old.read_all()).chunks[-1]["termination_reason"] == "user_cancelled"


async def _read_continued_and_cancelled(a: ServerProcess, b: ServerProcess, provider: PacedProvider) -> None:
    first = await Stream(a.address).ask(question("w1"))
    await first.until("content", count=3)
    along = await Stream(b.address).resume(first.run_id, after=2)
    await along.read_all()
    await first.read_all()
    assert along.ids == first.ids[2:]
    assert along.chunks == first.chunks[2:]
    await checked_run(b.address, first.run_id, seen=first, pace=QUICK)
    context_id = first.chunks[-1]["context_id"]
    second = await Stream(b.address).ask(question("hang2"), context_id=context_id)
    await second.until("content")
    busy, _, _ = await call(a.address, "POST", "/api/oracle", body={"question": "x", "context_id": context_id})
    assert busy == 409
    accepted, _, _ = await call(a.address, "POST", f"/api/oracle/runs/{second.run_id}/cancel")
    assert accepted == 202
    await second.read_all()
    assert second.chunks[-1]["termination_reason"] == "user_cancelled"
    await provider.wait_for(lambda it: it.speaking["hang2"] == 0)
    await checked_run(a.address, second.run_id, seen=second, pace=QUICK)
