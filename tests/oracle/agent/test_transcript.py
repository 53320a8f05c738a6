"""The messages for the provider are well-formed, whatever was added (decision 8)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from oracle.agent.transcript import NOT_RUN, CallText, Transcript
from oracle.llm.protocol import ToolUse
from tests.support.provider.rules import complaint

CALL = ToolUse("call_1", "probe", {})
OTHER = ToolUse("call_2", "probe", {})
CALLED = {"type": "tool_use", "id": "call_1", "name": "probe", "input": {}}


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


def test_a_turn_without_text_leaves_no_message() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([])
    transcript.ask_on()
    assert roles(transcript) == ["user"]


def test_tool_results_are_in_the_models_order_and_never_empty() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([{"type": "tool_use", "id": "call_1", "name": "probe", "input": {}}])
    transcript.add_tool_results([CallText(CALL, "", is_error=False)])
    assert transcript.messages[-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "call_1", "content": "(empty)", "is_error": False}
    ]


def test_a_note_is_a_system_message_behind_the_users() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([CALLED, {**CALLED, "id": "call_2"}])
    transcript.add_tool_results([CallText(CALL, "x", is_error=False), CallText(OTHER, "y", is_error=False)])
    transcript.add_notes(["Look closer."])
    assert [block["content"] for block in transcript.messages[-2]["content"]] == ["x", "y"]
    assert transcript.messages[-1] == {"role": "system", "content": [{"type": "text", "text": "Look closer."}]}


def test_a_note_behind_the_models_own_message_comes_after_a_request_to_continue() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([{"type": "text", "text": "I go on."}])
    transcript.add_notes(["Look closer."])
    assert roles(transcript) == ["user", "assistant", "user", "system"]
    assert transcript.messages[2]["content"] == [{"type": "text", "text": "Continue."}]


def test_a_note_behind_one_that_had_no_answer_joins_it() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_notes(["Answer."])
    transcript.mark_sent()
    transcript.add_turn([])
    transcript.add_notes(["Answer now."])
    assert roles(transcript) == ["user", "system"]
    assert [block["text"] for block in transcript.messages[-1]["content"]] == ["Answer.", "Answer now."]


def test_a_note_that_comes_before_the_results_answers_the_calls_first() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([CALLED])
    transcript.ask_on()
    transcript.add_tool_results([CallText(CALL, "too late", is_error=False)])
    (result,) = transcript.messages[-1]["content"]
    assert result["is_error"]
    assert result["content"].startswith("Not run")
    assert "too late" not in str(transcript.messages)


def test_a_second_result_of_a_call_is_left_out_and_a_missing_one_is_made() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([CALLED, {**CALLED, "id": "call_2"}])
    results = [CallText(CALL, text, is_error=False) for text in ("x", "again")]
    transcript.add_tool_results(results)
    transcript.add_tool_results(results)
    assert [block["content"] for block in transcript.messages[-1]["content"]] == ["x", NOT_RUN]
    assert len(transcript.messages) == 3


def test_work_beside_the_answer_leaves_no_trace() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_turn([CALLED])
    before = transcript.messages
    beside = transcript.beside(["Review it."]).messages
    assert beside[-2]["content"][0]["content"] == "Not run yet."
    assert beside[-1] == {"role": "system", "content": [{"type": "text", "text": "Review it."}]}
    assert transcript.messages == before


def test_no_results_are_no_message() -> None:
    transcript = Transcript.of([], "A?")
    transcript.add_tool_results([])
    assert len(transcript.messages) == 1


STEPS: Any = st.lists(st.sampled_from(["note", "says", "calls", "results", "nothing", "beside"]), max_size=12)


@given(STEPS)
def test_every_request_is_one_that_the_provider_takes_and_begins_with_the_one_before(steps: list[str]) -> None:
    transcript = Transcript.of([], "A?")
    before: list[Any] = []
    for number, step in enumerate(steps):
        call = {**CALLED, "id": f"call_{number}"}
        if step == "note":
            transcript.add_notes(["Look closer."])
        elif step in ("says", "calls", "nothing"):
            said = {"type": "text", "text": "So."}
            transcript.add_turn({"says": [said], "calls": [said, call], "nothing": []}[step])
        elif step == "results":
            ids = [each for each in map("call_{}".format, range(number)) if transcript.has_call(each)]
            transcript.add_tool_results([CallText(ToolUse(each, "probe", {}), "x", is_error=False) for each in ids])
        asked = transcript.beside(["Go on."]).messages
        assert complaint({"model": "claude-sonnet-5-5", "max_tokens": 1, "messages": list(asked)}) is None
        sent = [(message["role"], block) for message in transcript.messages for block in message["content"]]
        assert sent[: len(before)] == before
        before = sent
        transcript.mark_sent()


def test_adding_changes_no_message_that_was_sent_before() -> None:
    transcript = Transcript.of([], "A?")
    sent = transcript.messages
    transcript.add_notes(["Look closer."])
    assert sent[0]["content"] == [{"type": "text", "text": "A?"}]


def test_what_changes_of_the_tools_stands_behind_what_was_sent_before() -> None:
    """The first request lists its tools; a later one says where in the messages the model may call others."""
    both, first = ("search", "read"), (0, 0, ("search", "read"))
    transcript = Transcript.of((), "Why?")
    assert transcript.offers(both, both) == (first,)
    assert transcript.offers(both, ()) == (first, (1, 0, ()))
    transcript.add_notes(["Answer now."])
    transcript.offered = transcript.offers(both, ())
    assert transcript.offered == (first, (1, 1, ()))
    transcript.add_turn([{"type": "text", "text": "So."}])
    asked = transcript.beside(["And now?"])
    assert asked.offers(both, ()) == transcript.offered
    assert asked.offers(both, ("read",)) == (*transcript.offered, (4, 1, ("read",)))
    assert transcript.offered == (first, (1, 1, ())), "a request that is not applied leaves nothing"
