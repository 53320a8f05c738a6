"""The termination rules and the warnings, one by one and in their order (012 FR-004, SC-003; decisions 4, 6, 11)."""

from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.decision import AgentConfig, AgentState, DefaultDecisionTree, ToolAction, rules

STATE = AgentState(user_id="u", config=AgentConfig(max_iterations=10))
SAME = (ToolAction.from_call("probe", {}, result_digest="x"),) * 3
HOLDING: dict[str, dict[str, Any]] = {
    "user_cancelled": {"cancelled": True},
    "completed": {"answered": True},
    "max_iterations": {"turn": 10},
    "token_budget": {"tokens_used": 50_000},
    "timeout": {"elapsed_seconds": 120.0},
    "no_progress": {"recent_actions": SAME},
    "error_limit": {"error_streak": 3, "error_streak_since": 1, "error_streak_until": 2},
}
ORDER = list(HOLDING)


def test_one_repeated_response_is_still_progress_and_two_in_a_row_are_not() -> None:
    once = STATE.after_turn(tokens=1, estimated=False, answered=False, repeats=True)
    assert rules.termination(once) is None
    assert rules.termination(once.after_turn(tokens=1, estimated=False, answered=False, repeats=True)) == "no_progress"
    assert once.after_turn(tokens=1, estimated=False, answered=False).repeated_turns == 0


def test_a_fresh_state_goes_on() -> None:
    assert rules.termination(STATE) is None


@pytest.mark.parametrize("reason", ORDER)
def test_012_fr_004_each_condition_alone_stops_the_query_with_its_reason(reason: str) -> None:
    state = replace(STATE, **HOLDING[reason])
    assert rules.termination(state) == reason
    assert DefaultDecisionTree(state.config).should_continue(state) == (False, reason)


@given(st.sets(st.sampled_from(ORDER), min_size=1))
def test_012_fr_004_when_several_hold_the_one_of_highest_priority_counts(reasons: set[str]) -> None:
    state = STATE
    for reason in reasons:
        state = replace(state, **HOLDING[reason])
    assert rules.termination(state) == min(reasons, key=ORDER.index)


def test_a_reason_that_was_written_down_stays() -> None:
    assert rules.termination(replace(STATE, termination_reason="stuck", cancelled=True)) == "stuck"


@pytest.mark.parametrize(
    ("state", "holds"),
    [
        ({"turn": 9}, False),
        ({"tokens_used": 49_999}, False),
        ({"elapsed_seconds": 119.999}, False),
        ({"budget_cut": True}, True),
        ({"recent_actions": SAME[:2]}, False),
        ({"error_streak": 2, "error_streak_since": 1, "error_streak_until": 2}, False),
        ({"error_streak": 5, "error_streak_since": 1, "error_streak_until": 1, "turn": 2}, False),
    ],
)
def test_just_before_a_limit_the_query_goes_on(state: dict[str, Any], holds: bool) -> None:
    assert (rules.termination(replace(STATE, **state)) is not None) == holds


@pytest.mark.parametrize("reason", ORDER)
def test_012_sc_002_only_what_the_user_has_set_is_beyond_a_decision_trees_say(reason: str) -> None:
    beyond = {"user_cancelled", "max_iterations", "token_budget", "timeout"}
    assert (rules.exceeded(replace(STATE, **HOLDING[reason])) == reason) == (reason in beyond)


@pytest.mark.parametrize("reason", [name for name in ORDER if name != "completed"])
def test_a_reason_with_a_rule_is_supported_only_where_its_rule_holds(reason: str) -> None:
    others = [state for name, state in HOLDING.items() if name != reason]
    assert rules.is_true(reason, replace(STATE, **HOLDING[reason]))
    assert not any(rules.is_true(reason, replace(STATE, **state)) for state in others)


@pytest.mark.parametrize("reason", ["completed", "stuck", "error"])
def test_a_reason_without_a_rule_is_always_supported(reason: str) -> None:
    assert rules.is_true(reason, STATE)


@pytest.mark.parametrize(("turns", "holds"), [(0, False), (2, False), (3, True), (4, True)])
def test_three_empty_turns_in_a_row_are_too_many(turns: int, holds: bool) -> None:
    assert rules.says_nothing(replace(STATE, empty_turns=turns)) is holds


@pytest.mark.parametrize(("turns", "holds"), [(0, False), (9, False), (10, True), (11, True)])
def test_ten_broken_turns_in_a_row_are_too_many(turns: int, holds: bool) -> None:
    assert rules.keeps_breaking(replace(STATE, broken_turns=turns)) is holds


def due_at(limit: int, percent: int) -> int | None:
    """When the iteration warning is due, counted up turn by turn in whole numbers."""
    if limit == 1:
        return None
    return next(turn for turn in count(1) if turn * 100 >= limit * percent or turn + 2 >= limit)


@pytest.mark.parametrize("percent", range(50, 91))
def test_012_sc_003_the_iteration_warning_is_due_once_without_endy_limit_and_percentage(percent: int) -> None:
    for limit in range(1, 51):
        state = replace(STATE, config=AgentConfig(max_iterations=limit, soft_warning_percent=percent))
        warned: list[int] = []
        for turn in range(limit):
            state = rules.mark_warnings(replace(state, turn=turn))
            if state.turn_warned and not warned:
                warned.append(turn)
        expected = due_at(limit, percent)
        assert warned == ([] if expected is None else [expected])
        if expected is not None:
            assert limit - expected >= min(2, limit - 1)


@pytest.mark.parametrize(
    ("percent", "used", "due"), [(80, 39_999, False), (80, 40_000, True), (80, 50_000, False), (95, 47_500, True)]
)
def test_decision_06_the_token_warning_is_due_from_its_percentage_to_the_budget(
    percent: int, used: int, due: bool
) -> None:
    state = replace(STATE, config=AgentConfig(token_warning_percent=percent), tokens_used=used, turn=1)
    assert rules.token_warning_is_due(state) == due


def test_no_warning_comes_before_the_first_turn_or_twice() -> None:
    state = replace(STATE, tokens_used=45_000)
    assert not rules.token_warning_is_due(state)
    marked = rules.mark_warnings(replace(state, turn=8))
    assert (marked.turn_warned, marked.token_warned) == (True, True)
    assert rules.mark_warnings(marked) is marked
