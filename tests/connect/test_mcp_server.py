"""`/mcp` and `oracle mcp` as the protocol's SDKs for Python and JavaScript have them, and its suite of conformance."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.auth import TokenStorage
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client

from oracle.testing import ScriptedCall, ScriptedTurn
from tests.connect.stage import PATIENCE_S, SETTINGS, Node, Stage, staged, token
from tests.oracle.server.api.asking import write_trees
from tests.support.issuer import IssuerServer, private_key

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEARCH = (
    ScriptedTurn(text="I look. ", tool_calls=(ScriptedCall("search_code", {"query": "retry"}),)),
    ScriptedTurn(text="It is there."),
)
HANGS = ScriptedTurn(text=("It begins ", "here "), hang=True)
WRITES = ScriptedTurn(text="I write.", tool_calls=(ScriptedCall("vault_write", {"path": "form.md", "body": "A"}),))
DONE = ScriptedTurn(text="Done.")
BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])


@asynccontextmanager
async def connected(stage: Stage, *, user: str = "alice", **options: Any) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token(user)}"}
    http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S, trust_env=False, verify=False)
    async with http, Client(streamable_http_client(f"{stage.url}/mcp", http_client=http), **options) as client:
        yield client


class Progress:
    """What a client hears, and the run's id, which comes first."""

    def __init__(self) -> None:
        self.run: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.told: list[str] = []

    async def __call__(self, done: float, total: float | None, message: str | None) -> None:
        self.told.append(message or "")
        if not self.run.done():
            self.run.set_result(self.told[0].removeprefix("run "))


@pytest.mark.usefixtures("on_both_databases")
async def test_an_answer_whose_worker_is_killed_is_had_from_the_next_one(stage: Stage) -> None:
    stage.desk.play(HANGS, ScriptedTurn(text="and ends."))
    progress = Progress()
    async with connected(stage) as client:
        asking = asyncio.create_task(client.call_tool("ask", {"question": "Why?"}, progress_callback=progress))
        run_id = await progress.run
        await stage.desk.wait_request()
        await stage.kill()
        asking.cancel()  # the client has lost it
        await asyncio.wait([asking])
    async with connected(stage) as client:
        found = (await client.call_tool("ask", {"run_id": run_id})).structured_content
    assert found["answer"] == await stage.answer(run_id)
    assert found["answer"].endswith("and ends.")


