"""Bodies that were made to occupy a worker: after each the service answers its probe and the next question."""

import asyncio
import json
from typing import Any

import pytest

from tests.acceptance.scripts import answers
from tests.service.provider import Desk
from tests.service.server import Client

pytestmark = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.long("fifteen large bodies, each with a probe and a question"),
]

PROBE_S = 1.5
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HI = {"role": "user", "content": "hi"}
PARTS = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}
THREAD = {"threadId": "t", "runId": "r"}
LINKS = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(60)} | {"d60": {}}
CHAIN = {"type": "object", "$defs": LINKS, "properties": {"a": {"$ref": "#/$defs/d0"}}}
TWICE = {"type": "object", "properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}}
PATTERNS = {"type": "object", "properties": {f"p{n}": {"pattern": r"\w" * 300} for n in range(20)}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


def own(schema: Any, times: int = 1) -> Any:
    return [{"name": f"t{n}", "input_schema": schema} for n in range(times)]


def functions(schema: Any, times: int = 1) -> Any:
    return [{"type": "function", "name": f"t{n}", "parameters": schema} for n in range(times)]


BODIES = {
    "a chain": ("/api/oracle", {"question": "hi", "tools": own(CHAIN)}),
    "a chain, responses": ("/v1/responses", {"input": "hi", "tools": functions(CHAIN)}),
    "a chain, chat": ("/api/chat", {"messages": [PARTS], "tools": own(CHAIN)}),
    "a chain, agui": ("/agui", THREAD | {"messages": [HI], "tools": functions(CHAIN)}),
    "a schema of itself": ("/api/oracle", {"question": "hi", "tools": own(TWICE)}),
    "patterns": ("/v1/responses", {"input": "hi", "tools": functions(PATTERNS, 300)}),
    "patterns, agui": ("/agui", THREAD | {"messages": [HI], "tools": functions(PATTERNS, 300)}),
    "many tools": ("/v1/responses", {"input": "hi", "tools": functions({}, 100_000)}),
    "many tools, chat": ("/api/chat", {"messages": [PARTS], "tools": own({}, 100_000)}),
    "wrong messages": ("/api/chat", {"messages": [{}] * 1_500_000}),
    "wrong parts": ("/api/chat", {"messages": [PARTS | {"parts": [1] * 1_500_000}]}),
    "wrong messages, agui": ("/agui", THREAD | {"messages": [1] * 1_500_000}),
    "wrong answers, mcp": (
        "/mcp",
        CALL | {"params": {"name": "ask", "inputResponses": {f"k{n}": {} for n in range(300_000)}}},
    ),
    "a long history": ("/v1/chat/completions", {"model": "oracle", "messages": [HI] * 200_000}),
    "a long history, responses": ("/v1/responses", {"model": "oracle", "input": [HI] * 200_000}),
}


@pytest.mark.parametrize(("path", "body"), BODIES.values(), ids=list(BODIES))
async def test_after_a_body_without_end_the_service_answers_probe_and_question(
    client: Client, desk: Desk, path: str, body: Any
) -> None:
    desk.play(answers("Here."))
    content = json.dumps(body).encode()
    sending = asyncio.create_task(client.http.post(path, content=content, headers=HEADERS))
    refused = await asyncio.wait_for(sending, 20)
    assert refused.status_code in (400, 413, 422), refused.text[:300]
    async with asyncio.timeout(PROBE_S):
        assert (await client.http.get("/healthz")).status_code == 200
    assert "Here." in (await client.ask_whole("Hello?"))["answer"]
