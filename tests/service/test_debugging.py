"""`oracle serve` with live debugging: a server that is killed while a run is paused."""

import asyncio

import pytest

from tests.acceptance.scripts import answers
from tests.oracle.runs.debugging.sessions import LLM_TURN
from tests.service.queries import PATIENCE_S
from tests.service.server import serving

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.long("starts a service of its own")]


async def until_paused(client, run_id):
    async with asyncio.timeout(PATIENCE_S):
        while True:
            state = (await client.http.get(f"/api/runs/{run_id}/debug")).json()
            if state["state"] == "paused":
                return state


async def test_a_run_that_is_paused_stays_so_after_a_kill_and_the_breakpoint_is_kept(tmp_path, connect) -> None:
    async with serving(tmp_path, ORACLE_DEBUG="1", ORACLE_DEBUG_LEASE_S="3600") as server:
        assert server.desk is not None
        client = connect(server)
        body = {"kind": "node", "tree": "oracle", "path": LLM_TURN}
        made = await client.http.post("/api/debug/breakpoints", json=body)
        assert made.status_code == 201, made.text
        async with client.stream() as stream:
            await stream.until_chunk("system")
            await until_paused(client, stream.run_id)
            await server.kill()
        await server.start()
        after = connect(server)
        await until_paused(after, stream.run_id)
        assert not server.desk.requests
        server.desk.play(answers("So it is."))
        held = f"/api/runs/{stream.run_id}/debug"
        assert (await after.http.post(held, json={"command": "resume"})).status_code == 202
        whole = await after.resumed(stream.run_id)
        assert (whole.reason, whole.answer) == ("completed", "So it is.")
        assert whole.messages[0] == "Paused by an operator at tick 1. The time limit stands still."
        assert (await after.http.get(held)).json()["state"] == "ended"
        server.desk.play(answers("On it goes."))
        async with after.stream() as again:
            await until_paused(after, again.run_id)
            url = f"/api/runs/{again.run_id}/debug"
            assert (await after.http.post(url, json={"command": "resume"})).status_code == 202
            await again.rest()
        assert again.answer == "On it goes."
        await after.check_kept(again)