@pytest.mark.usefixtures("on_both_databases")
async def test_an_approval_is_taken_by_another_worker(stage: Stage) -> None:
    for worker in stage.workers:
        (worker.data / "trees").mkdir(exist_ok=True)
        write_trees(worker.data / "trees")
    async with stage.client("boss") as http, asyncio.timeout(PATIENCE_S):
        while '"approval"' not in (await http.get("/api/trees")).text:
            continue  # the folder is watched
    stage.desk.play(WRITES, DONE)
    asked: list[types.ElicitRequestFormParams] = []

    async def decide(_: object, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        asked.append(params)
        await stage.kill()
        return types.ElicitResult(action="accept", content={"decision": "approve"})

    async with connected(stage, elicitation_callback=decide) as client:
        result = await client.call_tool("ask", {"question": "hello", "tree": "approval"})
    assert not result.is_error, result.content
    found = result.structured_content
    assert (found["termination_reason"], found["answer"].endswith("Done.")) == ("completed", True)
    assert '{"path":"form.md","body":"A"}' in asked[0].message
    assert asked[0].requested_schema["properties"]["decision"]["enum"] == ["approve", "refuse"]
    assert (await stage.done(found["run_id"]))["termination_reason"] == "completed"


class NoTokens(TokenStorage):
    """What a client has kept at its first start."""

    async def get_tokens(self) -> None:
        return None

    async def set_tokens(self, tokens: object) -> None:
        pass

    async def get_client_info(self) -> None:
        return None

    async def set_client_info(self, client_info: object) -> None:
        pass


async def test_a_client_without_a_token_is_led_to_the_issuer_and_asks_as_its_user(
    stage: Stage, issuer: IssuerServer
) -> None:
    for worker in stage.workers:
        stage.desk.play(*SEARCH)
        own = ClientCredentialsOAuthProvider(f"{worker.url}/mcp", NoTokens(), "app", "its secret", issuer=issuer.url)
        http = httpx2.AsyncClient(auth=own, timeout=PATIENCE_S, trust_env=False, verify=False)
        async with http, Client(streamable_http_client(f"{worker.url}/mcp", http_client=http)) as client:
            run_id = (await client.call_tool("ask", {"question": "Where?"})).structured_content["run_id"]
        async with stage.client(None, Authorization=f"Bearer {issuer.token(sub='app')}") as http:
            run = (await http.get(f"/api/oracle/runs/{run_id}")).json()
            assert (run["user_id"], run["status"]) == ("corp:app", "finished")
        assert run_id not in [each["run_id"] for each in await stage.runs()]


@pytest.mark.parametrize(
    "wrong", [{"aud": "another"}, {"exp": 1}, {"key": private_key("evil")}, {"kid": "unknown"}], ids="-".join
)
async def test_a_token_that_is_wrong_is_refused_with_the_address_of_what_issues_right_ones(
    stage: Stage, issuer: IssuerServer, wrong: dict[str, Any]
) -> None:
    async with stage.client(None, Authorization=f"Bearer {issuer.token(**wrong)}") as http:
        refused = await http.post("/mcp", json={})
        assert refused.status_code == 401
        [address] = re.findall(r'resource_metadata="(.+?)"', refused.headers["WWW-Authenticate"])
        metadata = (await http.get(address)).json()
    assert (metadata["resource"], metadata["authorization_servers"]) == (f"{stage.url}/mcp", [issuer.url])


def check(said: Any) -> None:
    """What the JavaScript SDK has seen."""
    run_id = said["asked"]["run_id"]
    assert said["tools"] == ["ask"]
    assert said["told"][0] == f"run {run_id}"
    assert said["asked"]["termination_reason"] == "completed"
    assert said["again"] == said["asked"]
    assert said["wrong"] == {"isError": True, "text": "give either 'question' or 'run_id'"}
    assert f"oracle://runs/{run_id}" in said["resources"]
    assert said["templates"] == [f"oracle://{kind}/{{name}}" for kind in ("trees", "runs", "conversations")]
    assert said["read"]["answer"] == said["asked"]["answer"]
    assert said["missing"] == {"code": -32602, "data": {"uri": "oracle://runs/none"}}
    assert said["unknown"] == -32602


async def test_the_sdk_of_javascript_over_http(node: Node, stage: Stage) -> None:
    stage.desk.play(*SEARCH)
    [said] = await node.run("mcp_client.mjs", json.dumps({"url": f"{stage.url}/mcp", "key": token("alice")}))
    check(said)
    assert said["asked"]["answer"] == await stage.answer(said["asked"]["run_id"])


@pytest.fixture
def command(tmp_path: Path) -> dict[str, Any]:
    """`oracle mcp` over a small project, answered by the embedded model."""
    (tmp_path / "login.py").write_text("class RetryPolicy:\n    attempts = 3\n")
    environment = {"ORACLE_LLM": "offline", "ORACLE_ENCODER": "off", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    arguments = ["-m", "oracle", "mcp", "--project", str(tmp_path)]
    return {"command": sys.executable, "args": arguments, "env": environment}


@BOTH
async def test_the_sdk_of_python_over_standard_streams(command: dict[str, Any], tmp_path: Path, mode: str) -> None:
    command["env"]["ORACLE_MCP_TOOLS"] = "search_code"
    progress = Progress()
    async with Client(StdioServerParameters(**command, cwd=str(tmp_path)), mode=mode) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["ask", "search_code"]
        given = {"question": "Where is the class RetryPolicy defined?"}
        found = (await client.call_tool("ask", given, progress_callback=progress)).structured_content
        assert "login.py" in found["answer"]
        assert progress.told[0] == f"run {found['run_id']}"
        more = {"question": "And its attempts?", "conversation": found["context_id"]}
        assert (await client.call_tool("ask", more)).structured_content["context_id"] == found["context_id"]
        assert "RetryPolicy" in (await client.call_tool("search_code", {"query": "RetryPolicy"})).content[0].text
    assert not (tmp_path / ".oracle" / "oracle.db").exists()


@BOTH
async def test_what_waits_is_asked_over_standard_streams(command: dict[str, Any], tmp_path: Path, mode: str) -> None:
    (tmp_path / "trees").mkdir()
    write_trees(tmp_path / "trees")
    command["env"] |= {"ORACLE_TREES_DIR": str(tmp_path / "trees")}

    async def decide(_: object, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"answer": "main"})

    started = StdioServerParameters(**command, cwd=str(tmp_path))
    async with Client(started, mode=mode, elicitation_callback=decide) as client:
        result = await client.call_tool("ask", {"question": "hello", "tree": "question"})
        found = result.structured_content
        assert not result.is_error, result.content
        assert (found["termination_reason"], found["answer"]) == ("completed", "It is main.")


async def test_without_forms_the_result_says_that_only_a_service_can_decide(
    command: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "trees").mkdir()
    write_trees(tmp_path / "trees")
    command["env"] |= {"ORACLE_TREES_DIR": str(tmp_path / "trees")}
    async with Client(StdioServerParameters(**command, cwd=str(tmp_path))) as client:
        result = await client.call_tool("ask", {"question": "hello", "tree": "question"})
    assert (result.structured_content["termination_reason"], len(result.structured_content["waits_for"])) == (None, 1)
    assert "ask a running `oracle serve` at its address /mcp; its console" in result.content[-1].text


async def test_the_sdk_of_javascript_over_standard_streams(node: Node, command: dict[str, Any]) -> None:
    [said] = await node.run("mcp_client.mjs", json.dumps(command))
    check(said)


CONFORMANCE = {
    "2026-07-28": (
        *("tools-list", "resources-list", "caching", "dns-rebinding-protection", "sep-2164-resource-not-found"),
        *("server-sse-multiple-streams", "http-header-validation", "server-stateless"),
    ),
    "2025-11-25": ("server-initialize", "ping", "tools-list", "resources-list"),
}
NOT_TESTABLE = {"test_missing_capability", "test_streaming_elicitation", "test_logging_tool"}
"""Tools of the suite's own server that the scenario `server-stateless` looks for."""


@pytest.mark.parametrize("version", CONFORMANCE)
async def test_it_conforms(node: Node, tmp_path: Path, version: str) -> None:
    program = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    open_to_all = dict.fromkeys(("ORACLE_TOKENS", "ORACLE_OPERATORS", "ORACLE_MODELS", "ORACLE_CHAT_BACKENDS"), "")
    assert SETTINGS.keys() >= open_to_all.keys()
    async with staged(tmp_path, **open_to_all) as stage:
        for scenario in CONFORMANCE[version]:
            given = ("server", "--url", f"{stage.url}/mcp", "--spec-version", version, "--scenario", scenario)
            process = await node.start(program, *given)
            out, errors = await process.communicate()
            said = (out + errors).decode()
            assert re.search(r"Passed: \d+/\d+", said), said
            problems = [line for line in said.splitlines() if "Error: " in line]
            untestable = [line for line in problems if any(f"'{tool}'" in line for tool in NOT_TESTABLE)]
            assert problems == untestable, said
            assert len(untestable) == (4 if scenario == "server-stateless" else 0), said
