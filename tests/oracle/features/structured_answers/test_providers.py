"""The schema of an answer over the wire of both providers, and the way back where it is refused."""

from collections.abc import Callable
from typing import Any

import pytest

from oracle.llm.protocol import ModelRequest, TextDelta, ToolDefinition
from oracle.testing import ScriptedTurn
from tests.support.provider import HttpError

SAYS = ScriptedTurn(text='{"a": 1}')
CLOSED = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 0}}}
SENT = {
    "type": "object",
    "properties": {"a": {"type": "integer", "description": "{minimum: 0}"}},
    "additionalProperties": False,
}
TOOLS = (ToolDefinition("look", "Looks.", {"type": "object", "properties": {}}),)


def request(schema: Any = CLOSED, **fields: Any) -> ModelRequest:
    message = {"role": "user", "content": "Which?"}
    return ModelRequest(system="S", messages=(message,), model="claude-opus-5", output_schema=schema, **fields)


async def said(model: Any, asked: ModelRequest) -> str:
    return "".join([event.text async for event in model.stream(asked) if isinstance(event, TextDelta)])


async def test_claude_is_held_to_the_schema_also_beside_tools(to_claude: Callable[..., Any]) -> None:
    line = await to_claude([SAYS])
    assert await said(line.model, request(tools=TOOLS)) == '{"a": 1}'
    body = line.provider.requests[0].body
    assert body["output_config"]["format"] == {"type": "json_schema", "schema": SENT}
    assert CLOSED["properties"] == {"a": {"type": "integer", "minimum": 0}}


@pytest.mark.parametrize(
    "schema",
    [{"type": "object"}, {"anyOf": [CLOSED, {**CLOSED, "additionalProperties": True}]}, {"type": ["string", "null"]}],
    ids=["open", "open-within", "no-subset"],
)
async def test_what_claude_cannot_be_held_to_is_not_sent(to_claude: Callable[..., Any], schema: Any) -> None:
    line = await to_claude([SAYS])
    await said(line.model, request(schema))
    assert "format" not in line.provider.requests[0].body.get("output_config", {})


async def test_a_gateway_that_refuses_it_gets_requests_without_it(to_claude: Callable[..., Any]) -> None:
    refusal = HttpError("invalid_request_error", "output_config.format: Extra inputs are not permitted")
    line = await to_claude([refusal, SAYS, SAYS])
    assert [await said(line.model, request()) for _ in range(2)] == ['{"a": 1}'] * 2
    has = ["format" in each.body.get("output_config", {}) for each in line.provider.requests]
    assert has == [True, False, False]


async def test_a_schema_that_claude_refuses_is_left_out_of_its_own_turn(to_claude: Callable[..., Any]) -> None:
    refusal = HttpError("invalid_request_error", "output_config.format.schema: The compiled grammar is too large")
    line = await to_claude([refusal, SAYS, SAYS])
    assert [await said(line.model, request()) for _ in range(2)] == ['{"a": 1}'] * 2
    has = ["format" in each.body.get("output_config", {}) for each in line.provider.requests]
    assert has == [True, False, True]


async def test_others_are_held_to_it_where_no_tool_can_be_called(to_others: Callable[..., Any]) -> None:
    line = await to_others([SAYS] * 3)
    for fields in ({}, {"tools": TOOLS}, {"tools": TOOLS, "tool_choice": "none"}):
        await said(line.model, request(**fields))
    first, beside_tools, last = (each.body.get("response_format") for each in line.server.requests)
    assert first == last == {"type": "json_schema", "json_schema": {"name": "answer", "schema": CLOSED}}
    assert beside_tools is None


async def test_a_server_that_does_not_know_it_gets_requests_without_it(to_others: Callable[..., Any]) -> None:
    line = await to_others([SAYS] * 2, refuses={"response_format"})
    assert [await said(line.model, request()) for _ in range(2)] == ['{"a": 1}'] * 2
    assert ["response_format" in each.body for each in line.server.requests] == [True, False, False]
