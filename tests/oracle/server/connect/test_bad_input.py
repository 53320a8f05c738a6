"""What no client should send: a clear answer in every protocol, whatever the database makes of the characters."""

import json

import pytest

from oracle.testing import ScriptedTurn

HI = {"role": "user", "content": "hi"}
ODD = {"role": "assistant", "content": "\0"}
MCP = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
SENT = {
    "a history with NUL": (200, "/v1/chat/completions", {"messages": [HI, ODD, HI]}),
    "metadata with NUL": (200, "/v1/chat/completions", {"messages": [HI], "metadata": {"a\0": "\0"}}),
    "a question with NUL": (400, "/v1/chat/completions", {"messages": [{"role": "user", "content": "a\0"}]}),
    "half a character": (400, "/v1/chat/completions", {"messages": [{"role": "user", "content": "\ud800"}]}),
    "a conversation with NUL": (200, "/v1/responses", {"input": "hi", "conversation": "a\0"}),
    "a response with NUL": (404, "/v1/responses", {"input": "hi", "previous_response_id": "resp_a\0"}),
    "an approval with NUL": (
        400,
        "/v1/responses",
        {"input": [{"type": "mcp_approval_response", "approval_request_id": "a\0.1", "approve": True}]},
    ),
    "a chat with NUL": (
        200,
        "/api/chat",
        {"id": "a\0", "messages": [{"role": "user", "parts": [{"type": "text", "text": "hi"}]}]},
    ),
    "an answer with NUL": (
        404,
        "/api/chat",
        {"id": "c", "messages": [{"role": "assistant", "id": "a\0", "parts": []}]},
    ),
    "a thread with NUL": (200, "/agui", {"threadId": "a\0", "runId": "\0", "messages": [{"id": "\0", **HI}]}),
    "an interrupt with NUL": (
        404,
        "/agui",
        {"threadId": "t", "runId": "r", "messages": [], "resume": [{"interruptId": "\0.1", "status": "cancelled"}]},
    ),
    "a run with NUL": (200, "/mcp", {**MCP, "params": {"name": "ask", "arguments": {"run_id": "\0"}}}),
    "two requests of MCP": (400, "/mcp", [MCP, MCP]),
}


@pytest.mark.long("each protocol, on each database")
async def test_odd_characters_are_kept_or_refused(start, database_url):
    service = await start([ScriptedTurn(text="Yes.")] * len(SENT), url=database_url)
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    for name, (status, path, given) in SENT.items():
        body = (
            {"model": "oracle", "tools": [], "context": [], **given}
            if isinstance(given, dict) and path != "/mcp"
            else given
        )
        answer = await service.client.post(path, content=json.dumps(body), headers=headers)
        assert answer.status_code == status, f"{name}: {answer.text}"
    for path in ("/v1/responses/resp_%00", "/v1/models/%00", "/agui/threads/%00", "/v1/responses/%ed%a0%80"):
        assert (await service.client.get(path)).status_code == 404


def message(text: str, role: str = "user") -> dict:
    return {"id": "m", "role": role, "parts": [{"type": "text", "text": text}]}


LONG = {
    "ten thousand": [each for n in range(5_000) for each in (message(f"q{n}"), message("a", "assistant"))],
    "five megabytes": [message("x" * 2_500_000), message("y" * 2_500_000, "assistant")],
    "roles in any order": [
        message(role, role) for role in ("assistant", "assistant", "system", "user", "user", "system")
    ],
    "parts without a meaning": [
        {"role": "assistant", "parts": [{}, {"type": None}, {"type": "tool-x"}, {"type": "text"}]}
    ],
}


@pytest.mark.parametrize("name", LONG)
async def test_histories_of_the_ai_sdk_in_any_shape_are_answered(start, name):
    service = await start([ScriptedTurn(text="Yes.")])
    asked = {"id": "c", "messages": [*LONG[name], message("now?")]}
    answer = await service.client.post("/api/chat", json=asked)
    assert (answer.status_code, "Yes." in answer.text) == (200, True), answer.text
    for behind in ("99999", "9" * 30):
        rest = await service.client.get("/api/chat/c/stream", params={"after": behind})
        assert (rest.status_code, rest.content) == (200, b"")
    for wrong in ("x", "", "1.5", "-1", "\0"):
        refused = await service.client.get("/api/chat/c/stream", params={"after": wrong})
        assert (refused.status_code, "whole number" in refused.text) == (400, True)
