"""How much one user may have at a time, which models, and what becomes of a run that nobody reads any more."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from tests.acceptance.scripts import answers, hangs, says
from tests.service.provider import Desk
from tests.service.scenarios import searching
from tests.service.server import Client, Connect, Server
from tests.service.users import MODEL, REQUESTS_PER_MINUTE, bearer_of

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


@pytest.mark.long("sends more requests than a minute allows")
async def test_a_user_sends_so_many_requests_a_minute_and_others_are_not_held_up(
    guarded_server: Server, bob: Client, connect: Connect
) -> None:
    flood = connect(guarded_server, bearer_of("flood"))
    path = "/api/oracle"
    sent = [await flood.http.post(path, json={}) for _ in range(REQUESTS_PER_MINUTE)]
    assert {response.status_code for response in sent} == {422}
    more = await asyncio.gather(*(flood.http.post(path, json={}) for _ in range(REQUESTS_PER_MINUTE // 4)))
    refused = [response for response in more if response.status_code == 429]
    assert refused
    assert all(0 < int(response.headers["retry-after"]) <= 60 for response in refused)
    assert (await bob.http.post(path, json={})).status_code == 422
    assert (await flood.http.get("/api/settings/agent-config")).status_code == 200  # what reads has ten times as much
    assert (await flood.http.get("/healthz")).status_code == 200
    assert (await flood.http.post("/api/oracle/runs/x/cancel")).status_code == 404  # what ends work is let through


@pytest.mark.parametrize("path", ["/api/oracle", "/api/oracle/stream"])
async def test_only_models_that_the_operator_allows_may_be_named(alice: Client, guarded_desk: Desk, path: str) -> None:
    guarded_desk.play(answers("Yes."))
    refused = await alice.http.post(path, json={"question": "x", "model": "claude-opus-4-1"})
    assert refused.status_code == 422
    (detail,) = refused.json()["detail"]
    assert detail["loc"] == ["body", "model"]
    assert guarded_desk.requests == []
    allowed = await alice.http.post(path, json={"question": "x", "model": MODEL})
    assert allowed.status_code == 200
    assert guarded_desk.bodies[0]["model"] == MODEL


async def test_a_header_goes_before_the_address_when_a_stream_is_taken_up_again(client: Client, desk: Desk) -> None:
    desk.play(answers("One, two, three.", piece_chars=4))
    heard = await client.ask()
    response = await client.http.get(
        f"/api/oracle/runs/{heard.run_id}/stream", params={"after": 0}, headers={"Last-Event-ID": "1"}
    )
    assert response.content.startswith(b"id: 2\n")


async def test_a_running_run_has_its_progress_over_http(client: Client, desk: Desk) -> None:
    desk.play(*searching(1), hangs(says("Half")))
    async with client.stream(limits={"timeout_seconds": 30}) as stream:
        await stream.until_content("Half")
        run = await client.run(stream.run_id)
        await client.cancel(stream.run_id)
        await stream.rest()
    assert (run["status"], run["turns"], run["tokens_used"], run["finished_at"]) == ("running", 1, 10, None)
    assert run["limits"]["timeout_seconds"] == 30
    ended = await client.run(stream.run_id)
    assert ended["status"] == "finished"
    assert ended["created_at"] < ended["finished_at"] < ended["deadline_at"]
