"""The reader of streamed messages, without a wire."""

import contextlib
import json
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.llm.message_events import MessageReader
from oracle.llm.protocol import TextDelta, ToolCallRequested, Usage
from oracle.llm.wire import decode_event
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.support.provider.wire import message_events

SOME_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KINDS = st.sampled_from(
    ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "new_kind"]
)
BLOCKS = st.sampled_from(
    ["text", "thinking", "tool_use", "server_tool_use", "web_search_tool_result", "redacted_thinking", "new_block"]
)
DELTAS = st.sampled_from(
    ["text_delta", "thinking_delta", "input_json_delta", "signature_delta", "citations_delta", "new_delta"]
)
BLOCK = st.fixed_dictionaries(
    {"type": BLOCKS},
    optional=dict.fromkeys(
        ("text", "thinking", "id", "name", "input", "content", "tool_use_id", "citations"), SOME_JSON
    ),
)
DELTA = st.fixed_dictionaries(
    {"type": DELTAS},
    optional={
        "text": st.text() | SOME_JSON,
        "thinking": st.text(),
        "partial_json": st.text() | SOME_JSON,
        "signature": SOME_JSON,
        "citation": SOME_JSON,
        "stop_reason": SOME_JSON,
        "stop_details": SOME_JSON,
    },
)
EVENT = st.fixed_dictionaries(
    {"type": KINDS},
    optional={
        "index": st.integers(0, 2) | SOME_JSON,
        "content_block": BLOCK | SOME_JSON,
        "delta": DELTA | SOME_JSON,
        "message": SOME_JSON,
        "usage": SOME_JSON,
    },
)


@given(st.lists(EVENT, max_size=12))
@example([{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": [None]}}])
@example([{"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": {"a": 1}}}])
def test_any_event_is_read_or_a_value_error(events):
    reader = MessageReader(model="m")
    for event in events:
        with contextlib.suppress(ValueError):
            reader.feed(event)
    assert reader.ended_as()
    assert isinstance(reader.content, tuple)


@given(st.text(max_size=200) | st.binary(max_size=50).map(repr) | SOME_JSON.map(json.dumps))
def test_any_data_line_is_an_object_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        assert isinstance(decode_event(data), dict)


@given(st.lists(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])), max_size=6), st.integers(1, 5))
def test_the_pieces_are_the_text_however_it_is_cut(texts, piece_chars):
    turn = ScriptedTurn(text=tuple(texts), piece_chars=piece_chars)
    content, end = message_events(turn, number=1, model="m", sign=lambda _: "s")
    reader = MessageReader(model="m")
    made = [event for wire in (*content, *end) for event in reader.feed(decode_event(json.dumps(wire)))]
    text = "".join(texts)
    assert "".join(event.text for event in made if isinstance(event, TextDelta)) == text
    assert reader.content == (({"type": "text", "text": text},) if text.strip() else ())
    assert reader.ended_as() == "end_turn"


def test_an_unknown_stop_reason_is_the_end_or_a_tool_call():
    reader = MessageReader(model="m")
    reader.feed({"type": "message_delta", "delta": {"stop_reason": "new_reason"}})
    assert reader.ended_as() == "end_turn"


def test_arguments_at_the_start_of_a_block_are_used():
    reader = MessageReader(model="m")
    block = {"type": "tool_use", "id": "t", "name": "read_file", "input": {"path": "a.py"}}
    reader.feed({"type": "content_block_start", "index": 0, "content_block": block})
    (event,) = reader.feed({"type": "content_block_stop", "index": 0})
    assert isinstance(event, ToolCallRequested)
    assert event.call.arguments == {"path": "a.py"}


def test_unknown_fields_go_back_unmodified():
    reader = MessageReader(model="m")
    block = {"type": "redacted_thinking", "data": "xyz", "new_field": [1]}
    reader.feed({"type": "content_block_start", "index": 0, "content_block": block})
    reader.feed({"type": "content_block_stop", "index": 0})
    assert reader.content == (block,)


@pytest.mark.parametrize("text", ["", " \n"], ids=["empty", "blank"])
def test_blank_text_is_not_sent_back(text):
    content, end = message_events(
        ScriptedTurn(text=text, tool_calls=(ScriptedCall("a"),)), number=1, model="m", sign=lambda _: "s"
    )
    reader = MessageReader(model="m")
    for wire in (*content, *end):
        reader.feed(wire)
    assert [block["type"] for block in reader.content] == ["tool_use"]


def test_usage_that_is_not_a_number_is_ignored():
    reader = MessageReader(model="m")
    reader.feed({"type": "message_start", "message": {"usage": {"input_tokens": "many", "output_tokens": -3}}})
    assert reader.usage.input_tokens is None
    assert reader.usage.output_tokens is None


def test_of_the_calls_of_a_message_the_first_256_are_read():
    reader = MessageReader(model="m")
    made = []
    for index in range(300):
        block = {"type": "tool_use", "id": f"c{index}", "name": "search", "input": {}}
        reader.feed({"type": "content_block_start", "index": index, "content_block": block})
        made += reader.feed({"type": "content_block_stop", "index": index})
    assert [event.call.id for event in made] == [f"c{index}" for index in range(256)]
    assert len(reader.content) == 256


@pytest.mark.parametrize(
    "delta",
    [
        {"type": "citations_delta", "citation": {"url": "https://example.com"}},
        {"type": "signature_delta", "signature": "x"},
        {"type": "text_delta", "text": "x"},
    ],
    ids=lambda each: each["type"],
)
def test_reading_takes_linear_time_whatever_a_server_repeats(delta):
    def seconds(number: int) -> float:
        reader, began_s = MessageReader(model="m"), process_time()
        reader.feed({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        for _ in range(number):
            reader.feed({"type": "content_block_delta", "index": 0, "delta": delta})
        reader.feed({"type": "content_block_stop", "index": 0})
        return process_time() - began_s

    assert min(seconds(20_000) for _ in range(2)) < 20 * max(seconds(2_500), 0.004)


@pytest.mark.parametrize("count", [-1, 10**30, "7", None])
def test_usage_that_cannot_be_true_is_none(count):
    reader = MessageReader(model="m")
    reader.feed({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": count}}})
    reader.feed({"type": "message_delta", "delta": {}, "usage": {"input_tokens": count, "output_tokens": 3}})
    assert reader.usage == Usage(7, 0, 0, 3)
