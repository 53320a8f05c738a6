"""The stage itself: a killed worker's run goes on at the same address, with the native answer."""

import pytest

from oracle.testing import ScriptedTurn
from tests.connect.stage import Node, Stage

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.usefixtures("on_both_databases")
async def test_a_run_whose_worker_is_killed_is_answered_at_the_same_address(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text=("One ", "two "), hang=True), ScriptedTurn(text="three."))
    async with stage.client() as client:
        begun = (await client.post("/api/oracle/runs", json={"question": "Count to three."})).json()
        await stage.desk.wait_request()
        await stage.kill()
    assert await stage.answer(begun["run_id"]) in ("One two three.", "three.")
    assert (await stage.done(begun["run_id"]))["termination_reason"] == "completed"


async def test_users_have_keys_and_see_their_own_runs_alone(stage: Stage) -> None:
    stage.desk.play(ScriptedTurn(text="Hello."))
    async with stage.client("bob") as client:
        run_id = (await client.post("/api/oracle", json={"question": "Hello?"})).json()["run_id"]
    assert run_id in [run["run_id"] for run in await stage.runs(user="bob")]
    assert run_id not in [run["run_id"] for run in await stage.runs()]


async def test_programs_run_in_node_22_with_the_packages(node: Node) -> None:
    (node.folder / "hello.mjs").write_text(
        'import OpenAI from "openai";\nconsole.log(JSON.stringify([process.version, typeof OpenAI]))\n'
    )
    [[version, kind]] = await node.run("hello.mjs")
    assert version.startswith("v22.")
    assert kind == "function"
