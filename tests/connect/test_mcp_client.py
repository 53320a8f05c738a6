"""Tools of MCP servers, of which the SDK for Python makes one a program and one a service, on two workers."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from oracle.agent.outcomes import WRITE_UNKNOWN
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.connect.stage import PATIENCE_S, Stage, staged
from tests.oracle.features.mcp_client.conftest import listening
from tests.support.mcp_server import held
from tests.support.stores import NoServerError, postgresql, server

pytestmark = pytest.mark.asyncio(loop_scope="session")

ROOT = Path(__file__).parents[2]
TOOLS = ("files.look", "files.change", "board.look", "board.change")


@pytest.fixture
def database() -> Iterator[str]:
    """An empty one."""
    with ExitStack() as stack:
        try:
            url = stack.enter_context(postgresql(stack.enter_context(server())))
        except NoServerError as error:
            pytest.skip(f"PostgreSQL could not be tested: {error}")
        yield url


def results(body: Any) -> list[Any]:
    """The results of tools that a request shows the model."""
    blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
    return [block for block in blocks if block["type"] == "tool_result"]


def called(file: Path) -> list[list[str]]:
    """The tool and the process of each call."""
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


def is_there(process: str) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


async def test_what_a_killed_worker_has_called_is_looked_up_again_and_not_changed_again(
    tmp_path: Path, database: str
) -> None:
    """Four calls of one worker are under way. Its program ends with it; the worker that goes on has its own."""
    files, board = tmp_path / "files", tmp_path / "board"
    args = ["-m", "tests.support.mcp_server", "held", str(files)]
    common: dict[str, Any] = {"trusts_annotations": True, "query_types": "always"}
    async with listening(held(board).streamable_http_app()) as url:
        servers = {
            "files": {"command": sys.executable, "args": args, "env": {"PYTHONPATH": str(ROOT)}, **common},
            "board": {"url": f"{url}/mcp", **common},
        }
        (tmp_path / "servers.yaml").write_text(json.dumps({"servers": servers}))
        async with staged(tmp_path, database=database, ORACLE_MCP_SERVERS=str(tmp_path / "servers.yaml")) as stage:
            await _check(stage, files, board)


async def _check(stage: Stage, files: Path, board: Path) -> None:
    begun: dict[str, str] = {}
    stage.desk.play()
    async with stage.client() as client, asyncio.timeout(PATIENCE_S):
        for worker in stage.workers:
            while worker.logged().count("mcp_server.connected") < 2:
                await client.get(f"{worker.url}/readyz")
        for tool in TOOLS:
            stage.desk.add(ScriptedTurn(tool_calls=(ScriptedCall(tool.replace(".", "__"), {}),)))
            begun[tool] = (await client.post("/api/oracle/runs", json={"question": f"Use {tool}."})).json()["run_id"]
            file = files if tool.startswith("files") else board
            while tool.partition(".")[2] not in dict(called(file)):
                await client.get("/readyz")
        processes = {process for _, process in called(files)}
        for _ in TOOLS:
            stage.desk.add(ScriptedTurn(text="Done."))
        await stage.kill()
        while any(map(is_there, processes)):
            await client.get("/readyz")
        for run_id in begun.values():
            assert (await stage.done(run_id))["termination_reason"] == "completed"
    assert len(processes) == 1
    for file in (files, board):
        assert [tool for tool, _ in called(file)] == ["look", "change", "look"]
    for tool in TOOLS:
        [body] = [each for each in stage.desk.bodies if f"Use {tool}." in json.dumps(each) and results(each)]
        [result] = results(body)
        expected = (False, "The answer of look.") if tool.endswith("look") else (True, WRITE_UNKNOWN)
        assert (result.get("is_error", False), expected[1] in json.dumps(result)) == (expected[0], True), result
