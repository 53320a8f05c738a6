"""The messages for the provider are well-formed, whatever was added (decision 8)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from oracle.agent.transcript import CallText, Transcript
from oracle.models.protocol import ToolCall

CALL = ToolCall("call_1", "probe", {})


def roles(transcript: Transcript) -> list[str]:
    return [message["role"] for message in transcript.messages]


def test_it_begins_with_the_history_and_the_question() -> None:
    transcript = Transcript.of([{"role": "user", "content": "A?"}, {"role": "assistant", "content": "A."}], "B?")
    assert roles(transcript) == ["user", "assistant", "user"]
    assert transcript.messages[-1]["content"] == [{"type": "text", "text": "B?"}]


def test_a_question_that_was_never_answered_is_joined_to_the_next_one() -> None:
    transcript = Transcript.of([{"role": "user", "content": "A?"}], "B?")
    assert roles(transcript) == ["user"]
    assert [block["text"] for block in transcript.messages[0]["content"]] == ["A?", "B?"]


def test_a_turn_that_said_nothing_leaves_no_message() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([])
    transcript.add_user_text("Continue.")
    assert roles(transcript) == ["user"]


def test_tool_results_are_in_the_models_order_and_never_empty() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([{"type": "tool_use", "id": "call_1", "name": "probe", "input": {}}])
    transcript.add_tool_results([CallText(CALL, "", is_error=False)])
    assert transcript.messages[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "(empty)", "is_error": False}
    ]


def test_an_instruction_follows_the_results_in_the_same_message() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([{"type": "tool_use", "id": "call_1", "name": "probe", "input": {}}])
    transcript.add_tool_results([CallText(CALL, "x", is_error=False)])
    transcript.add_user_text("Continue.")
    assert [block["type"] for block in transcript.messages[-1]["content"]] == ["tool_result", "text"]


def test_no_results_are_no_message() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_tool_results([])
    assert len(transcript) == 1


STEPS: Any = st.lists(st.sampled_from(["user", "assistant", "nothing"]), max_size=12)


@given(STEPS)
def test_roles_always_alternate_and_nothing_is_empty(steps: list[str]) -> None:
    transcript = Transcript.of([], "A?")
    for step in steps:
        if step == "user":
            transcript.add_user_text("Continue.")
        else:
            transcript.add_turn([{"type": "text", "text": "So."}] if step == "assistant" else [])
    assert all(one != other for one, other in zip(roles(transcript), roles(transcript)[1:], strict=False))
    assert all(message["content"] for message in transcript.messages)
    assert roles(transcript)[0] == "user"


def test_adding_changes_no_message_that_was_sent_before() -> None:
    transcript = Transcript.of([], "A?")
    sent = transcript.messages
    transcript.add_user_text("Continue.")
    assert sent[0]["content"] == [{"type": "text", "text": "A?"}]
