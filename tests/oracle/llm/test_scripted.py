"""The scripted model."""

import asyncio
import itertools

import pytest

from oracle.llm.protocol import (
    ModelError,
    ModelFault,
    ServerToolReturned,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    Usage,
    UsageReported,
)
from oracle.testing import ScriptedCall, ScriptedModel, ScriptedSearch, ScriptedTurn, ScriptEndedError


async def test_turns_are_played_in_order_and_requests_are_recorded(ask, read, said):
    model = ScriptedModel([ScriptedTurn(text="One"), ScriptedTurn(text="Two")])
    first, second = ask("a"), ask("b")
    assert said(await read(model, first)) == "One"
    assert said(await read(model, second)) == "Two"
    assert model.requests == [first, second]


async def test_a_turn_has_thinking_then_searches_then_text_then_calls(ask, read, end):
    turn = ScriptedTurn(
        text="Look",
        thinking="Hm",
        tool_calls=(ScriptedCall("search_code", {"query": "a"}),),
        searches=(ScriptedSearch("b", (("https://e.example", "E"),)),),
        usage=Usage(1, 2, 3, 4),
    )
    events = await read(ScriptedModel([turn]), ask())
    kinds = [type(event).__name__ for event in events]
    assert kinds == [
        *("ThinkingDelta", "ServerToolCalled", "ServerToolReturned", "TextDelta", "SourceCited"),
        *("ToolCallRequested", "UsageReported", "TurnEnded"),
    ]
    assert end(events).stop_reason == "tool_use"
    assert [block["type"] for block in end(events).content] == [
        *("thinking", "server_tool_use", "web_search_tool_result", "text", "tool_use")
    ]


async def test_text_is_cut_into_pieces(ask, read):
    model = ScriptedModel(
        [ScriptedTurn(text="abcde", thinking="xyz", piece_chars=2), ScriptedTurn(text=("a", "", "bc"))]
    )
    events = await read(model, ask())
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["ab", "cd", "e"]
    assert [event.text for event in events if isinstance(event, ThinkingDelta)] == ["xy", "z"]
    assert [event.text for event in await read(model, ask()) if isinstance(event, TextDelta)] == ["a", "bc"]


async def test_the_end_of_a_script_is_an_error(ask, read):
    model = ScriptedModel([ScriptedTurn(text="One")])
    await read(model, ask())
    with pytest.raises(ScriptEndedError, match="The script has 1 turns, and one more was asked for"):
        await read(model, ask())


async def test_a_script_may_be_endless(ask, read, said):
    model = ScriptedModel(itertools.repeat(ScriptedTurn(text="Again")))
    assert {said(await read(model, ask())) for _ in range(50)} == {"Again"}


async def test_a_fault_follows_the_text(ask):
    model = ScriptedModel([ScriptedTurn(text="So far", fault=ModelFault("provider_failed", "It broke"))])
    events = model.stream(ask())
    assert await anext(events) == TextDelta("So far")
    with pytest.raises(ModelError, match="It broke"):
        await anext(events)


async def test_a_hanging_turn_ends_only_with_a_cancel(ask):
    events = ScriptedModel([ScriptedTurn(text="Hi", hang=True)]).stream(ask())
    assert await anext(events) == TextDelta("Hi")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await anext(events)
    await events.aclose()


async def test_a_delay_uses_the_injected_sleep(ask, read):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    await read(ScriptedModel([ScriptedTurn(text="Hi", delay_s=2.5)], sleep=sleep), ask())
    assert waited == [2.5]


async def test_calls_without_an_id_get_a_unique_one(ask, read):
    turn = ScriptedTurn(tool_calls=(ScriptedCall("a"), ScriptedCall("b", id="own")))
    model = ScriptedModel([turn, turn])
    ids = [
        event.call.id
        for _ in range(2)
        for event in await read(model, ask())
        if isinstance(event, ToolCallRequested) and event.call.id != "own"
    ]
    assert ids == ["call_1_1", "call_2_1"]


async def test_arguments_as_text_are_sent_unmodified(ask, read):
    turn = ScriptedTurn(tool_calls=(ScriptedCall("a", '{"x": 1}'), ScriptedCall("b", "{broken")))
    events = await read(ScriptedModel([turn]), ask())
    first, second = (event.call for event in events if isinstance(event, ToolCallRequested))
    assert (first.arguments, first.malformed) == ({"x": 1}, None)
    assert second.arguments == {}
    assert "not valid JSON" in second.malformed


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        pytest.param({"stop_reason": "tired"}, "stop_reason is 'tired'; it must be one of end_turn", id="reason"),
        pytest.param({"piece_chars": -1}, "piece_chars is -1; it must be at least 0", id="pieces"),
    ],
)
def test_a_turn_with_a_wrong_value_is_refused(wrong, complaint):
    with pytest.raises(ValueError, match=complaint):
        ScriptedTurn(**wrong)


async def test_a_failed_search_is_an_error(ask, read):
    events = await read(ScriptedModel([ScriptedTurn(searches=(ScriptedSearch("x", error="unavailable"),))]), ask())
    assert next(event for event in events if isinstance(event, ServerToolReturned)).is_error


async def test_a_turn_without_usage_reports_none(ask, read, end):
    events = await read(ScriptedModel([ScriptedTurn(text="Hi")]), ask())
    assert not [event for event in events if isinstance(event, UsageReported)]
    assert end(events).usage == Usage()
