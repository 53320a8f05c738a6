"""Why the provider's cache was missed: asked with each request, kept of the answer, and done without where refused."""

from dataclasses import replace

import pytest

from oracle.llm.message_events import MessageReader
from oracle.llm.protocol import ToolDefinition, Usage, UsageReported
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import answers, calls, harness, says
from tests.support.provider import HttpError, PromptCache

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {}})
READ = ToolDefinition("read_file", "Reads.", {"type": "object", "properties": {}})
HELLO = ScriptedTurn(text="Hello")
MISSED = replace(HELLO, usage=Usage(900, 0, 0, 5))
READ_SOME = replace(HELLO, usage=Usage(100, 0, 800, 5))


async def second(line, ask, read, end, **changes):
    """The end of the second of two turns; the request of the second differs from the first by the changes."""
    first = ask(tools=(SEARCH,))
    before = end(await read(line.model, first))
    said = (*first.messages, {"role": "assistant", "content": before.content}, {"role": "user", "content": "Go on."})
    request = replace(first, messages=said, previous_message=before.message_id)
    events = await read(line.model, replace(request, **changes))
    reported = [event.usage.cache_miss for event in events if isinstance(event, UsageReported)]
    ended = end(events)
    assert set(reported) == {ended.usage.cache_miss}, "a turn that is cut off knows it too"
    return ended


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"tools": (SEARCH, READ)}, "tools_changed"),
        ({"system": "You are another."}, "system_changed"),
        ({"model": "claude-opus-5-5"}, "model_changed"),
        ({"messages": ({"role": "user", "content": "Something else"},)}, "messages_changed"),
        ({"tool_choice": "none"}, "unavailable"),
        ({"previous_message": "msg_of_last_week"}, "previous_message_not_found"),
        ({"previous_message": ""}, ""),
    ],
    ids=lambda value: "-".join(value) or "nothing" if isinstance(value, dict) else None,
)
async def test_the_reason_of_a_missed_cache_is_what_has_changed(connect, ask, read, end, changes, reason):
    line = await connect([HELLO, MISSED])
    assert (await second(line, ask, read, end, **changes)).usage.cache_miss == reason
    assert line.provider.bodies[0]["diagnostics"] == {"previous_message_id": None}


async def test_what_the_provider_cannot_say_counts_only_where_nothing_was_read(connect, ask, read, end):
    line = await connect([HELLO, READ_SOME])
    assert (await second(line, ask, read, end, tool_choice="none")).usage.cache_miss == ""
    line = await connect([HELLO, READ_SOME])
    assert (await second(line, ask, read, end, tools=(SEARCH, READ))).usage.cache_miss == "tools_changed"


@pytest.mark.parametrize(
    ("diagnostics", "reason"),
    [
        (None, ""),
        ({}, ""),
        ("tools_changed", ""),
        ({"cache_miss_reason": None}, ""),
        ({"cache_miss_reason": {"type": "tools_changed", "cache_missed_input_tokens": 5}}, "tools_changed"),
        ({"cache_miss_reason": {"type": "a reason of next year"}}, "unavailable"),
        ({"cache_miss_reason": {"type": ["tools_changed"]}}, "unavailable"),
    ],
    ids=str,
)
def test_a_reason_is_one_that_is_known_and_never_the_providers_text(diagnostics, reason):
    reader = MessageReader(model="m")
    reader.feed({"type": "message_start", "message": {"id": "msg_" * 100, "diagnostics": diagnostics}})
    reader.feed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}})
    assert reader.usage.cache_miss == reason
    assert len(reader.message_id) == 200


async def test_a_gateway_that_does_not_know_the_question_is_asked_once(connect, ask, read, said):
    line = await connect([HELLO, HELLO], has_diagnostics=False)
    for _ in range(2):
        assert said(await read(line.model, ask())) == "Hello"
    assert ["diagnostics" in body for body in line.provider.bodies] == [True, False, False]


async def test_a_model_of_another_server_is_not_asked(connect, ask, read, said):
    line = await connect([HELLO])
    assert said(await read(line.model, ask(model="llama-4"))) == "Hello"
    assert "diagnostics" not in line.provider.bodies[0]


async def test_another_refusal_is_no_reason_to_leave_it_out(connect, ask, read, said):
    refused = HttpError("invalid_request_error", "system.0.cache_control: Extra inputs are not permitted")
    line = await connect([refused, HELLO, HELLO])
    assert said(await read(line.model, ask())) == "Hello"
    assert "cache_control" not in str(line.provider.bodies[-1])


async def test_each_request_of_a_query_names_the_response_before_it():
    turns = [says("One.", calls("list_files")), answers("It is so.")]
    async with harness(turns, cache=PromptCache(lambda: 0.0)) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert [body["diagnostics"]["previous_message_id"] for body in it.provider.bodies] == [None, "msg_1"]
