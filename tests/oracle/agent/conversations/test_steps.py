"""The tool calls that a conversation keeps are bounded, with marks for what is missing."""

import json

from oracle.agent.conversations.protocol import MOST_CALLS, ConversationStep, tool_calls_of
from oracle.core.chunks import ToolCall, ToolCalled, ToolReturned


def call(call_id: str = "c1", result: str | None = "found", **arguments: object) -> list[ConversationStep]:
    steps = [ConversationStep("t1", ToolCalled(ToolCall(call_id, "read_file", arguments)))]
    if result is not None:
        steps.append(ConversationStep("t2", ToolReturned(call_id, result, is_error=False, duration_ms=3)))
    return steps


def test_a_call_is_kept_with_its_result() -> None:
    assert tool_calls_of(call(path="a.py")) == [
        {
            "id": "c1",
            "name": "read_file",
            "arguments": {"path": "a.py"},
            "tool_result": "found",
            "is_error": False,
            "duration_ms": 3,
            "timestamp": "t1",
        }
    ]


def test_parallel_calls_keep_their_order_and_their_results() -> None:
    first, second = call("c1", "one"), call("c2", "two")
    steps = [first[0], second[0], second[1], first[1]]
    assert [(each["id"], each["tool_result"]) for each in tool_calls_of(steps)] == [("c1", "one"), ("c2", "two")]


def test_a_call_without_a_result_is_an_error() -> None:
    (kept,) = tool_calls_of(call(result=None))
    assert (kept["tool_result"], kept["is_error"]) == ("", True)


def test_a_long_result_is_shortened_with_a_mark() -> None:
    (kept,) = tool_calls_of(call(result="x" * 5_000))
    assert kept["tool_result"] == "x" * 2_000 + "\n[... 3,000 more characters are not kept here]"


def test_shortened_arguments_are_still_an_object() -> None:
    (kept,) = tool_calls_of(call(path="a.md", body="y" * 100_000, tags=["z" * 5_000], **{"k" * 9_000: 1}))
    assert kept["arguments"]["path"] == "a.md"
    assert kept["arguments"]["body"].endswith("more characters are not kept here]")
    assert len(json.dumps(kept["arguments"])) < 5_000


def test_only_the_first_of_very_many_calls_are_kept() -> None:
    steps = [step for number in range(MOST_CALLS + 50) for step in call(f"c{number}")]
    assert [each["id"] for each in tool_calls_of(steps)] == [f"c{number}" for number in range(MOST_CALLS)]
