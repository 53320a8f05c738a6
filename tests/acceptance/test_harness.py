"""The harness itself: its questions are of the kinds that they say, and a query goes from end to end."""

import pytest

from oracle.classify import classify_query
from oracle.core.chunks import Content
from tests.acceptance.harness import (
    ACTION_QUESTION,
    CHAT,
    CODE_QUESTION,
    RESEARCH_QUESTION,
    VAULT_QUESTION,
    ControlName,
    answers,
    calls,
    harness,
    says,
    text_of_request,
)


@pytest.mark.parametrize(
    ("question", "query_type"),
    [
        (CODE_QUESTION, "code"),
        (VAULT_QUESTION, "documentation"),
        (RESEARCH_QUESTION, "research"),
        (ACTION_QUESTION, "action"),
        (CHAT, "conversational"),
    ],
)
def test_each_question_of_the_harness_is_surely_of_its_kind(question: str, query_type: str) -> None:
    found = classify_query(question)
    assert found.query_type == query_type
    assert found.confidence >= 0.6


async def test_a_query_goes_from_question_to_done_over_the_real_wire(control: ControlName) -> None:
    turns = [says("Looking.", calls("search_code", query="RetryPolicy"), tokens=(100, 20)), answers(piece_chars=7)]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert answered.answer == "Looking.\n\nThis is the answer."
    assert [call.name for call in answered.calls] == ["search_code"]
    assert "src/retry.py" in answered.results[0].tool_result
    assert answered.sources[0].source.path == "src/retry.py"
    assert len(answered.bodies) == 2
    assert "src/retry.py" in text_of_request(answered.bodies[1])
    assert len(answered.of(Content)) > 3
    assert (len(answered.recording) > 0) == (control == "tree")


async def test_a_query_goes_from_question_to_done_with_a_scripted_model(control: ControlName) -> None:
    async with harness([answers()], control=control, wire=False) as it:
        answered = await it.ask()
    assert answered.answer == "This is the answer."
    assert answered.requests[0].tool_choice == "auto"
