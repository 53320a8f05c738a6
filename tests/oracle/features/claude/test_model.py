"""Claude through the real SDK, against the stand-in provider."""

import asyncio
import json
import subprocess
import sys
from typing import get_args

import pytest
from anthropic.types import ModelParam

from oracle.core.chunks import Source
from oracle.features.claude.model import DEFAULT_MODEL, MAX_PAUSES
from oracle.llm.protocol import (
    ModelError,
    ServerToolCalled,
    ServerToolReturned,
    SourceCited,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    ToolDefinition,
    ToolUse,
    Usage,
    UsageReported,
)
from oracle.testing import ScriptedCall, ScriptedSearch, ScriptedTurn
from tests.support.provider import Disturbed, HttpError

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})


async def test_text_arrives_in_pieces_and_the_turn_ends_once(connect, ask, read, end):
    line = await connect([ScriptedTurn(text=("Hel", "lo", " wörld 🌍"))])
    events = await read(line.model, ask())
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hel", "lo", " wörld 🌍"]
    assert end(events).stop_reason == "end_turn"
    assert end(events).content == ({"type": "text", "text": "Hello wörld 🌍"},)
    assert end(events).model == DEFAULT_MODEL


async def test_a_piece_is_yielded_before_the_next_one_arrives(connect, ask):
    gate = asyncio.Event()
    turn = ScriptedTurn(text=("first", "second"))
    line = await connect([Disturbed(turn, "wait", after=4, gate=gate)])
    events = line.model.stream(ask())
    assert isinstance(await anext(events), UsageReported)
    assert await anext(events) == TextDelta("first")
    gate.set()
    assert await anext(events) == TextDelta("second")
    await events.aclose()


async def test_parallel_tool_calls_are_complete_and_in_order(connect, ask, read, end):
    calls = (
        ScriptedCall("search_code", {"query": "naïve “quotes” \\ \n"}, "toolu_a"),
        ScriptedCall("search_code", {}, "toolu_b"),
        ScriptedCall("read_file", {"path": "a.py", "start_line": 3}, "toolu_c"),
    )
    line = await connect([ScriptedTurn(text="Looking.", tool_calls=calls)])
    events = await read(line.model, ask(tools=(SEARCH,)))
    found = [event.call for event in events if isinstance(event, ToolCallRequested)]
    assert found == [ToolUse(call.id, call.name, call.arguments) for call in calls]
    assert end(events).stop_reason == "tool_use"
    assert [block["type"] for block in end(events).content] == ["text", "tool_use", "tool_use", "tool_use"]
    assert end(events).content[1]["input"] == calls[0].arguments


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param('{"query": "auth', "not valid JSON", id="cut-off"),
        pytest.param('["auth"]', "must be a JSON object", id="a-list"),
        pytest.param('{"limit": NaN}', "NaN", id="no-json-number"),
        pytest.param("[" * 20_000, "nested too deeply", id="deep"),
    ],
)
async def test_arguments_that_are_not_an_object_are_malformed(connect, ask, read, end, arguments, complaint):
    line = await connect([ScriptedTurn(tool_calls=(ScriptedCall("search_code", arguments),))])
    events = await read(line.model, ask(tools=(SEARCH,)))
    call = next(event.call for event in events if isinstance(event, ToolCallRequested))
    assert call.arguments == {}
    assert complaint in call.malformed
    assert end(events).content[0]["input"] == {}, "what goes back to the provider must be an object"


async def test_a_lone_surrogate_is_replaced_wherever_it_occurs(connect, ask, read, end, said):
    turn = ScriptedTurn(text="a\ud83db", tool_calls=(ScriptedCall("search_code", '{"query": "x\\ud83d"}'),))
    line = await connect([turn])
    events = await read(line.model, ask(tools=(SEARCH,)))
    assert said(events) == "a\ufffdb"
    json.dumps(end(events).content, ensure_ascii=False).encode()
    assert end(events).content[1]["input"] == {"query": "x\ufffd"}


async def test_usage_is_reported_at_the_start_and_at_the_end_with_the_cache(connect, ask, read, end):
    usage = Usage(input_tokens=100, cache_creation_tokens=20, cache_read_tokens=3000, output_tokens=42)
    line = await connect([ScriptedTurn(text="Hi", usage=usage)])
    events = await read(line.model, ask())
    reported = [event.usage for event in events if isinstance(event, UsageReported)]
    assert reported[0] == Usage(100, 20, 3000, 1)
    assert reported[-1] == end(events).usage == usage
    assert usage.billed_input == 120


