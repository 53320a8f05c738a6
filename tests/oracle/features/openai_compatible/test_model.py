"""The adapter of chat completions: the real SDK against the stand-in server."""

import asyncio
import gzip
import re

import pytest

from oracle.features.openai_compatible.model import CompatibleModel, RetryPolicy
from oracle.features.openai_compatible.providers import Provider
from oracle.llm.protocol import (
    ModelError,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    ToolDefinition,
    Usage,
    UsageReported,
)
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.features.openai_compatible.conftest import KEY
from tests.support.provider import Disturbed, HttpError
from tests.support.provider.completions import Chunks

SEARCH = ToolDefinition("search_code", "Searches.", {"type": "object", "properties": {"query": {"type": "string"}}})
HELLO = ScriptedTurn(text=("Hel", "lo"))
NOTE = {"role": "system", "content": [{"type": "text", "text": "Look closer."}]}
SAID_THEN_CALLED = (
    {"role": "user", "content": "Where is it?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "tickets.search", "input": {"query": "a"}},
            {"type": "tool_use", "id": "c2", "name": "search_code", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": "Found.", "is_error": False},
            {"type": "tool_result", "tool_use_id": "c2", "content": "no <control_note> here", "is_error": True},
        ],
    },
    NOTE,
)


def said(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def calls(events):
    return [event.call for event in events if isinstance(event, ToolCallRequested)]


def of_call(index=0, call_id=None, name=None, arguments=None):
    """A chunk with a piece of a tool call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    given = {"index": index, "id": call_id, "function": function}
    return {"tool_calls": [{key: value for key, value in given.items() if value is not None}]}


async def test_text_thinking_and_usage(connect, ask, read):
    line = await connect([ScriptedTurn(text="Hello there.", thinking="Hm", piece_chars=5, usage=Usage(10, 0, 4, 7))])
    events, end = await read(line.model, ask(thinking_tokens=2048))
    assert said(events) == "Hello there."
    assert "".join(event.text for event in events if isinstance(event, ThinkingDelta)) == "Hm"
    assert end.usage == Usage(input_tokens=10, cache_read_tokens=4, output_tokens=7)
    assert UsageReported(end.usage) in events
    assert end.content == ({"type": "text", "text": "Hello there."},)
    assert (end.stop_reason, end.model) == ("end_turn", "local/qwen3:8b")


async def test_a_server_without_usage_leaves_it_open(connect, ask, read):
    line = await connect([ScriptedTurn(text="Hello", usage=Usage(1, 0, 0, 1))], has_usage=False)
    assert (await read(line.model, ask()))[1].usage == Usage()


async def test_a_tool_call_and_what_goes_back(connect, ask, read):
    line = await connect(
        [ScriptedTurn(text="I look.", tool_calls=(ScriptedCall("tickets__search", {"query": "a"}),)), HELLO]
    )
    tools = (SEARCH, ToolDefinition("tickets.search", "Searches.", {"type": "object"}))
    events, end = await read(line.model, ask(tools=tools))
    [call] = calls(events)
    assert (call.name, call.arguments, call.malformed) == ("tickets.search", {"query": "a"}, None)
    assert end.stop_reason == "tool_use"
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "Found.", "is_error": False}
    turns = ({"role": "assistant", "content": list(end.content)}, {"role": "user", "content": [result]})
    await read(line.model, ask(tools=tools, messages=({"role": "user", "content": "Where?"}, *turns)))
    assert [request.complaint for request in line.server.requests] == [None, None]


async def test_messages_are_translated_and_notes_are_marked(connect, ask, read):
    line = await connect([HELLO], refuses=["system_messages"])
    await read(line.model, ask(messages=SAID_THEN_CALLED, tools=(SEARCH,), tool_choice="none", max_tokens=99))
    [body] = line.server.bodies
    system, question, answer, first, second, note = body.pop("messages")
    assert system["role"] == "system"
    assert system["content"].startswith("You are the oracle.")
    assert "<control_note>" in system["content"]
    assert question == {"role": "user", "content": "Where is it?"}
    assert answer["content"] == "I look."
    assert [(each["id"], each["type"], each["function"]) for each in answer["tool_calls"]] == [
        ("c1", "function", {"name": "tickets__search", "arguments": '{"query":"a"}'}),
        ("c2", "function", {"name": "search_code", "arguments": "{}"}),
    ]
    assert first == {"role": "tool", "tool_call_id": "c1", "content": "Found."}
    assert second["content"].startswith("Error: no ")
    assert "<control_note>" not in second["content"]
    assert note == {"role": "user", "content": "<control_note>\nLook closer.\n</control_note>"}
    function = {"name": "search_code", "description": "Searches.", "parameters": dict(SEARCH.input_schema)}
    assert body == {
        "model": "qwen3:8b",
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "none",
        "max_tokens": 99,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_notes_are_system_messages_where_a_server_takes_them(connect, ask, read):
    line = await connect([HELLO], provider={"system_messages": True})
    await read(line.model, ask(messages=SAID_THEN_CALLED))
    messages = line.server.bodies[0]["messages"]
    assert messages[0]["content"] == "You are the oracle."
    assert messages[-1] == {"role": "system", "content": "Look closer."}


async def test_the_search_of_claudes_provider_is_not_offered(connect, ask, read):
    line = await connect([HELLO])
    web = ToolDefinition("web_search", "Searches the web.", {"type": "object"})
    await read(line.model, ask(tools=(web,), web_search=True))
    assert "tools" not in line.server.bodies[0]


async def test_further_fields_are_sent(connect, ask, read):
    line = await connect([HELLO], provider={"body": {"reasoning_effort": "low"}})
    await read(line.model, ask())
    assert line.server.bodies[0]["reasoning_effort"] == "low"


async def test_a_limit_of_the_provider_bounds_the_output(connect, ask, read):
    line = await connect([HELLO, HELLO], provider={"max_output_tokens": 500, "context_tokens": 1_000})
    await read(line.model, ask(max_tokens=4_000))
    assert line.server.bodies[0]["max_tokens"] == 500
    await read(line.model, ask(max_tokens=4_000, system="x" * 2_400))
    assert 64 <= line.server.bodies[1]["max_tokens"] < 400


async def test_what_cannot_fit_into_the_context_is_not_sent(connect, ask, read):
    line = await connect([HELLO], provider={"context_tokens": 1_000})
    with pytest.raises(ModelError, match="context_tokens are 1,000") as caught:
        await read(line.model, ask(system="x" * 4_000))
    assert caught.value.fault.error_type == "context_too_large"
    assert line.server.requests == []


CALL = ScriptedCall("search_code", {"query": "a"})


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [of_call(0, "a", "search_code", ""), of_call(0, None, None, '{"que'), of_call(0, None, None, 'ry":"a"}')],
            [("a", "search_code", {"query": "a"})],
            id="in-pieces",
        ),
        pytest.param(
            [
                of_call(0, "a", "x", "{}"),
                of_call(1, "b", "y", '{"n":'),
                of_call(0, None, None, ""),
                of_call(1, None, None, "1}"),
            ],
            [("a", "x", {}), ("b", "y", {"n": 1})],
            id="side-by-side",
        ),
        pytest.param(
            [of_call(0, "a", "x", '{"n":1}'), of_call(0, "b", "x", '{"n":2}')],
            [("a", "x", {"n": 1}), ("b", "x", {"n": 2})],
            id="one-index-for-all",
        ),
        pytest.param(
            [of_call(None, "a", "x", '{"n":1}'), of_call(None, "b", "y", '{"n":'), of_call(None, None, None, "2}")],
            [("a", "x", {"n": 1}), ("b", "y", {"n": 2})],
            id="no-index",
        ),
        pytest.param(
            [of_call(0, None, "x", '{"n":1}'), of_call(1, None, "x", '{"n":2}')],
            [("call_1", "x", {"n": 1}), ("call_2", "x", {"n": 2})],
            id="no-ids",
        ),
        pytest.param(
            [of_call(None, None, "x", '{"n":1}'), of_call(None, None, "x", '{"n":2}'), of_call(None, None, "y", "")],
            [("call_1", "x", {"n": 1}), ("call_2", "x", {"n": 2}), ("call_3", "y", {})],
            id="neither-index-nor-ids",
        ),
        pytest.param(
            [of_call(0, "a", "x", '{"n"'), of_call(0, "a", "x", ":1"), of_call(0, "a", "x", "}")],
            [("a", "x", {"n": 1})],
            id="id-and-name-with-each-piece",
        ),
        pytest.param(
            [of_call(0, "a", "x", '{"n":1}'), of_call(1, "a", "x", '{"n":2}')],
            [("a", "x", {"n": 1}), ("a_2", "x", {"n": 2})],
            id="one-id-for-two",
        ),
        pytest.param([of_call(0, "a", "x", {"n": 1})], [("a", "x", {"n": 1})], id="an-object-for-its-text"),
        pytest.param([of_call(0, "a", "x")], [("a", "x", {})], id="no-arguments"),
    ],
)
@pytest.mark.parametrize("finish", ["tool_calls", "stop", None])
async def test_tool_calls_as_servers_send_them(connect, ask, read, chunks, expected, finish):
    line = await connect([Chunks(chunks=tuple(chunks), finish=finish)])
    events, end = await read(line.model, ask(tools=(SEARCH,)))
    assert [(call.id, call.name, call.arguments) for call in calls(events)] == expected
    assert [(each["id"], each["name"], each["input"]) for each in end.content] == expected
    assert end.stop_reason == "tool_use"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [('{"query": "a"', "not valid JSON"), ("[1]", "must be a JSON object"), ("query=a", "query=a"), ("NaN", "NaN")],
)
async def test_arguments_that_are_no_object_are_reported_to_the_model(connect, ask, read, arguments, words):
    line = await connect([Chunks(chunks=(of_call(0, "a", "search_code", arguments),), finish="tool_calls")])
    events, end = await read(line.model, ask(tools=(SEARCH,)))
    [call] = calls(events)
    assert (call.arguments, end.stop_reason) == ({}, "tool_use")
    assert words in call.malformed


async def test_calls_that_are_written_as_text_stay_text(connect, ask, read):
    text = '<tool_call>{"name": "search_code", "arguments": {}}</tool_call>'
    line = await connect([Chunks(chunks=({"content": text},))])
    events, end = await read(line.model, ask(tools=(SEARCH,)))
    assert (said(events), calls(events), end.stop_reason) == (text, [], "end_turn")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_thinking_has_two_names_and_never_goes_back(connect, ask, read, field):
    line = await connect([Chunks(chunks=({field: "Hm"}, {"content": None}, {"content": "Hello"}))])
    events, end = await read(line.model, ask())
    assert events == [ThinkingDelta("Hm"), TextDelta("Hello")]
    assert end.content == ({"type": "text", "text": "Hello"},)


USED = {"usage": {"prompt_tokens": 7, "completion_tokens": 100}, "choices": []}


@pytest.mark.parametrize(
    ("chunks", "finish", "is_done", "expected"),
    [
        pytest.param([{"content": "a"}], "stop", True, "end_turn", id="stop"),
        pytest.param([{"content": "a"}], "stop", False, "end_turn", id="stop-without-done"),
        pytest.param([{"content": "a"}], None, True, "end_turn", id="null"),
        pytest.param([{"content": "a"}], None, False, "broken", id="early-end"),
        pytest.param([{"content": "a"}], "tool_calls", True, "end_turn", id="tool-calls-without-any"),
        pytest.param([{"content": "a"}], "length", True, "max_tokens", id="length"),
        pytest.param([{"content": "a"}, USED], "length", True, "model_context_window_exceeded", id="length-of-context"),
        pytest.param([{"content": "a"}], "content_filter", True, "refusal", id="content-filter"),
        pytest.param([{"refusal": "I can"}, {"refusal": "not."}], "stop", True, "refusal", id="refusal"),
        pytest.param([{"content": "a"}], "abort", True, "broken", id="abort"),
        pytest.param([{"content": "a"}], "eos_token", True, "end_turn", id="unknown"),
        pytest.param([{"choices": []}, {"content": "a"}], "stop", True, "end_turn", id="no-choices"),
    ],
)
async def test_finish_reasons(connect, ask, read, chunks, finish, is_done, expected):
    line = await connect([Chunks(chunks=tuple(chunks), finish=finish, is_done=is_done)])
    _, end = await read(line.model, ask(max_tokens=1_000))
    assert end.stop_reason == expected
    assert (end.stop_detail == "I cannot.") is ("refusal" in chunks[0])


async def test_a_call_that_the_limit_has_cut_off_is_left_out(connect, ask, read):
    cut = Chunks(chunks=(of_call(0, "a", "x", "{}"), of_call(1, "b", "x", '{"n": ')), finish="length")
    line = await connect([cut])
    events, end = await read(line.model, ask())
    assert [call.id for call in calls(events)] == ["a"]
    assert end.stop_reason == "max_tokens"


@pytest.mark.parametrize("part", ["stream_options", "max_tokens", "tools", "tool_choice", "system_messages"])
async def test_what_a_server_refuses_is_left_out_from_then_on(connect, ask, read, part):
    line = await connect([HELLO, HELLO], refuses=[part], provider={"system_messages": True})
    request = ask(messages=SAID_THEN_CALLED, tools=(SEARCH,), tool_choice="none")
    for _ in range(2):
        assert said((await read(line.model, request))[0]) == "Hello"
    assert [request.complaint is None for request in line.server.requests] == [False, True, True]
    assert line.waits.seconds == []
    if part == "max_tokens":
        assert line.server.bodies[-1]["max_completion_tokens"] == request.max_tokens


@pytest.mark.parametrize("part", ["user_after_tool", "system_prompt", "call_ids", "alternation"])
async def test_what_a_template_refuses_is_said_in_another_way_from_then_on(connect, ask, read, part):
    line = await connect([HELLO, HELLO], refuses=[part])
    for _ in range(2):
        assert said((await read(line.model, ask(messages=SAID_THEN_CALLED, tools=(SEARCH,))))[0]) == "Hello"
    assert [request.complaint is None for request in line.server.requests] == [False, True, True]
    refused, taken, again = (body["messages"] for body in line.server.bodies)
    assert taken == again
    if part == "call_ids":
        ids = [call["id"] for call in taken[2]["tool_calls"]]
        assert [message.get("tool_call_id") for message in taken[3:5]] == ids
        assert len(set(ids)) == 2
    elif part == "system_prompt":
        assert taken[0]["content"].startswith("You are the oracle.\n\n")
        assert taken[0]["content"].endswith("\n\n# The user's message\n\nWhere is it?")
        assert taken[1:] == refused[2:]
    else:
        assert taken == [*refused[:5], {"role": "assistant", "content": "Noted."}, refused[5]]


async def test_a_server_that_wants_the_thinking_back_gets_it_from_then_on(connect, ask, read):
    looks = ScriptedTurn(thinking="Hm, where?", text="I look.", tool_calls=(ScriptedCall("search_code", {}),))
    line = await connect([looks, looks, HELLO, HELLO], refuses=["missing_reasoning"])
    messages = [{"role": "user", "content": "Where?"}]
    for number in (1, 2):
        _, end = await read(line.model, ask(tools=(SEARCH,), messages=tuple(messages)))
        use = [{**block, "id": f"c{number}"} if block["type"] == "tool_use" else block for block in end.content]
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "Found."}
        messages += [{"role": "assistant", "content": use}, {"role": "user", "content": [result]}]
    assert said((await read(line.model, ask(tools=(SEARCH,), messages=tuple(messages))))[0]) == "Hello"
    assert [request.complaint is None for request in line.server.requests] == [True, False, True, True]
    sent = [message for message in line.server.bodies[-1]["messages"] if message["role"] == "assistant"]
    assert [message["reasoning_content"] for message in sent] == [" ", "Hm, where?"]
    await read(line.model, ask(tools=(SEARCH,), messages=SAID_THEN_CALLED))
    assert line.server.bodies[-1]["messages"][2]["reasoning_content"] == "Hm"


async def test_a_template_may_refuse_several_things_one_after_the_other(connect, ask, read):
    refuses = ["alternation", "call_ids", "system_prompt", "system_messages", "stream_options"]
    line = await connect([HELLO], refuses=refuses, provider={"system_messages": True})
    assert said((await read(line.model, ask(messages=SAID_THEN_CALLED, tools=(SEARCH,))))[0]) == "Hello"
    assert [request.complaint is None for request in line.server.requests] == [False] * 5 + [True]
    assert "<control_note>" in line.server.bodies[-1]["messages"][-1]["content"]


async def test_what_a_template_refuses_for_another_reason_is_no_lesson(connect, ask, read):
    line = await connect([HttpError("invalid_request_error", "Conversation roles must alternate", status=400)] * 4)
    with pytest.raises(ModelError):
        await read(line.model, ask(system="", messages=({"role": "user", "content": "Hello"},)))
    assert len(line.server.requests) == 2


@pytest.mark.parametrize(
    "taken", [("functions.search:0", "functions.search:0_2", "functions.search:0_3"), ("c1", "c1_2", "c1_2_2")]
)
async def test_ids_that_a_server_repeats_in_each_turn_go_back_as_they_came(connect, ask, read, taken):
    messages = [{"role": "user", "content": "Where?"}]
    for call_id in taken:
        use = {"type": "tool_use", "id": call_id, "name": "search_code", "input": {}}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": "Found."}
        messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
    line = await connect([HELLO])
    await read(line.model, ask(messages=tuple(messages), tools=(SEARCH,)))
    sent = line.server.bodies[0]["messages"]
    came = [taken[0]] * 3 if taken[2] != "c1_2_2" else ["c1", "c1", "c1_2"]
    assert [each["tool_calls"][0]["id"] for each in sent if each.get("tool_calls")] == came
    assert [each["tool_call_id"] for each in sent if each["role"] == "tool"] == came


async def test_calls_of_one_turn_keep_ids_that_differ(connect, ask, read):
    def turn(*ids):
        uses = [{"type": "tool_use", "id": each, "name": "search_code", "input": {}} for each in ids]
        results = [{"type": "tool_result", "tool_use_id": each, "content": f"Of {each}."} for each in ids]
        return {"role": "assistant", "content": uses}, {"role": "user", "content": results}

    line = await connect([HELLO])
    messages = ({"role": "user", "content": "Where?"}, *turn("a", "a_2"), *turn("a_3", "a_4", "b_1"))
    await read(line.model, ask(messages=messages, tools=(SEARCH,)))
    assert [request.complaint for request in line.server.requests] == [None]
    sent = line.server.bodies[0]["messages"]
    assert [each["tool_call_id"] for each in sent if each["role"] == "tool"] == ["a", "a_2", "a", "a_4", "b_1"]


INTERNALS = re.compile(r"[A-Z]{3,}_|api[- ]?key|http|\b[1-5]\d\d\b|qwen|oops|no access", re.IGNORECASE)


@pytest.mark.parametrize(
    ("reply", "error_type", "words", "requests"),
    [
        pytest.param(
            HttpError("invalid_api_key", "no access", status=401), "provider_auth", "OPENROUTER_KEY", 1, id="401"
        ),
        pytest.param(HttpError("forbidden", "no access", status=403), "provider_auth", "403: no access", 1, id="403"),
        pytest.param(
            HttpError("model_not_found", "model 'x' not found", status=404),
            "provider_failed",
            "local/qwen3:8b",
            1,
            id="404",
        ),
        pytest.param(
            HttpError(status=404, body="404 page not found"),
            "provider_failed",
            "the right address",
            1,
            id="404-of-a-path",
        ),
        pytest.param(
            HttpError(status=200, body="<h1>Chat</h1>"),
            "provider_failed",
            "'text/html' .* the right address",
            1,
            id="a-page",
        ),
        pytest.param(
            HttpError("context_length_exceeded", "maximum is 8192", status=400),
            "context_too_large",
            "8192",
            1,
            id="context",
        ),
        pytest.param(
            HttpError("exceed_context_size_error", "4120 tokens", status=400),
            "context_too_large",
            "4120",
            1,
            id="context-of-llama.cpp",
        ),
        pytest.param(HttpError("invalid_request_error", "bad", status=400), "provider_failed", "bad", 1, id="400"),
        pytest.param(
            HttpError("rate_limit_exceeded", "slow down", status=429),
            "provider_overloaded",
            "rate limited",
            3,
            id="429",
        ),
        pytest.param(
            HttpError("insufficient_quota", "pay", status=429), "provider_failed", "402: pay", 1, id="no-credit"
        ),
        pytest.param(HttpError("server_error", "oops", status=500), "provider_failed", "500: oops", 3, id="500"),
        pytest.param(HttpError(status=502, body="<h1>Bad gateway</h1>"), "provider_failed", "502", 3, id="502-html"),
        pytest.param(
            HttpError("service_unavailable", "loading", status=503), "provider_overloaded", "loading", 3, id="503"
        ),
        pytest.param(
            Disturbed(HELLO, "error_event", after=0, error_type="server_error", message="oops"),
            "provider_failed",
            "oops",
            3,
            id="event-first",
        ),
        pytest.param(
            Disturbed(HELLO, "error_event", after=3, error_type="rate_limit_exceeded"),
            "provider_overloaded",
            "limit",
            1,
            id="event-later",
        ),
        pytest.param(Disturbed(HELLO, "reset", after=1), "provider_failed", "connection .* broke", 3, id="reset-first"),
        pytest.param(Disturbed(HELLO, "reset", after=3), "provider_failed", "connection .* broke", 1, id="reset-later"),
        pytest.param(Chunks(chunks=("data: {\n\n",)), "provider_failed", "could not be read", 3, id="no-json"),
        pytest.param(Chunks(chunks=("data: 7\n\n",)), "provider_failed", "could not be read", 3, id="no-object"),
        pytest.param(Chunks(chunks=({"content": 7},)), "provider_failed", "could not be read", 3, id="wrong-type"),
        pytest.param(Chunks(chunks=({"choices": 7},)), "provider_failed", "could not be read", 3, id="wrong-shape"),
        pytest.param(
            Chunks(chunks=({"error": {"code": 429, "message": "busy"}},)),
            "provider_overloaded",
            "busy",
            3,
            id="code-in-stream",
        ),
        pytest.param(
            Chunks(chunks=({"error": "out of memory"},)), "provider_failed", "out of memory", 1, id="text-in-stream"
        ),
    ],
)
async def test_every_failure_has_a_type_and_texts_for_user_and_operator(
    connect, ask, read, reply, error_type, words, requests
):
    line = await connect([reply] * 3, key=KEY, provider={"key_env": "OPENROUTER_KEY"})
    with pytest.raises(ModelError, match=words) as caught:
        await read(line.model, ask())
    fault = caught.value.fault
    assert fault.error_type == error_type
    assert KEY not in str(fault)
    assert not INTERNALS.search(fault.message)
    assert len(line.server.requests) == requests
    assert len(line.waits.seconds) == requests - 1
    assert bool(line.load) is (error_type == "provider_overloaded")


async def test_the_server_can_ask_for_a_wait_within_the_time_that_is_left(connect, ask, read):
    busy = HttpError("rate_limit_exceeded", status=429, headers={"retry-after": "3"})
    line = await connect([busy, HELLO, busy])
    await read(line.model, ask())
    assert (line.waits.seconds, line.load) == ([3.0], [3.0])
    with pytest.raises(ModelError, match="in 3 s"):
        await read(line.model, ask(time_left_s=3.5))


async def test_thinking_is_not_an_answer_so_the_request_is_repeated(connect, ask, read):
    thought = ScriptedTurn(thinking="Hm", text="Hello")
    line = await connect([Disturbed(thought, "reset", after=2), thought])
    assert said((await read(line.model, ask()))[0]) == "Hello"


async def test_no_server_is_a_fault_that_names_the_address(ask, read, unused_tcp_port):
    provider = Provider(base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")
    model = CompatibleModel("ollama", provider, retry=RetryPolicy(max_retries=0))
    with pytest.raises(ModelError, match=f"listens at http://127.0.0.1:{unused_tcp_port}/v1") as caught:
        await read(model, ask())
    await model.aclose()
    assert caught.value.fault.error_type == "provider_failed"
    assert "127" not in caught.value.fault.message


async def test_silence_is_a_broken_connection(connect, ask, read):
    line = await connect([Disturbed(HELLO, "hang", after=0)] * 3, provider={"silence_s": 0.05})
    with pytest.raises(ModelError, match="ReadTimeout"):
        await read(line.model, ask())
    assert len(line.server.requests) == 3


@pytest.mark.parametrize("key", ["", "sk-ünusable"])
async def test_a_missing_key_is_a_fault_that_names_its_variable(connect, ask, read, key):
    line = await connect([HELLO], key=key, provider={"key_env": "OPENROUTER_KEY"})
    with pytest.raises(ModelError, match="Set OPENROUTER_KEY") as caught:
        await read(line.model, ask())
    assert caught.value.fault.error_type == "provider_auth"
    assert line.server.requests == []


async def test_a_server_gets_its_own_key_and_nothing_of_openais(connect, ask, read, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: of-openai\nAuthorization: Bearer of-openai")
    with_key = await connect([HELLO], key=KEY, provider={"key_env": "OPENROUTER_KEY"}, api_key=KEY)
    without = await connect([HELLO])
    for line in (with_key, without):
        await read(line.model, ask())
        assert "of-openai" not in str(line.server.requests[0].headers)
    assert with_key.server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in without.server.requests[0].headers


async def test_the_next_turn_has_the_same_connection(connect, ask, read):
    line = await connect([HELLO, HELLO])
    await read(line.model, ask())
    before = set(line.server._connections)
    await read(line.model, ask())
    assert set(line.server._connections) == before


async def test_closing_early_closes_the_connection(connect, ask):
    line = await connect([Disturbed(HELLO, "hang", after=2)])
    events = line.model.stream(ask())
    assert await anext(events) == TextDelta("Hel")
    await events.aclose()
    await line.server.wait_disconnected()


@pytest.mark.parametrize(
    "endless", ["x" * 1_000_000, '{"tool_calls":[{"index":0,"function":{"arguments":"'], ids=["a-line", "arguments"]
)
async def test_an_endless_answer_is_an_error(connect, ask, read, endless, monkeypatch):
    monkeypatch.setattr("oracle.llm.wire.events_of.__kwdefaults__", {"most_bytes": 200_000})
    piece = of_call(0, None, None, "x" * 10_000) if endless.startswith("{") else endless
    line = await connect([Chunks(chunks=(piece,) * 50)] * 3)
    with pytest.raises(ModelError, match="more than 200,000 bytes"):
        await read(line.model, ask())


async def test_a_compressed_answer_is_refused_unread(ask, read):
    packed = gzip.compress(b"\0" * 10_000_000)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n"
        writer.write(f"{head}content-length: {len(packed)}\r\n\r\n".encode() + packed)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = CompatibleModel("local", Provider(base_url=f"http://127.0.0.1:{port}/v1"))
        with pytest.raises(ModelError, match="gzip"):
            await read(model, ask())
        await model.aclose()
