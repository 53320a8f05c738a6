"""Whole queries with thinking on, against a provider that refuses what the real one refuses (decisions 14, 33)."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest
import structlog

from bt_runtime.testing import FakeClock
from oracle.testing import ScriptedSearch, ScriptedTurn
from tests.acceptance.harness import CODE_QUESTION, ControlName, answers, calls, harness, text_of_request
from tests.support.provider import HttpError, PromptCache
from tests.support.provider.request import unmarked

LOOK = calls("search_code", query="RetryPolicy")
READ = calls("read_file", path="src/auth.py")


def thinks(text: str = "", *tools: object, **more: object) -> ScriptedTurn:
    return ScriptedTurn(text=text, thinking="Hm.", tool_calls=tuple(tools), **more)  # type: ignore[arg-type]


ANSWER = thinks("This is the answer.")
CUT = ScriptedTurn(thinking="Hm.", stop_reason="max_tokens")


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param([thinks("", LOOK), thinks("", READ), ANSWER], id="tools"),
        pytest.param([thinks("", LOOK, late_thinking="And?"), ANSWER], id="thinks-after-its-call"),
        pytest.param([CUT, ANSWER], id="cut-off-while-thinking"),
        pytest.param([thinks("", LOOK), CUT, thinks("", READ), ANSWER], id="cut-off-after-results"),
        pytest.param([thinks("This is", stop_reason="max_tokens"), thinks("the answer.")], id="cut-off-in-text"),
        pytest.param(
            [thinks("", searches=(ScriptedSearch("q"),), stop_reason="pause_turn", late_thinking="And?"), ANSWER],
            id="paused-while-thinking",
        ),
        pytest.param([thinks("", stop_reason="pause_turn"), ANSWER], id="paused-in-thinking-alone"),
    ],
)
async def test_a_query_gets_its_answer_however_its_turns_end(turns: list[ScriptedTurn], control: ControlName) -> None:
    async with harness([*turns, ANSWER], control=control, thinking_tokens=2048) as it:
        answered = await it.ask()
        again = await it.ask("And the other one?", context_id=answered.done.context_id)
    assert answered.reason == again.reason == "completed"
    assert "answer." in answered.answer
    for earlier, later in pairwise(answered.bodies):
        assert said(later)[: len(said(earlier))] == said(earlier), "what was sent once is sent again, and only grows"


def said(body: Mapping[str, Any]) -> list[tuple[str, object]]:
    return [(message["role"], unmarked(block)) for message in body["messages"] for block in message["content"]]


async def test_a_query_reads_its_own_beginning_from_the_provider_s_cache(control: ControlName) -> None:
    turns = [thinks("", LOOK), thinks("", READ), thinks("", LOOK, READ), ANSWER]
    async with harness(turns, control=control, thinking_tokens=2048, cache=PromptCache(FakeClock().now)) as it:
        await it.ask()
        used = [request.cached for request in it.wire.requests if request.cached is not None]
    for earlier, later in pairwise(used):
        assert later.read_tokens == earlier.read_tokens + earlier.creation_tokens


async def test_a_question_that_the_model_declined_is_not_sent_again(control: ControlName) -> None:
    refused = ScriptedTurn(text="Zanzibar", stop_reason="refusal")
    async with harness([refused, answers(), answers()], control=control) as it:
        first = await it.ask("Where is the forbidden thing in the code?")
        second = await it.ask(CODE_QUESTION, context_id=first.done.context_id)
        third = await it.ask("And the other one?", context_id=first.done.context_id)
    assert first.failures[0].error_type == "provider_refused"
    assert first.failures[0].error.startswith("The model declined to answer this: The script says so. Put the question")
    assert "forbidden" in str(first.conversation.messages[0].content), "the conversation keeps it"
    for answered in (second, third):
        assert "forbidden" not in text_of_request(answered.bodies[0])
        assert "Zanzibar" not in text_of_request(answered.bodies[0])
    assert CODE_QUESTION in text_of_request(third.bodies[0])


async def test_users_read_what_happened_and_operators_why_under_the_same_reference(control: ControlName) -> None:
    refusal = HttpError("authentication_error", "invalid x-api-key sk-ant-secret")
    with structlog.testing.capture_logs() as lines:
        async with harness([refusal], control=control) as it:
            answered = await it.ask()
    told, reference = answered.failures[0].error, f"Reference: {answered.done.run_id}."
    assert told.startswith("The language model is not set up correctly.")
    assert told.endswith(reference)
    assert answered.last_sentence == f"Stopped: {told}"
    assert not any(word in told for word in ("ANTHROPIC", "401", "x-api-key"))
    (failed,) = [line for line in lines if line["event"] == "query.failed"]
    assert failed["run_id"] == answered.done.run_id
    assert "Check ANTHROPIC_API_KEY" in failed["problem"]
    assert failed["detail"]["request_id"] == "req_standin_1"
