"""`web/client`: asks, reads with a connection that is lost, answers, and stops."""

import asyncio
import json
from pathlib import Path

import pytest

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import answers, calls, says
from tests.connect.stage import PATIENCE_S, Node, Stage, token

pytestmark = pytest.mark.asyncio(loop_scope="session")

CLIENT = Path(__file__).parents[2] / "web" / "client" / "client.ts"


async def test_the_client_reads_each_chunk_once_although_its_connection_is_lost(node: Node, stage: Stage) -> None:
    stage.desk.play(
        says("Let me see.", calls("where_is")),
        answers("You are in Lima."),
        ScriptedTurn(text=("It goes on ", "here "), hang=True),
    )
    process = await node.start("web_client.mjs", str(CLIENT), stage.url, token("alice"))
    assert process.stdin is not None
    assert process.stdout is not None
    said = []
    async for line in process.stdout:
        said.append(json.loads(line))
        if isinstance(said[-1], dict) and said[-1]["type"] == "question":
            stage.proxy.cut()
            process.stdin.write(b"\n")  # its answer finds the line cut, and is sent again
            async with asyncio.timeout(PATIENCE_S):
                await stage.proxy.was_refused.wait()
            stage.proxy.mend()
    assert process.stderr is not None
    assert await process.wait() == 0, (await process.stderr.read()).decode()
    refused, is_same, *chunks, are_numbered, is_rest, is_in_conversation, stopped, has_waited = said
    assert refused[:2] == [True, 422]
    assert "question" in refused[2]
    assert [is_same, are_numbered, is_rest, is_in_conversation, has_waited] == [True] * 5
    assert stopped == "user_cancelled"
    run_id = chunks[-1]["run_id"]
    assert chunks == await stage.chunks(run_id)
    assert "".join(chunk["content"] for chunk in chunks if chunk["type"] == "content").endswith("You are in Lima.")
