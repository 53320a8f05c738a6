"""`/mcp` as the protocol's own client has it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from oracle.testing import ScriptedTurn
from tests.acceptance.scripts import CAREFUL, answers, calls
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, Service

SEARCH = (ScriptedTurn(text="I look. ", tool_calls=(calls("search_code", query="retry"),)), answers("It is there."))
WRITES = (
    ScriptedTurn(text="I write it. ", tool_calls=(calls("vault_write", path="limits.md", body="Five."),)),
    answers("Written."),
)
BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])


@asynccontextmanager
async def connected(service: Service, headers: Any = None, **options: Any) -> AsyncIterator[Client]:
    http = httpx2.AsyncClient(headers=headers, timeout=20, trust_env=False, verify=False)
    transport = streamable_http_client(f"http://127.0.0.1:{service.port}/mcp", http_client=http)
    async with http, Client(transport, **options) as client:
        yield client


async def ask(client: Client, question: str | None = "hello", **more: Any) -> dict[str, Any]:
    given = more if question is None else {"question": question, **more}
    result = await client.call_tool("ask", given)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


@pytest.fixture
async def careful(start, tmp_path):
    (tmp_path / "careful.yaml").write_text(CAREFUL)
    (tmp_path / "vault").mkdir()
    now = lambda: datetime.now(UTC).isoformat()  # noqa: E731  what is asked has not expired yet
    return await start(WRITES, tokens=TOKENS, trees=("careful",), timestamp=now)


@BOTH
async def test_a_question_is_answered_with_what_the_run_has(start, mode):
    service = await start(SEARCH)
    told: list[tuple[float, str]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append((done, message or ""))

    async with connected(service, mode=mode) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["ask"]
        result = await client.call_tool("ask", {"question": "Where is retry?"}, progress_callback=progress)
    found = result.structured_content
    assert not result.is_error, result.content
    native = await service.resume(found["run_id"])
    assert found["answer"] == native.text == result.content[0].text
    assert found["sources"] == [each["source"] for each in native.chunks if each["type"] == "source"]
    assert found["termination_reason"] == "completed"
    assert found["waits_for"] == []
    assert told[0][1] == f"run {found['run_id']}"
    assert told[1][1].startswith("search_code ")
    assert sorted(told) == told


async def test_a_conversation_goes_on_and_a_run_is_asked_for_again(start):
    service = await start(SEARCH)
    async with connected(service) as client:
        first = await ask(client)
        second = await ask(client, conversation=first["context_id"])
        assert second["context_id"] == first["context_id"]
        assert await ask(client, None, run_id=first["run_id"]) == first
        assert (await ask(client))["context_id"] != first["context_id"]


ODD: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "give either 'question' or 'run_id'"),
    "both": ({"question": "a", "run_id": "b"}, "give either"),
    "an empty question": ({"question": " "}, "question"),
    "a question that is none": ({"question": ["a"]}, "question: Input should be a valid string"),
    "an unknown argument": ({"question": "a", "temperature": 1}, "temperature: Extra inputs"),
    "an unknown tree": ({"question": "a", "tree": "nowhere"}, "nowhere"),
    "an unknown conversation": ({"question": "a", "conversation": "../x"}, "There is no such conversation."),
    "an unknown run": ({"run_id": "none"}, "There is no such run."),
}


@pytest.mark.parametrize(("given", "says"), ODD.values(), ids=ODD.keys())
async def test_what_cannot_be_asked_is_a_result_that_says_why(start, given, says):
    service = await start(SEARCH)
    async with connected(service) as client:
        result = await client.call_tool("ask", given)
    assert result.is_error
    assert says in result.content[0].text


async def test_users_see_their_own_alone(start):
    service = await start(SEARCH, tokens=TOKENS)
    async with connected(service, ALICE) as alice, connected(service, BOB) as bob:
        found = await ask(alice)
        shown = {str(each.uri) for each in (await alice.list_resources()).resources}
        own = [f"oracle://runs/{found['run_id']}", f"oracle://conversations/{found['context_id']}"]
        assert shown >= {*own, "oracle://trees/oracle"}
        for uri in shown:
            [content] = (await alice.read_resource(uri)).contents
            assert isinstance(json.loads(content.text), dict)
        assert json.loads((await alice.read_resource(own[0])).contents[0].text)["answer"] == found["answer"]
        assert not shown.intersection(own) & {str(each.uri) for each in (await bob.list_resources()).resources}
        for uri in (*own, "oracle://runs/none", "oracle://runs/a/b", "file:///etc/passwd"):
            with pytest.raises(MCPError) as caught:
                await bob.read_resource(uri)
            assert (caught.value.code, caught.value.data) == (-32602, {"uri": uri})
        for given in ({"run_id": found["run_id"]}, {"question": "a", "conversation": found["context_id"]}):
            refused = await bob.call_tool("ask", given)
            assert refused.is_error
            assert refused.content[0].text in ("There is no such run.", "There is no such conversation.")
    async with httpx2.AsyncClient(trust_env=False, verify=False) as http:
        refused = await http.post(f"http://127.0.0.1:{service.port}/mcp", json={})
    assert refused.status_code == 401
    assert refused.json() == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": "A valid bearer token is required (Authorization: Bearer …)."},
    }


async def test_tools_are_those_that_the_operator_has_opened_and_that_only_read(start):
    service = await start(SEARCH, mcp_tools=("search_code", "read_note", "vault_write", "nothing"))
    async with connected(service) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["ask", "search_code", "read_note"]
        found = await client.call_tool("search_code", {"query": "retry"})
        assert not found.is_error, found.content
        missing = await client.call_tool("read_note", {"path": "none.md"})
        assert missing.is_error
        for name in ("vault_write", "read_file", "nothing"):
            with pytest.raises(MCPError, match="no tool"):
                await client.call_tool(name, {"path": "a.md", "body": "A"})


async def test_a_cancelled_request_cancels_its_run(start):
    service = await start([HANGS])
    began = asyncio.Event()

    async def progress(*_: object) -> None:
        began.set()

    async with connected(service) as client:
        asking = asyncio.create_task(client.call_tool("ask", {"question": "a"}, progress_callback=progress))
        await began.wait()
        [run] = (await service.client.get("/api/runs")).json()["runs"]
        asking.cancel()
        await asyncio.wait([asking])
        native = await service.resume(run["run_id"])
        assert native.done["termination_reason"] == "user_cancelled"


async def test_people_decide_in_the_client(careful, tmp_path):
    shown: list[str] = []

    async def decide(_: object, params: types.ElicitRequestFormParams) -> types.ElicitResult:
        shown.append(params.message)
        [(name, field)] = params.requested_schema["properties"].items()
        assert field["type"] == "string"
        return types.ElicitResult(action="accept", content={name: "main" if name == "answer" else "approve"})

    async with connected(careful, ALICE, elicitation_callback=decide) as client:
        found = await ask(client, "Write the limit down.", tree="careful")
    assert found["answer"].endswith("Written.")
    assert (tmp_path / "vault" / "alice").exists() or list((tmp_path / "vault").rglob("limits.md"))
    assert shown[0].startswith("Which branch is meant?")
    assert '"path":"limits.md"' in shown[1]


async def test_without_forms_the_result_says_what_waits(careful):
    async with connected(careful, ALICE) as client:
        found = await ask(client, "Write the limit down.", tree="careful")
        assert (found["termination_reason"], len(found["waits_for"])) == (None, 1)
        assert await ask(client, None, run_id=found["run_id"]) == found
        shown = (await client.call_tool("ask", {"run_id": found["run_id"]})).content[-1].text
    assert shown.startswith("It waits for people to decide: 'Which branch is meant?'. They decide in the console, or ")


async def test_a_state_is_the_user_s_the_call_s_and_unforgeable(careful):
    given: Any = {"question": "Write the limit down.", "tree": "careful"}

    async def elicited(*_: object) -> types.ElicitResult:
        raise AssertionError

    options: Any = {"elicitation_callback": elicited}
    async with connected(careful, ALICE, **options) as alice, connected(careful, BOB, **options) as bob:
        waits = await alice.session.call_tool("ask", given, allow_input_required=True)
        assert isinstance(waits, types.InputRequiredResult)
        state = waits.request_state
        assert state is not None
        [key] = waits.input_requests or {}
        decided = {key: types.ElicitResult(action="accept", content={"answer": "main"})}
        forged = {
            "forged": (alice, given, state[:-4] + ("AAAA" if state[-4:] != "AAAA" else "BBBB")),
            "plain": (alice, given, json.dumps({"run": "id-1", "asked": [], "seen": 0})),
            "another user's": (bob, given, state),
            "of another call": (alice, {**given, "question": "Another?"}, state),
        }
        for client, arguments, used in forged.values():
            with pytest.raises(MCPError, match="Invalid or expired requestState"):
                await client.session.call_tool(
                    "ask", arguments, request_state=used, input_responses=decided, allow_input_required=True
                )
        wrong = {key: types.ElicitResult(action="accept", content={"answer": "elsewhere"})}
        refused = await alice.session.call_tool("ask", given, request_state=state, input_responses=wrong)
        assert refused.is_error
        later = {key: types.ElicitResult(action="cancel")}
        open_ = await alice.session.call_tool("ask", given, request_state=state, input_responses=later)
        assert len(open_.structured_content["waits_for"]) == 1
        on = await alice.session.call_tool(
            "ask", given, request_state=state, input_responses=decided, allow_input_required=True
        )
        assert isinstance(on, types.InputRequiredResult)
        [key] = on.input_requests or {}
        no = {key: types.ElicitResult(action="decline")}
        end = await alice.session.call_tool("ask", given, request_state=on.request_state, input_responses=no)
        assert end.structured_content["termination_reason"] == "completed"


async def test_a_tree_with_mistakes_is_a_result_that_says_so(start, tmp_path):
    (tmp_path / "careful.yaml").write_text("tree: careful\nroot: { nothing: 1 }\n")
    service = await start(SEARCH, trees=("careful",))
    async with connected(service) as client:
        result = await client.call_tool("ask", {"question": "a", "tree": "careful"})
    assert (result.is_error, result.content[0].text) == (True, "this tree has mistakes and cannot be run")


@BOTH
async def test_long_words_are_quoted_in_part(start, mode):
    service = await start(SEARCH)
    async with connected(service, mode=mode) as client:
        for given in ({"x" * 100_000: 1}, {"question": "a", "conversation": "y" * 100_000}, {"run_id": "z" * 100_000}):
            result = await client.call_tool("ask", given)
            assert result.is_error
            assert len(result.content[0].text) <= 4_000


async def test_pages_of_other_origins_are_refused(start):
    service = await start(SEARCH, tokens=TOKENS, cors_origins=("https://chat.example.com",))
    sent: Any = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    codes = {}
    for origin in ("https://evil.example.com", "https://chat.example.com", f"http://127.0.0.1:{service.port}"):
        accept = {"Accept": "application/json, text/event-stream", "Origin": origin}
        answer = await service.client.post("/mcp", json=sent, headers={**ALICE, **accept})
        codes[origin] = answer.status_code
    assert list(codes.values()) == [403, 200, 200]


async def test_without_the_library_it_says_what_to_install(start, monkeypatch):
    monkeypatch.setattr("oracle.features.mcp_server.routes.find_spec", lambda _: None)
    service = await start(SEARCH)
    answer = await service.client.post("/mcp", json={})
    assert answer.status_code == 501
    assert "pip install 'oracle-bt[mcp]'" in answer.json()["error"]["message"]


async def test_there_is_no_stream_beside_requests(start):
    service = await start(SEARCH)
    response = await service.client.get("/mcp")
    assert response.status_code == 405
    assert response.json()["jsonrpc"] == "2.0"


ISSUERS: dict[str, Any] = {
    "oidc_issuers": ("corp=https://login.example.com/realms/team",),
    "oidc_audiences": ("corp=oracle",),
}


async def test_a_client_without_a_token_is_told_who_issues_them(start):
    service = await start(SEARCH, tokens=TOKENS, **ISSUERS)
    origin = f"http://127.0.0.1:{service.port}"
    refused = await service.client.post("/mcp", json={})
    assert refused.status_code == 401
    place = f"{origin}/.well-known/oauth-protected-resource/mcp"
    assert refused.headers["WWW-Authenticate"] == f'Bearer resource_metadata="{place}"'
    assert (await service.client.get(place)).json() == {
        "resource": f"{origin}/mcp",
        "authorization_servers": ["https://login.example.com/realms/team"],
        "bearer_methods_supported": ["header"],
    }
    behind = {"X-Forwarded-Proto": "https", "Host": "oracle.example.com"}
    found = await service.client.get("/.well-known/oauth-protected-resource", headers=behind)
    assert found.json()["resource"] == "https://oracle.example.com"
    odd = await service.client.post("/mcp", json={}, headers={"Host": 'a", b="c'})
    assert odd.headers.get("WWW-Authenticate") in (None, "Bearer")
    assert (await service.client.get("/.well-known/oauth-protected-resource/elsewhere")).status_code == 404
    own = await service.client.get("/api/me")
    assert own.headers["WWW-Authenticate"] == "Bearer"


async def test_without_issuers_there_is_nothing_to_be_told(start):
    service = await start(SEARCH, tokens=TOKENS)
    assert (await service.client.post("/mcp", json={})).headers["WWW-Authenticate"] == "Bearer"
    assert (await service.client.get("/.well-known/oauth-protected-resource/mcp")).status_code == 404
