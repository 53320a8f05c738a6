"""How much one user may have at a time, which models, and what becomes of a run that nobody reads any more."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.acceptance.scripts import answers, hangs, says
from tests.service.provider import Desk
from tests.service.server import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")

RUNS_PER_USER = 8


async def test_a_user_has_so_many_runs_at_a_time_and_others_are_not_held_up(
    alice: Client, bob: Client, guarded_desk: Desk
) -> None:
    guarded_desk.play(*(hangs(says("Half")) for _ in range(RUNS_PER_USER)), answers("Yes."), answers("Again."))
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(alice.stream()) for _ in range(RUNS_PER_USER)]
        await guarded_desk.wait_request(RUNS_PER_USER)
        for path in ("/api/oracle", "/api/oracle/stream"):
            refused = await alice.http.post(path, json={"question": "x"})
            assert refused.status_code == 429
            assert int(refused.headers["retry-after"]) > 0
        assert (await bob.ask()).answer == "Yes."
        await asyncio.gather(*(alice.cancel(stream.run_id) for stream in streams))
        await asyncio.gather(*(stream.rest() for stream in streams))
    assert len(guarded_desk.requests) == RUNS_PER_USER + 1
    assert (await alice.ask()).answer == "Again."


async def test_of_runs_begun_at_the_same_moment_no_more_than_the_bound_are_let_in(
    alice: Client, guarded_desk: Desk
) -> None:
    guarded_desk.play(*(hangs(says("Half")) for _ in range(RUNS_PER_USER + 4)))
    asking = [
        asyncio.create_task(alice.http.post("/api/oracle", json={"question": "x"})) for _ in range(RUNS_PER_USER + 4)
    ]
    await guarded_desk.wait_request(RUNS_PER_USER)
    listed = (await alice.http.get("/api/runs", params={"limit": 50})).json()["runs"]
    running = [run["run_id"] for run in listed if run["status"] == "running"]
    assert len(running) == RUNS_PER_USER
    await asyncio.gather(*(alice.cancel(run_id) for run_id in running))
    statuses = sorted([(await task).status_code for task in asking])
    assert statuses == [200] * RUNS_PER_USER + [429] * 4
