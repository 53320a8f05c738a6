"""What no client should send: a clear answer in every protocol, whatever the database makes of the characters."""

import asyncio
import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from oracle.core.logs import configure_logging
from oracle.testing import ScriptedTurn
from tests.support.waiting import until

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


FUNCTION = {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
CALLS = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
SAID = [
    HI,
    {"role": "assistant", "content": "b", "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "c", "content": "r"},
]
OUTPUT = {"id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "b", "annotations": []}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f", "arguments": "{}"}
RUN = {"threadId": "t", "runId": "r", "state": {}, "context": [{"description": "d", "value": "v"}]}
TOOL = {"toolName": "t", "toolCallId": "c", "input": {}, "approval": {"id": "i", "approved": True, "reason": "x"}}
WHOLE: list[tuple[str, Any]] = [
    (
        "/v1/chat/completions",
        {
            "model": "oracle",
            "messages": [*SAID, HI],
            "tools": [FUNCTION],
            "n": 1,
            "metadata": {"chat_id": "c"},
            "stop": ["a"],
        },
    ),
    (
        "/v1/responses",
        {"model": "oracle", "input": [HI, OUTPUT, CALL, HI], "tools": [FUNCTION], "text": {"format": {"type": "text"}}},
    ),
    (
        "/v1/responses",
        {
            "model": "oracle",
            "input": [{"type": "function_call_output", "call_id": "id-1.1", "output": "x"}],
            "stream": True,
        },
    ),
    (
        "/api/chat",
        {"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": "a"}]}], "limits": {}},
    ),
    (
        "/api/chat",
        {"id": "c", "messages": [{"id": "id-1", "role": "assistant", "parts": [{"type": "dynamic-tool", **TOOL}]}]},
    ),
    ("/agui", {**RUN, "messages": [{"id": "m", **HI}], "tools": [FUNCTION], "forwardedProps": {"tree": "oracle"}}),
    (
        "/agui",
        {
            **RUN,
            "messages": [],
            "resume": [{"interruptId": "id-1.1", "status": "resolved", "payload": {"approved": True}}],
        },
    ),
    (
        "/mcp",
        {
            **MCP,
            "params": {"name": "ask", "arguments": {"question": "hi", "tree": "oracle"}, "_meta": {"progressToken": 1}},
        },
    ),
]
VALUES: list[Any] = [
    *(None, True, -1, 1.5, 10**30, float("nan"), "", "x", "\0", "x" * 3000, "id-1", "user", "tool"),
    *(
        [],
        {},
        [None],
        [[]],
        [{}],
        ["x"],
        {"": ""},
        {"a": 1},
        {"id": None},
        {"type": ["text"]},
        {"type": {}},
        {"role": "user"},
    ),
]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*at, key)
        yield from places(each, (*at, key))


def changed(value: Any, by: random.Random) -> Any:
    """The body with another value at one place, or with nothing there."""
    value = found = copy.deepcopy(value)
    *before, last = by.choice([*places(value)])
    for key in before:
        found = found[key]
    if by.random() < 0.15:
        del found[last]
    else:
        found[last] = copy.deepcopy(by.choice(VALUES))
    return value


@pytest.mark.long("hundreds of requests")
async def test_no_body_with_another_value_at_one_place_is_a_fault_of_the_service(start):
    service = await start([ScriptedTurn(text="Yes.")] * 400)
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    by = random.Random(1)
    for path, whole in WHOLE * 50:
        body = json.dumps(changed(whole, by))
        answer = await service.client.post(path, content=body, headers=headers)
        assert answer.status_code < 500, f"{path} {body}: {answer.text}"
        assert "-32603" not in answer.text, f"{path} {body}: {answer.text}"


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


LONG_ONES = {
    "/v1/chat/completions": {"model": "oracle", "messages": [HI] * 20_001},
    "/v1/responses": {"model": "oracle", "input": [HI] * 20_001},
    "/api/chat": {"messages": [{}] * 20_001},
    "/agui": {"threadId": "t", "runId": "r", "messages": [{}] * 20_001},
    "/mcp": MCP | {"params": {"name": "ask", "inputResponses": {str(n): {} for n in range(5_001)}}},
}
DEFS = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)} | {"d60": {}}
ENDLESS = {"type": "object", "$defs": DEFS, "properties": {"a": {"$ref": "#/$defs/d0"}}}
PARTS = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}
WITH_TOOLS = {
    "/v1/responses": lambda tools: {"input": "hi", "tools": [{"type": "function", **each} for each in tools]},
    "/api/chat": lambda tools: {
        "messages": [PARTS],
        "tools": [{"name": each["name"], "input_schema": each["parameters"]} for each in tools],
    },
    "/agui": lambda tools: {"threadId": "t", "runId": "r", "messages": [HI], "tools": tools},
    "/api/oracle": lambda tools: {
        "question": "hi",
        "tools": [{"name": each["name"], "input_schema": each["parameters"]} for each in tools],
    },
}


async def test_what_is_too_much_is_refused_in_every_protocol_before_it_is_read(start):
    service = await start([])
    headers = {"Accept": "application/json, text/event-stream"}
    for path, body in LONG_ONES.items():
        answer = await service.client.post(path, json=body, headers=headers)
        assert answer.status_code in (400, 422), f"{path}: {answer.text}"
        assert "at most 20,000 items" in answer.text or "more than 5,000 values" in answer.text


async def test_tools_that_could_not_be_checked_in_time_are_refused_in_every_protocol(start):
    service = await start([])
    for path, body in WITH_TOOLS.items():
        for tools, problem in (
            ([{"name": "t", "parameters": ENDLESS}], "is reached in too many ways"),
            (
                [{"name": f"t{n}", "parameters": {"description": "x" * 1_100}} for n in range(60)],
                "at most 64,000 bytes",
            ),
            ([{"name": f"t{n}", "parameters": {}} for n in range(300)], "at most 64"),
        ):
            answer = await service.client.post(path, json=body(tools))
            assert answer.status_code in (400, 422), f"{path}: {answer.text}"
            assert problem in answer.text


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/api/chat", "/agui", "/mcp", "/api/oracle"])
async def test_an_upload_that_is_broken_off_is_one_line_in_the_log(start, path):
    service = await start([])
    configure_logging("info")
    with capture_logs() as logs:
        _, writer = await asyncio.open_connection("127.0.0.1", service.port)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        )
        writer.write(head.encode() + b'{"messages":')
        await writer.drain()
        writer.close()
        await until(lambda: logs)
    assert [(each["event"], each["log_level"]) for each in logs] == [("request.finished", "info")]
    assert logs[0]["status"] in (400, 499)


async def test_a_status_in_the_log_is_a_number(start):
    service = await start([])
    configure_logging("info")
    with capture_logs() as logs:
        message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        headers = {"Accept": "application/json, text/event-stream"}
        answer = await service.client.post("/mcp", json=message, headers=headers)
        await until(lambda: logs)
    assert answer.status_code == 202
    assert [repr(each["status"]) for each in logs if each["event"] == "request.finished"] == ["202"]
