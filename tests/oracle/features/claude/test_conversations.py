"""Whole conversations over the wire, thinking on: whatever ends a turn, what goes back is taken, and only grows."""

import itertools

import pytest

from bt_runtime.testing import FakeClock
from oracle.llm.blocks import THINKING
from oracle.llm.protocol import ToolDefinition, Usage
from oracle.testing import ScriptedCall, ScriptedSearch, ScriptedTurn
from tests.support.provider import PromptCache
from tests.support.provider.request import unmarked

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})
LONG = "A sentence of the system prompt. " * 200
FOUND = ScriptedSearch("auth", (("https://e.example", "E"),))
ANSWER = ScriptedTurn(thinking="So.", text="It works like this.")


def looks(times=1, **more):
    calls = tuple(ScriptedCall("search_code", {"query": f"word {number}"}) for number in range(times))
    return ScriptedTurn(thinking="Let me look.", tool_calls=calls, **more)


async def last_event(model, request):
    return [event async for event in model.stream(request)][-1]


async def converse(line, ask, *, most_turns=20, **fields):
    """Play an agent: results for calls, `Continue.` for what was cut off, until the model has answered."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "How does auth work?"}]}]
    ends = []
    for _ in range(most_turns):
        request = ask(messages=tuple(messages), tools=(SEARCH,), system=LONG, **{"thinking_tokens": 2048, **fields})
        ended = await last_event(line.model, request)
        ends.append(ended)
        calls = [block for block in ended.content if block["type"] == "tool_use"]
        if ended.stop_reason == "end_turn" and ended.content:
            return ends
        results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "x" * 400} for call in calls]
        added = results or [{"type": "text", "text": "Continue."}]
        if ended.content:
            messages += [{"role": "assistant", "content": ended.content}, {"role": "user", "content": added}]
        else:
            messages[-1] = {**messages[-1], "content": [*messages[-1]["content"], *added]}
    raise AssertionError("it did not come to an end")


def check(line):
    """Every request is one that the provider takes, and begins with what was sent before."""
    bodies = line.provider.bodies
    assert [request.complaint for request in line.provider.requests] == [None] * len(bodies)
    for earlier, later in itertools.pairwise(bodies):
        assert (earlier["tools"], earlier["system"]) == (later["tools"], later["system"])
        assert blocks(later)[: len(blocks(earlier))] == blocks(earlier)


def blocks(body):
    return [(message["role"], unmarked(block)) for message in body["messages"] for block in message["content"]]


MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-4-5")
PAUSED = {"searches": (FOUND,), "stop_reason": "pause_turn"}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([looks(), ANSWER], id="plain"),
        pytest.param([looks(late_thinking="And then?"), ANSWER], id="thinks-after-its-call"),
        pytest.param([looks(), looks(3, late_thinking="And?"), looks(), ANSWER], id="thinks-after-its-calls-midway"),
        pytest.param([ScriptedTurn(thinking="Hm", stop_reason="max_tokens"), ANSWER], id="cut-off-while-thinking"),
        pytest.param([ScriptedTurn(thinking="Hm", text="So", stop_reason="max_tokens"), ANSWER], id="cut-off-in-text"),
        pytest.param(
            [looks(), ScriptedTurn(thinking="Hm", stop_reason="max_tokens"), looks(), ANSWER],
            id="cut-off-after-results",
        ),
        pytest.param([ScriptedTurn(thinking="Hm"), ANSWER], id="thinking-alone"),
        pytest.param([looks(), ScriptedTurn(thinking="Hm"), ANSWER], id="thinking-alone-after-results"),
        pytest.param([looks(), ScriptedTurn(), ANSWER], id="nothing-after-results"),
        pytest.param([ScriptedTurn(thinking="Hm", **PAUSED), ANSWER], id="paused"),
        pytest.param([ScriptedTurn(thinking="Hm", late_thinking="And?", **PAUSED), ANSWER], id="paused-while-thinking"),
        pytest.param(
            [ScriptedTurn(thinking="Hm", late_thinking="And?", **PAUSED)] * 3 + [looks(), ANSWER], id="paused-again"
        ),
        pytest.param([ScriptedTurn(thinking="Hm", stop_reason="pause_turn"), ANSWER], id="paused-in-thinking-alone"),
        pytest.param(
            [ScriptedTurn(thinking="Hm", text="Well.", stop_reason="pause_turn"), ANSWER], id="paused-without-a-search"
        ),
        pytest.param([looks(**PAUSED | {"stop_reason": None}), ANSWER], id="searches-and-calls"),
    ],
)
async def test_the_conversation_continues_whatever_ends_a_turn(connect, ask, turns, model):
    line = await connect(turns)
    ends = await converse(line, ask, model=model, web_search=True)
    assert ends[-1].stop_reason == "end_turn"
    assert ends[-1].content[-1]["text"] == "It works like this."
    assert all(not end.content or end.content[-1]["type"] not in THINKING for end in ends)
    check(line)


async def test_a_pause_that_cannot_be_continued_is_a_truncated_turn(connect, ask):
    line = await connect([ScriptedTurn(text="Well.", stop_reason="pause_turn"), ANSWER])
    first, *_ = await converse(line, ask)
    assert first.stop_reason == "max_tokens"
    assert first.content == ({"type": "text", "text": "Well."},)


async def test_a_paused_turn_continues_without_its_thinking_if_there_is_no_room_for_more(connect, ask):
    paused = ScriptedTurn(thinking="Hm", **PAUSED, usage=Usage(10, 0, 0, 1500))
    line = await connect([paused, ANSWER])
    await converse(line, ask, model="claude-haiku-4-5", max_tokens=2400, web_search=True, thinking_tokens=1024)
    assert [request.complaint for request in line.provider.requests] == [None, None]
    assert "thinking" not in line.provider.bodies[1]


@pytest.mark.parametrize("times", [1, 12, 30])
async def test_each_request_reads_the_whole_previous_one_from_the_cache(connect, ask, times):
    """Also where one turn's calls and results are more than the 20 blocks that the provider looks back over."""
    cache = PromptCache(FakeClock().now)
    line = await connect([*[looks(times)] * 4, ANSWER], cache=cache)
    await converse(line, ask)
    used = [request.cached for request in line.provider.requests]
    for earlier, later in itertools.pairwise(used):
        assert later.read_tokens == earlier.read_tokens + earlier.creation_tokens
        assert later.input_tokens == 0
    check(line)


async def test_a_paused_turn_is_read_from_the_cache_when_it_continues(connect, ask):
    searches = tuple(ScriptedSearch(f"q{number}", (("https://e.example", "E" * 900),)) for number in range(15))
    cache = PromptCache(FakeClock().now)
    line = await connect([ScriptedTurn(searches=searches, stop_reason="pause_turn")] * 3 + [ANSWER], cache=cache)
    await converse(line, ask, web_search=True)
    used = [request.cached for request in line.provider.requests]
    assert [later.read_tokens for later in used[1:]] == [each.read_tokens + each.creation_tokens for each in used[:-1]]


async def test_a_turn_reports_the_ids_of_its_requests(connect, ask):
    line = await connect([ScriptedTurn(**PAUSED), ANSWER])
    (ended,) = await converse(line, ask, web_search=True)
    assert ended.request_ids == ("req_standin_1", "req_standin_2")
