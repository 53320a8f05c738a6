"""The contract of `Model`, tested with every implementation: the doubles pass the same tests as the adapter."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from oracle.features.claude.model import AnthropicModel, RetryPolicy
from oracle.features.openai_compatible.model import CompatibleModel
from oracle.features.openai_compatible.providers import Provider
from oracle.llm.offline import OfflineModel
from oracle.llm.protocol import (
    ModelError,
    ModelFault,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    ToolDefinition,
    TurnEnded,
    Usage,
)
from oracle.testing import ScriptedCall, ScriptedModel, ScriptedSearch, ScriptedTurn
from tests.support.provider import StandInProvider
from tests.support.provider.completions import CompletionsServer

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})
SCRIPT = (
    ScriptedTurn(text="Hello there. ", thinking="Hm", piece_chars=4, usage=Usage(10, 1, 2, 5)),
    ScriptedTurn(tool_calls=(ScriptedCall("search_code", {"query": "a"}), ScriptedCall("search_code", "{broken"))),
    ScriptedTurn(
        text="Searched. ", searches=(ScriptedSearch("q", (("https://e.example", "E"),)),), stop_reason="pause_turn"
    ),
    ScriptedTurn(text="Found.", usage=Usage(3, 0, 0, 2)),
    ScriptedTurn(text="No.", stop_reason="refusal"),
    ScriptedTurn(text="Cut", stop_reason="broken"),
)
TURNS = 5


@pytest.fixture(params=["scripted", "offline", "anthropic", "chat_completions"])
async def model(request):
    async with AsyncExitStack() as stack:
        if request.param == "offline":
            made = OfflineModel()
        elif request.param == "scripted":
            made = ScriptedModel(SCRIPT)
        elif request.param == "chat_completions":
            server = await stack.enter_async_context(CompletionsServer(SCRIPT))
            made = CompatibleModel("local", Provider(base_url=f"{server.url}/v1"), model="small")
        else:
            provider = await stack.enter_async_context(StandInProvider(SCRIPT))
            made = AnthropicModel(api_key="test", base_url=provider.url)
        stack.push_async_callback(made.aclose)
        yield made


async def test_a_turn_ends_exactly_once_and_nothing_follows(model, ask, read, end):
    for _ in range(TURNS):
        events = await read(model, ask(tools=(SEARCH,)))
        assert end(events)


async def test_the_content_has_the_text_and_the_calls(model, ask, read, end, said):
    for _ in range(TURNS):
        events = await read(model, ask(tools=(SEARCH,)))
        blocks = end(events).content
        assert "".join(block["text"] for block in blocks if block["type"] == "text") == said(events)
        calls = [event.call for event in events if isinstance(event, ToolCallRequested)]
        used = [block for block in blocks if block["type"] == "tool_use"]
        assert [(block["id"], block["name"], dict(block["input"])) for block in used] == [
            (call.id, call.name, dict(call.arguments)) for call in calls
        ]
        assert len({call.id for call in calls}) == len(calls)
        if calls:
            assert end(events).stop_reason == "tool_use"


async def test_no_piece_is_empty(model, ask, read):
    for _ in range(TURNS):
        events = await read(model, ask(tools=(SEARCH,)))
        assert all(event.text for event in events if isinstance(event, TextDelta | ThinkingDelta))


async def test_closing_early_is_clean(model, ask):
    for _ in range(TURNS):
        events = model.stream(ask(tools=(SEARCH,)))
        await anext(events)
        await events.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(events)


async def test_a_stream_that_is_never_read_costs_nothing(model, ask):
    events = model.stream(ask())
    await events.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(events)


async def test_concurrent_turns_do_not_mix(model, ask, read, end):
    both = await asyncio.gather(*(read(model, ask(tools=(SEARCH,))) for _ in range(2)))
    assert all(end(events) for events in both)


async def test_a_model_has_a_name_and_declares_web_search(model):
    assert model.name
    assert isinstance(model.has_web_search, bool)


@pytest.mark.parametrize("turn", range(TURNS))
async def test_a_script_gives_the_same_events_over_the_wire(ask, read, turn):
    """One script drives both, and the events are the same."""

    async def play(model):
        for _ in range(turn):
            await read(model, ask(tools=(SEARCH,), thinking_tokens=2048, web_search=True))
        return await read(model, ask(tools=(SEARCH,), thinking_tokens=2048, web_search=True))

    def essence(events):
        deltas = [event for event in events if isinstance(event, TextDelta | ThinkingDelta)]
        ended = [
            (event.stop_reason, [block["type"] for block in event.content])
            for event in events
            if isinstance(event, TurnEnded)
        ]
        calls = [event.call for event in events if isinstance(event, ToolCallRequested)]
        return deltas, calls, ended

    async with StandInProvider(SCRIPT) as provider:
        real = AnthropicModel(api_key="test", base_url=provider.url)
        over_the_wire = essence(await play(real))
        await real.aclose()
    assert essence(await play(ScriptedModel(SCRIPT))) == over_the_wire


@pytest.mark.parametrize("said_before", ["", "So far"], ids=["at-once", "after-text"])
async def test_the_fault_of_a_script_is_raised_over_the_wire(ask, read, said_before):
    script = [ScriptedTurn(text=said_before, fault=ModelFault("provider_overloaded", "busy"))]
    with pytest.raises(ModelError) as scripted:
        await read(ScriptedModel(script), ask())
    async with StandInProvider(script) as provider:
        real = AnthropicModel(api_key="test", base_url=provider.url, retry=RetryPolicy(max_retries=0))
        with pytest.raises(ModelError) as over_the_wire:
            await read(real, ask())
        await real.aclose()
    assert scripted.value.fault.error_type == over_the_wire.value.fault.error_type
