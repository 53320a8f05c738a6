"""The token budget: counting, the cap on requests, the stream that is closed (012 FR-004.4; decisions 6, 13, 14)."""

from math import ceil

import pytest

from bt_runtime.text import estimate_tokens
from oracle.agent.notes import WRAP_UP
from oracle.core.chunks import TokenUsage
from oracle.llm.protocol import Usage
from oracle.testing import ScriptedTurn
from tests.acceptance.harness import (
    NEED_TURN,
    ControlName,
    answers,
    calls,
    hangs,
    harness,
    says,
    text_of,
    text_of_request,
)
from tests.acceptance.requests import can_call

LISTING = calls("list_files")


async def test_012_fr_004_4_the_query_ends_when_the_budget_is_reached_before_its_tools_run(
    control: ControlName,
) -> None:
    turns = [says("One.", LISTING, tokens=30_000), says("Two.", LISTING, tokens=20_112)]
    async with harness(turns, control=control) as it:
        answered = await it.ask(limits={"token_budget": 50_000})
    assert answered.reason == "token_budget"
    assert [result.is_error for result in answered.results] == [False, True]
    assert answered.messages == ["Token budget reached (50,112/50,000 tokens). Saving partial response."]
    assert answered.notices[0].metadata == {
        "current_value": 50_112,
        "limit_value": 50_000,
        "percent": 100,
        "limit_type": "token",
    }
    assert answered.answer == "One.\n\nTwo.\n\nStopped: token budget reached (50,112/50,000 tokens)."
    assert (answered.done.tokens_used, answered.done.tokens_estimated) == (50_112, False)


async def test_decision_06_the_first_turn_always_runs_and_may_answer(control: ControlName) -> None:
    async with harness([answers("It is so.", tokens=(90_000, 10))], control=control) as it:
        answered = await it.ask(limits={"token_budget": 1_000})
    assert answered.reason == "completed"
    assert answered.answer == "It is so."


async def test_decision_06_input_cache_creation_and_output_count_and_cache_reads_do_not(control: ControlName) -> None:
    usage = Usage(input_tokens=100, cache_creation_tokens=50, cache_read_tokens=9_000, output_tokens=7)
    turns = [ScriptedTurn(text="One.", tool_calls=(LISTING,), usage=usage), answers(tokens=(3, 4))]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.done.tokens_used == 157 + 7
    assert answered.done.usage == TokenUsage(103, 50, 9_000, 11)
    assert answered.done.tokens_estimated is False


async def test_decision_06_where_nothing_is_reported_tokens_are_a_quarter_of_the_characters(
    control: ControlName,
) -> None:
    text = "The answer has so many characters."
    async with harness([says(text, tokens=None)], control=control, wire=False) as it:
        answered = await it.ask()
    request = answered.requests[0]
    sent = len(request.system) + len(text_of(request.messages[0]))
    assert answered.done.tokens_used == ceil(sent / 4) + ceil(len(text) / 4)
    assert answered.done.tokens_estimated is True


