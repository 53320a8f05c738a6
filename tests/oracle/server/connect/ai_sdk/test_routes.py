"""`/api/chat` over HTTP: what the SDK does not show."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from oracle.core.chunks import Interrupt
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, Service, in_shared_loop
from tests.oracle.server.connect.ai_sdk.test_parts import parts_of

SAYS = ScriptedTurn(text=("It begins ", "here."))
CALL: Mapping[str, Any] = {
    "id": "i1",
    "reason": "tool_call",
    "message": "May I write?",
    "may": ("approve", "refuse", "edit"),
    "response_schema": {},
    "on_expiry": "refuse",
    "tool_call_id": "c1",
    "tool_name": "vault_write",
    "arguments": {"path": "a.md", "times": 1.0, "is_new": True},
}


def user(text: str = "Hello?", **more: Any) -> dict[str, Any]:
    return {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]} | more


def body(*messages: Any, chat: str = "chat-1", **more: Any) -> dict[str, Any]:
    return {"id": chat, "messages": messages or [user()], "trigger": "submit-message"} | more


async def post(service: Service, sent: Any, headers: Any = None) -> httpx2.Response:
    return await service.client.post("/api/chat", json=sent, headers=headers)


def parts(response: httpx2.Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    return parts_of([response.content])


def text_of(response: httpx2.Response) -> str:
    return "".join(part["delta"] for part in parts(response) if part["type"] == "text-delta")


@pytest.fixture
async def service(start):
    return await start([SAYS])


async def test_a_stream_has_the_header_and_the_whole_answer(service):
    response = await post(service, body())
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["content-type"].startswith("text/event-stream")
    assert text_of(response) == "It begins here."
    assert parts(response)[0]["messageId"] == response.headers["X-Run-Id"]


async def test_what_a_page_adds_to_the_body_is_left_alone(service):
    sent = body(user(metadata={"at": 1}), sessionId="s", messageId="u1", limits={"maxIterations": 3}, tree="oracle")
    assert text_of(await post(service, sent)) == "It begins here."


async def test_a_chat_is_one_conversation_and_a_user_s_own(start):
    service = await start([SAYS], tokens=TOKENS)
    first = await post(service, body(), ALICE)
    answer = {
        "id": first.headers["X-Run-Id"],
        "role": "assistant",
        "parts": [{"type": "text", "text": "It begins here."}],
    }
    second = await post(service, body(user(), answer, user("And then?")), ALICE)
    context = parts(first)[0]["messageMetadata"]["context_id"]
    assert parts(second)[0]["messageMetadata"]["context_id"] == context
    other = await post(service, body(), BOB)
    assert parts(other)[0]["messageMetadata"]["context_id"] != context
    assert (await service.client.get("/api/chat/chat-1/stream", headers=BOB)).headers["X-Run-Id"] == other.headers[
        "X-Run-Id"
    ]
    assert (await post(service, body(user(), answer), BOB)).status_code == 404


async def test_an_answer_is_read_again_from_its_start_or_behind_a_part(service):
    first = await post(service, body())
    again = await service.client.get("/api/chat/chat-1/stream")
    assert again.content == first.content
    frames = [frame + b"\n\n" for frame in first.content.split(b"\n\n")[:-1]]
    for n in range(len(frames)):
        rest = await service.client.get(f"/api/chat/chat-1/stream?after={n}")
        assert rest.content == b"".join(frames[n:])
    rest = await service.client.get("/api/chat/chat-1/stream", headers={"Last-Event-ID": "3"})
    assert rest.content == b"".join(frames[3:])


@pytest.mark.parametrize("chat", ["a/b", "a b", "ä.🙂", "%2F"])
async def test_a_chat_has_any_name(service, chat):
    first = await post(service, body(chat=chat))
    again = await service.client.get(f"/api/chat/{quote(chat, safe='')}/stream")
    assert again.content == first.content
    assert (await service.client.post(f"/api/chat/{quote(chat, safe='')}/stop")).status_code == 202


async def test_there_is_nothing_to_read_where_nothing_was_asked_or_its_end_is_long_ago(service, monkeypatch):
    assert (await service.client.get("/api/chat/unknown/stream")).status_code == 204
    assert (await service.client.post("/api/chat/unknown/stop")).status_code == 204
    first = await post(service, body())
    monkeypatch.setattr("oracle.server.connect.ai_sdk.routes._ACTIVE_S", -1.0)
    assert (await service.client.get("/api/chat/chat-1/stream")).status_code == 204
    rest = await service.client.get("/api/chat/chat-1/stream?after=1")
    assert rest.content in first.content


async def test_texts_that_were_deleted_are_not_read_again(service):
    first = await post(service, body())
    await service.client.delete(f"/api/oracle/conversations/{parts(first)[0]['messageMetadata']['context_id']}")
    assert (await service.client.get("/api/chat/chat-1/stream")).status_code == 204


ODD = {
    "no messages": body() | {"messages": []},
    "a list": [user()],
    "null": None,
    "messages of text": body() | {"messages": "Hello"},
    "a message of text": body("Hello"),
    "parts of text": body(user(parts="Hello")),
    "no parts": body({"id": "u", "role": "user"}),
    "an unknown role": body(user(role="tool")),
    "the last one of the system": body(user(), user(role="system")),
    "nothing asked": body(user("")),
    "text that is none": body(user(parts=[{"type": "text", "text": {"a": 1}}])),
    "an image": body(user(parts=[{"type": "file", "mediaType": "image/png", "url": "https://example.com/a.png"}])),
    "a name that is none": body() | {"id": 5},
    "an unknown tree": body(tree="nowhere"),
    "a limit that is none": body(limits={"max_iterations": 0}),
    "a negative place": "?after=-1",
}


@pytest.mark.parametrize("sent", ODD.values(), ids=ODD.keys())
@in_shared_loop
async def test_bad_input_is_answered_in_a_sentence(shared, sent):
    if isinstance(sent, str):
        response = await shared.client.get(f"/api/chat/c/stream{sent}")
    else:
        response = await post(shared, sent)
    assert response.status_code == 400, response.text
    assert response.headers["content-type"].startswith("text/plain")
    assert not response.text.startswith("{")


@asynccontextmanager
async def asking(service: Service, **more: Any) -> AsyncIterator[str]:
    """A run under way of the chat `chat-1` that has asked for the approval of a call."""
    async with service.client.stream("POST", "/api/chat", json=body(), headers=ALICE) as response:
        async for line in response.aiter_lines():
            if "here " in line:
                break
        run = await service.parts.store.runs.find(response.headers["X-Run-Id"])
        assert run is not None
        asked = Interrupt(**{**CALL, **more}).to_wire()
        await service.parts.store.write(service.parts.store.interrupts.noting(run, asked))
        yield run.id


def decided(run_id: str, *, approved: object = True, **more: Any) -> dict[str, Any]:
    part = {
        "type": "dynamic-tool",
        "toolName": "vault_write",
        "toolCallId": "c1",
        "state": "approval-responded",
        "input": {"path": "a.md", "times": 1, "is_new": True},  # JavaScript has one kind of number
        "approval": {"id": "i1", "approved": approved},
    }
    return body(user(), {"id": run_id, "role": "assistant", "parts": [part | more], "metadata": {"seen": 2}})


TAMPERED = {
    "another argument": (400, {"input": {"path": "../../a.md", "times": 1, "is_new": True}}),
    "one more": (400, {"input": {"path": "a.md", "times": 1, "is_new": True, "force": True}}),
    "one less": (400, {"input": {"path": "a.md", "times": 1}}),
    "a number for a truth": (400, {"input": {"path": "a.md", "times": 1, "is_new": 1}}),
    "a truth for a number": (400, {"input": {"path": "a.md", "times": True, "is_new": True}}),
    "none": (400, {"input": None}),
    "a nest": (400, {"input": {"path": [[["a.md"]]]}}),
    "another tool": (400, {"toolName": "vault_delete"}),
    "a reason that is none": (400, {"approval": {"id": "i1", "approved": False, "reason": {"a": 1}}}),
    "another call": (409, {"toolCallId": "c2"}),
    "an approval of something else": (409, {"approval": {"id": "i2", "approved": True}}),
    "an approval that is none": (409, {"approval": {"id": "i1", "approved": "yes"}}),
    "an odd id": (409, {"approval": {"id": ["i1"], "approved": True}}),
    "nothing that is decided": (409, {"state": "approval-requested"}),
}


@pytest.fixture
async def guarded(start):
    return await start([HANGS], tokens=TOKENS)


@pytest.mark.parametrize(("status", "changed"), TAMPERED.values(), ids=TAMPERED.keys())
async def test_what_is_approved_is_the_call_that_is_kept(guarded, status, changed):
    async with asking(guarded) as run_id:
        response = await post(guarded, decided(run_id, **changed), ALICE)
        assert response.status_code == status, response.text
        kept = await guarded.parts.store.interrupts.of_run(run_id)
        assert kept["i1"].status == "pending"


async def test_a_decision_is_the_user_s_own_and_counts_once(guarded):
    async with asking(guarded) as run_id:
        assert (await post(guarded, decided(run_id), BOB)).status_code == 404
        for _ in range(2):
            async with guarded.client.stream("POST", "/api/chat", json=decided(run_id), headers=ALICE) as response:
                assert response.status_code == 200
        kept = await guarded.parts.store.interrupts.of_run(run_id)
        assert kept["i1"].status == "approved"
        other = await post(guarded, decided(run_id, approved=False), ALICE)
        assert other.status_code == 409
        assert "approved by alice" in other.text


async def test_what_another_person_must_decide_the_user_cannot(guarded):
    async with asking(guarded, answerers="not_asker") as run_id:
        response = await post(guarded, decided(run_id), ALICE)
        assert response.status_code == 403, response.text


async def test_without_a_token_the_refusal_is_a_sentence(guarded):
    response = await post(guarded, body())
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert response.text.startswith("A valid bearer token")