async def test_thinking_has_its_signature_and_goes_back_unmodified(connect, ask, read, end):
    line = await connect(
        [ScriptedTurn(thinking="Hm, auth.", tool_calls=(ScriptedCall("search_code", {}),)), ScriptedTurn(text="Done")]
    )
    first = ask(tools=(SEARCH,), thinking_tokens=2048)
    events = await read(line.model, first)
    assert ThinkingDelta("Hm, auth.") in events
    thinking = end(events).content[0]
    assert thinking["type"] == "thinking"
    assert thinking["signature"]
    call = end(events).content[1]
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": "nothing"}
    history = (
        *first.messages,
        {"role": "assistant", "content": end(events).content},
        {"role": "user", "content": [result]},
    )
    await read(line.model, ask(tools=(SEARCH,), thinking_tokens=2048, messages=history))
    assert line.provider.bodies[1]["messages"][1]["content"][0] == thinking


@pytest.mark.parametrize("thinking_tokens", [2048, 0], ids=["thinking-on", "thinking-off-now"])
async def test_a_text_missing_from_the_next_request_does_not_invalidate_earlier_thinking(
    connect, ask, read, end, thinking_tokens
):
    # A thinking block is bound to all that stood before it (from 5.1 on).
    line = await connect(
        [ScriptedTurn(thinking="Hm", tool_calls=(ScriptedCall("search_code", {}),)), ScriptedTurn(text="Done")]
    )
    first = ask("Be quick. Where is it?", tools=(SEARCH,), thinking_tokens=2048)
    content = end(await read(line.model, first)).content
    result = {"type": "tool_result", "tool_use_id": content[1]["id"], "content": "nothing"}
    asked = {"role": "user", "content": "Where is it?"}
    history = (asked, {"role": "assistant", "content": content}, {"role": "user", "content": [result]})
    events = await read(line.model, ask(tools=(SEARCH,), thinking_tokens=thinking_tokens, messages=history))
    assert end(events).stop_reason == "end_turn"


async def test_a_search_of_the_provider_is_reported_with_sources_and_citations(connect, ask, read, end):
    results = (("https://docs.example/auth", "Auth guide"), ("https://blog.example/1", "A blog"))
    search = ScriptedSearch("auth middleware", results)
    line = await connect([ScriptedTurn(text="It works so.", searches=(search,))])
    events = await read(line.model, ask(web_search=True))
    called = next(event for event in events if isinstance(event, ServerToolCalled))
    assert (called.name, called.arguments) == ("web_search", {"query": "auth middleware"})
    returned = next(event for event in events if isinstance(event, ServerToolReturned))
    assert returned.tool_call_id == called.id
    assert returned.text == "Auth guide — https://docs.example/auth\nA blog — https://blog.example/1"
    assert returned.sources[0] == Source("https://docs.example/auth", "web", snippet="Auth guide")
    cited = [event.source for event in events if isinstance(event, SourceCited)]
    assert cited[0] == Source("https://docs.example/auth", "web", snippet="From Auth guide")
    assert [block["type"] for block in end(events).content] == ["server_tool_use", "web_search_tool_result", "text"]
    assert len(end(events).content[2]["citations"]) == 2


async def test_a_failed_search_of_the_provider_is_reported_as_an_error(connect, ask, read):
    line = await connect([ScriptedTurn(text="Sorry.", searches=(ScriptedSearch("x", error="max_uses_exceeded"),))])
    events = await read(line.model, ask(web_search=True))
    returned = next(event for event in events if isinstance(event, ServerToolReturned))
    assert returned.is_error
    assert "max_uses_exceeded" in returned.text


async def test_a_paused_turn_continues_within_the_same_turn(connect, ask, read, end, said):
    search = ScriptedSearch("auth", (("https://e.example", "E"),))
    line = await connect(
        [
            ScriptedTurn(text="First. ", searches=(search,), stop_reason="pause_turn", usage=Usage(10, 1, 2, 30)),
            ScriptedTurn(text="Second.", usage=Usage(5, 0, 12, 8)),
        ]
    )
    events = await read(line.model, ask(web_search=True, max_tokens=1000))
    assert said(events) == "First. Second."
    assert end(events).stop_reason == "end_turn"
    assert end(events).usage == Usage(15, 1, 14, 38)
    reported = [event.usage.output_tokens for event in events if isinstance(event, UsageReported)]
    assert reported == sorted(reported), "usage only grows within a turn"
    again = line.provider.bodies[1]
    assert again["messages"][-1]["role"] == "assistant"
    assert again["messages"][-1]["content"][0]["type"] == "server_tool_use"
    assert again["max_tokens"] == 970, "what was said already counts"
    assert [block["type"] for block in end(events).content].count("text") == 2


async def test_a_turn_that_is_paused_endlessly_fails(connect, ask, read):
    search = ScriptedSearch("auth")
    turns = [ScriptedTurn(searches=(search,), stop_reason="pause_turn")] * (MAX_PAUSES + 5)
    line = await connect(turns)
    with pytest.raises(ModelError, match="paused") as caught:
        await read(line.model, ask(web_search=True))
    assert caught.value.fault.error_type == "provider_failed"
    assert len(line.provider.requests) == MAX_PAUSES + 1


