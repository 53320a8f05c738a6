"""Properties of the reader of chunks: whatever a server sends, and however it cuts it."""

import json
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oracle.features.openai_compatible.completion import CompletionReader
from oracle.llm.protocol import ModelEvent, ToolCallRequested, Usage

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
CALL = st.fixed_dictionaries(
    {},
    optional={
        "index": ANYTHING,
        "id": ANYTHING,
        "function": ANYTHING
        | st.fixed_dictionaries({}, optional={"name": ANYTHING, "arguments": ANYTHING | st.just("{}")}),
    },
)
DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": ANYTHING,
        "reasoning": ANYTHING,
        "reasoning_content": ANYTHING,
        "refusal": ANYTHING,
        "tool_calls": ANYTHING | st.lists(CALL, max_size=3),
    },
)
CHOICE = st.fixed_dictionaries({}, optional={"delta": ANYTHING | DELTA, "finish_reason": ANYTHING | st.just("length")})
USAGE = st.fixed_dictionaries(
    {}, optional={"prompt_tokens": ANYTHING, "completion_tokens": ANYTHING, "prompt_tokens_details": ANYTHING}
)
CHUNK = st.fixed_dictionaries(
    {}, optional={"choices": ANYTHING | st.lists(CHOICE, max_size=2), "usage": ANYTHING | USAGE}
)


def reader() -> CompletionReader:
    return CompletionReader(max_tokens=1_000, tools={})


@given(st.lists(CHUNK, max_size=4), st.booleans())
@example([{"choices": [{"delta": {"tool_calls": [{"index": [], "function": {"name": "x"}}]}}]}], True)
@example([{"choices": {"0": 1}}], True)
def test_any_chunk_is_read_or_a_value_error(chunks, is_done):
    reading = reader()
    for chunk in chunks:
        try:
            made = reading.feed(chunk)
        except ValueError:
            continue
        assert all(isinstance(event, ModelEvent) for event in made)
    reading.is_done = is_done
    requested = [event.call for event in reading.end()]
    assert len({call.id for call in requested}) == len(requested)
    assert [block["id"] for block in reading.content if block["type"] == "tool_use"] == [call.id for call in requested]
    assert reading.stop_reason
    json.dumps([dict(call.arguments) for call in requested])


@given(
    st.lists(st.dictionaries(st.text(max_size=3), st.text(max_size=8), max_size=2), min_size=1, max_size=3), st.data()
)
def test_calls_are_the_same_however_their_arguments_are_cut(arguments, data):
    reading, pieces = reader(), []
    for index, each in enumerate(arguments):
        text = json.dumps(each)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
        parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        head = {"index": index, "id": f"c{index}", "function": {"name": "x", "arguments": parts[0]}}
        pieces.append([head, *({"index": index, "function": {"arguments": part}} for part in parts[1:])])
    while any(pieces):  # calls side by side, each in its order
        left = [each for each in pieces if each]
        piece = data.draw(st.sampled_from(left)).pop(0)
        reading.feed({"choices": [{"delta": {"tool_calls": [piece]}}]})
    reading.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    found = {event.call.id: event.call.arguments for event in reading.end()}
    assert found == {f"c{index}": each for index, each in enumerate(arguments)}


def a_call(**piece: object) -> dict[str, object]:
    return {"choices": [{"delta": {"tool_calls": [piece]}}]}


def test_of_the_calls_of_a_message_the_first_256_are_read():
    one = reader()
    for number in range(300):
        one.feed(a_call(index=number, id=f"c{number}", function={"name": "search", "arguments": "{}"}))
        one.feed(a_call(index=number, function={"arguments": ""}))
    one.feed({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
    assert [event.call.id for event in one.end() if isinstance(event, ToolCallRequested)] == [
        f"c{number}" for number in range(256)
    ]
    assert len(one.content) == 256


@pytest.mark.parametrize(
    "piece",
    [
        {"choices": [{"delta": {"refusal": "No. "}}]},
        a_call(function={"name": "search", "arguments": "}"}),
        a_call(index=0, function={"arguments": "x"}),
        {"choices": [{"delta": {"content": "x"}}]},
    ],
    ids=["refusals", "named-pieces", "arguments", "text"],
)
def test_reading_takes_linear_time_whatever_a_server_repeats(piece):
    def seconds(number: int) -> float:
        one, began_s = reader(), process_time()
        for _ in range(number):
            one.feed(piece)
        one.end()
        return process_time() - began_s

    assert min(seconds(20_000) for _ in range(2)) < 20 * max(seconds(2_500), 0.004)


def usage_of(**usage: object) -> Usage:
    one = reader()
    one.feed({"choices": [], "usage": usage})
    return one.usage


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, Usage(7, 0, 0, 3)),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage()),
        ({"prompt_tokens": 10**30, "completion_tokens": 2**63}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": "3"}, Usage()),
        ({"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 10**9}}, Usage(0, 0, 7, None)),
        ({"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": -5}}, Usage(7, 0, 0, None)),
    ],
    ids=["counted", "not-counted", "too-many", "no-counts", "more-cached-than-sent", "fewer-than-none"],
)
def test_usage_that_cannot_be_true_is_none(usage, expected):
    assert usage_of(**usage) == expected