async def test_decision_06_a_request_asks_for_no_more_output_than_is_left(control: ControlName) -> None:
    turns = [says("One.", LISTING, tokens=(0, 900)), says("Two.", LISTING, tokens=(0, 600)), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask(limits={"token_budget": 2_000})
    assert [body["max_tokens"] for body in answered.bodies] == [2_000, 1_100, 500]


async def test_decision_06_a_request_asks_for_no_more_than_a_turn_may_say(control: ControlName) -> None:
    async with harness([answers()], control=control, max_output_tokens=4_321) as it:
        answered = await it.ask()
    assert answered.bodies[0]["max_tokens"] == 4_321


async def test_decision_06_stream_is_closed_when_estimated_output_exceeds_the_budget(control: ControlName) -> None:
    text = "".join(f"{number:07d} " for number in range(2_000))
    async with harness([hangs(says(text, piece_chars=80))], control=control) as it:
        query = await it.start(limits={"token_budget": 1_000})
        answered = await query.result()
        await it.wire.wait_disconnected()
    said = answered.answer.removesuffix("\n\nStopped: token budget reached (1,060/1,000 tokens).")
    assert said == text[: 4_000 + 80]
    assert answered.reason == "token_budget"
    assert answered.done.tokens_used == 40 + estimate_tokens(len(said))
    assert answered.done.tokens_estimated is True


async def test_decision_06_thinking_counts_as_output_while_it_streams(control: ControlName) -> None:
    turn = says("", thinking="t" * 8_000, piece_chars=100)
    async with harness([hangs(turn)], control=control) as it:
        answered = await it.ask(limits={"token_budget": 1_000})
    assert answered.reason == "token_budget"
    assert len(answered.thinking) == 4_100
    assert answered.answer.startswith("Stopped: token budget reached")


async def test_decision_06_input_alone_never_closes_a_stream(control: ControlName) -> None:
    text = "The whole answer. " * 50
    async with harness([says(text, tokens=(150_000, 200), piece_chars=10)], control=control) as it:
        answered = await it.ask(limits={"token_budget": 1_000})
    assert answered.answer == text
    assert answered.reason == "completed"


@pytest.mark.parametrize(("budget", "thinking"), [(2_047, 0), (2_048, 1_024), (9_000, 1_500)])
async def test_decision_06_thinking_is_off_when_less_than_2048_is_left(
    control: ControlName, budget: int, thinking: int
) -> None:
    async with harness([answers()], control=control, wire=False, thinking_tokens=1_500) as it:
        answered = await it.ask(limits={"token_budget": budget})
    assert answered.requests[0].thinking_tokens == thinking


def dear(*turns: ScriptedTurn) -> list[ScriptedTurn]:
    """A first turn after which a budget of 10 000 pays for one more, and these."""
    return [says("One.", LISTING, tokens=(4_400, 100)), *turns]


async def test_decision_13_the_last_turn_that_the_budget_pays_for_wraps_up(control: ControlName) -> None:
    async with harness(dear(answers("That is it.")), control=control) as it:
        answered = await it.ask(limits={"token_budget": 10_000})
    first, second = answered.bodies
    assert can_call(first)
    assert can_call(second)
    assert second["tools"] == first["tools"]
    assert WRAP_UP in text_of(second["messages"][-1])
    assert WRAP_UP not in text_of_request(first)
    assert answered.reason == "completed"


async def test_decision_13_tools_called_in_the_last_paid_turn_are_not_run(control: ControlName) -> None:
    async with harness(dear(says("Two.", LISTING, tokens=(4_500, 100))), control=control) as it:
        answered = await it.ask(limits={"token_budget": 10_000})
    assert [result.is_error for result in answered.results] == [False, True]
    assert answered.results[1].tool_result.startswith("Not run")
    assert answered.reason == "token_budget"
    assert len(answered.bodies) == 2


async def test_decision_13_another_turn_asked_for_in_the_last_paid_one_is_not_granted(control: ControlName) -> None:
    async with harness(dear(says("Two." + NEED_TURN, tokens=(4_500, 100))), control=control) as it:
        answered = await it.ask(limits={"token_budget": 10_000})
    assert answered.reason == "token_budget"
    assert answered.last_sentence == "Stopped: token budget reached (9,100/10,000 tokens)."
    assert len(answered.bodies) == 2


async def test_decision_13_no_wrap_up_where_the_input_alone_exceeds_what_is_left(control: ControlName) -> None:
    turns = [says("One.", LISTING, tokens=(4_400, 2_000)), answers()]
    async with harness(turns, control=control) as it:
        answered = await it.ask(limits={"token_budget": 10_000})
    assert WRAP_UP not in text_of_request(answered.bodies[1])


async def test_decision_14_max_tokens_is_token_budget_even_if_less_was_reported_than_the_cap(
    control: ControlName,
) -> None:
    turn = says("Half an ans", tokens=(0, 900), stop_reason="max_tokens")
    async with harness([turn], control=control) as it:
        answered = await it.ask(limits={"token_budget": 1_000})
    assert answered.reason == "token_budget"


async def test_decision_14_a_full_context_window_is_a_truncation_that_ends_as_the_budget_does(
    control: ControlName,
) -> None:
    turns = [says("Half an ans", LISTING, stop_reason="model_context_window_exceeded"), answers("Better.")]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
        second = await it.ask("And now?", context_id=answered.done.context_id)
    assert answered.reason == "token_budget"
    assert answered.failures == []
    assert [result.is_error for result in answered.results] == [True]
    assert answered.last_sentence == (
        "Stopped: token budget reached (50/50,000 tokens): the conversation fills the model's context window."
    )
    assert second.answer == "Better."


async def test_decision_14_max_tokens_of_the_models_own_bound_is_another_turn(control: ControlName) -> None:
    turns = [says("Half an ans", stop_reason="max_tokens"), answers("wer.")]
    async with harness(turns, control=control) as it:
        answered = await it.ask()
    assert answered.reason == "completed"
    assert answered.done.turns == 2
    assert answered.answer == "Half an ans\n\nwer."
    asked, said, on, *_ = answered.bodies[1]["messages"]
    assert (asked["role"], said["role"], on["role"]) == ("user", "assistant", "user")
    assert text_of(on) == "Continue."
