"""What a turn may cost and do (decisions 6, 13)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.agent.planning import InputEstimate, TurnPlan, message_characters, plan_turn
from oracle.decision import AgentConfig, AgentState

STATE = AgentState(user_id="u", config=AgentConfig(max_iterations=5, token_budget=10_000))


def plan(state: AgentState, *, input_tokens: int = 100, expected: int | None = None) -> TurnPlan:
    request = InputEstimate(input_tokens, input_tokens if expected is None else expected)
    return plan_turn(state, request=request, max_output_tokens=8_000, thinking_tokens=4_000)


@pytest.mark.parametrize(
    ("used", "asked", "capped"),
    [(0, 8_000, False), (2_000, 8_000, False), (2_001, 7_999, True), (9_999, 1, True), (12_000, 1, True)],
)
def test_decision_06_max_tokens_is_at_most_what_is_left_and_at_least_1(used: int, asked: int, capped: bool) -> None:
    planned = plan(replace(STATE, tokens_used=used))
    assert (planned.max_tokens, planned.capped_by_budget) == (asked, capped)


@pytest.mark.parametrize(("left", "thinking"), [(10_000, 4_000), (4_001, 2_000), (2_048, 1_024), (2_047, 0)])
def test_decision_06_thinking_is_off_when_there_is_no_room_for_it(left: int, thinking: int) -> None:
    assert plan(replace(STATE, tokens_used=10_000 - left)).thinking_tokens == thinking


@pytest.mark.parametrize(
    ("turn", "limit", "wraps_up"),
    [(0, 1, False), (0, 2, False), (1, 2, True), (3, 5, False), (4, 5, True), (5, 5, True)],
)
def test_decision_13_the_last_turn_of_two_or_more_wraps_up(turn: int, limit: int, wraps_up: bool) -> None:
    state = replace(STATE, config=AgentConfig(max_iterations=limit), turn=turn)
    assert plan(state).wrap_up == wraps_up


@pytest.mark.parametrize(
    ("input_tokens", "last_paid"), [(100, False), (4_499, False), (4_501, True), (10_000, True), (10_001, False)]
)
def test_decision_13_so_does_the_last_turn_that_the_budget_pays_for(input_tokens: int, last_paid: bool) -> None:
    planned = plan(STATE, input_tokens=input_tokens)
    assert (planned.is_last_paid, planned.wrap_up) == (last_paid, last_paid)


@pytest.mark.parametrize(("expected", "last_paid"), [(99, False), (4_499, False), (4_501, True)])
def test_decision_13_another_turn_is_reckoned_as_if_the_provider_had_nothing_in_its_cache(
    expected: int, last_paid: bool
) -> None:
    assert plan(STATE, input_tokens=4_500, expected=expected).is_last_paid == last_paid
    assert plan(STATE, input_tokens=8_902, expected=99).is_last_paid


def test_decision_13_with_a_limit_of_1_no_turn_wraps_up_whatever_the_budget() -> None:
    state = replace(STATE, config=AgentConfig(max_iterations=1, token_budget=1_000))
    assert not plan(state, input_tokens=900).wrap_up


def test_calls_and_results_count_as_characters_and_ids_do_not() -> None:
    messages = [
        {"role": "user", "content": "1234"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "12"},
                {"type": "tool_use", "id": "call_1", "name": "abc", "input": {"q": "1234"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "", "content": "12345"}]},
    ]
    assert message_characters(messages) == 4 + 2 + 3 + 4 + 5


@given(st.integers(0, 300_000), st.integers(0, 60), st.integers(0, 300_000))
def test_a_plan_is_always_one_that_can_be_sent(used: int, turn: int, input_tokens: int) -> None:
    planned = plan(replace(STATE, tokens_used=used, turn=turn), input_tokens=input_tokens)
    assert 1 <= planned.max_tokens <= max(1, 10_000 - used)
    assert planned.thinking_tokens < planned.max_tokens
    assert planned.tokens_left >= 0