@pytest.mark.parametrize(
    "reason", ["end_turn", "max_tokens", "stop_sequence", "refusal", "model_context_window_exceeded"]
)
async def test_the_stop_reason_is_passed_on(connect, ask, read, end, reason):
    line = await connect([ScriptedTurn(text="So far", stop_reason=reason)])
    ended = end(await read(line.model, ask()))
    assert ended.stop_reason == reason
    assert ended.content == ({"type": "text", "text": "So far"},)
    assert ended.stop_detail == ("The script says so." if reason == "refusal" else None)


async def test_a_stream_that_ends_early_is_broken_and_keeps_its_text(connect, ask, read, end):
    line = await connect([Disturbed(ScriptedTurn(text=("So ", "far")), "early_end", after=5)])
    events = await read(line.model, ask())
    assert end(events).stop_reason == "broken"
    assert end(events).content == ({"type": "text", "text": "So far"},)
    assert end(events).usage.output_tokens == 1


async def test_an_unfinished_tool_call_does_not_go_back_to_the_provider(connect, ask, read, end):
    turn = ScriptedTurn(text="Look", tool_calls=(ScriptedCall("search_code", {"query": "a"}),))
    line = await connect([Disturbed(turn, "early_end", after=7)])
    events = await read(line.model, ask())
    assert not [event for event in events if isinstance(event, ToolCallRequested)]
    assert [block["type"] for block in end(events).content] == ["text"]


@pytest.mark.parametrize(
    "garbage",
    [
        b"event: content_block_delta\ndata: {broken\n\n",
        b'event: x\ndata: {"type": "content_block_delta", "index": 99, "delta": {"type": "text_delta"}}\n\n',
        b"event: content_block_delta\ndata: [1]\n\n",
        b"event: content_block_delta\ndata: \xff\xfe\n\n",
        b'event: message_start\ndata: {"type": "message_start", "message": 7}\n\n',
    ],
    ids=["no-json", "no-such-block", "no-object", "no-utf8", "wrong-shape"],
)
async def test_unreadable_data_is_a_fault_of_the_provider(connect, ask, read, garbage):
    line = await connect([Disturbed(ScriptedTurn(text="Hi"), "early_end", after=4, garbage=garbage)])
    with pytest.raises(ModelError) as caught:
        await read(line.model, ask())
    assert caught.value.fault.error_type == "provider_failed"
    assert "could not be read" in str(caught.value)


async def test_closing_the_stream_closes_the_connection_immediately(connect, ask):
    line = await connect([ScriptedTurn(text="Hello", hang=True)])
    events = line.model.stream(ask())
    async for event in events:
        if isinstance(event, TextDelta):
            break
    await events.aclose()
    async with asyncio.timeout(5):
        await line.provider.wait_disconnected()
    assert len(line.provider.requests) == 1


async def test_cancelling_the_task_closes_the_connection_immediately(connect, ask, read):
    line = await connect([ScriptedTurn(text="Hello", hang=True)])
    task = asyncio.create_task(read(line.model, ask()))
    await line.provider.wait_request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await line.provider.wait_disconnected()


async def test_a_cancel_before_the_answer_begins_closes_the_connection(connect, ask, read):
    line = await connect([Disturbed(ScriptedTurn(), "hang", after=0)])
    task = asyncio.create_task(read(line.model, ask()))
    await line.provider.wait_request()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with asyncio.timeout(5):
        await line.provider.wait_disconnected()


async def test_one_model_serves_many_turns_concurrently(connect, ask, read, said):
    line = await connect([ScriptedTurn(text="Hello " * 20, piece_chars=5)] * 20)
    turns = await asyncio.gather(*(read(line.model, ask()) for _ in range(20)))
    assert {said(events) for events in turns} == {"Hello " * 20}


async def test_a_request_can_name_the_model(connect, ask, read, end):
    line = await connect([ScriptedTurn(text="Hi")])
    assert end(await read(line.model, ask(model="claude-haiku-5-5"))).model == "claude-haiku-5-5"
    assert line.provider.bodies[0]["model"] == "claude-haiku-5-5"


async def test_the_default_model_is_one_that_the_sdk_knows():
    assert DEFAULT_MODEL in get_args(get_args(ModelParam)[0])


async def test_the_end_of_a_script_is_reported_over_the_wire(connect, ask, read):
    line = await connect([])
    with pytest.raises(ModelError, match="The script has 0 replies"):
        await read(line.model, ask())


async def test_a_failing_reply_of_the_script_is_one_reply(connect, ask, read, said):
    line = await connect([HttpError("api_error"), ScriptedTurn(text="Hi")])
    assert said(await read(line.model, ask())) == "Hi"


def test_the_package_does_not_import_the_sdk():
    code = "import sys, oracle.llm, oracle.testing; print('anthropic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
