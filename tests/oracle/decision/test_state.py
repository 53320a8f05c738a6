"""`AgentState`: immutable, with transitions that make a new one (012 data model, FR-015; decision 21)."""

from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from oracle.decision import AgentConfig, AgentState, ToolAction
from oracle.decision.state import RECENT_ACTIONS

STATE = AgentState(user_id="u", config=AgentConfig())


def failed(number: int) -> ToolAction:
    return ToolAction.from_call("probe", {"n": number}, is_error=True, result_digest=str(number))


def worked(number: int) -> ToolAction:
    return ToolAction.from_call("probe", {"n": number}, result_digest=str(number))


def test_the_state_is_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        STATE.turn = 1  # type: ignore[misc]


def test_the_fields_of_the_data_model_are_there_with_its_defaults() -> None:
    assert {
        "user_id", "project_id", "turn", "tokens_used", "start_time", "recent_actions", "termination_reason", "config",
        "extensions",
    } <= {field.name for field in fields(AgentState)}  # fmt: skip
    assert (STATE.turn, STATE.tokens_used, STATE.recent_actions, STATE.termination_reason) == (0, 0, (), None)
    assert STATE.project_id is None
    assert dict(STATE.extensions) == {}


def test_the_derived_properties_are_those_of_the_data_model() -> None:
    state = replace(STATE, turn=3, tokens_used=12_500)
    assert state.iteration_percent == 20
    assert state.token_percent == 25
    assert not state.is_terminal
    assert replace(state, termination_reason="timeout").is_terminal


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("turn", -1, "turn must be 0 or more, not -1"),
        ("tokens_used", -5, "tokens_used must be 0 or more, not -5"),
        ("elapsed_seconds", -0.5, "elapsed_seconds must be 0 or more, not -0.5"),
        ("error_streak", -1, "error_streak must be 0 or more, not -1"),
        ("user_id", "", "user_id must not be empty"),
        ("recent_actions", tuple(range(10)), "recent_actions must hold at most 9, not 10"),
        ("termination_reason", "bored", "termination_reason must be one of user_cancelled, "),
    ],
)
def test_the_constructor_refuses_values_that_no_query_can_have(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(STATE, **{field: value})


def test_the_constructor_refuses_a_missing_config() -> None:
    with pytest.raises(TypeError, match="config must be an AgentConfig, not None"):
        AgentState(user_id="u", config=None)  # type: ignore[arg-type]


def test_the_first_reason_to_stop_counts_and_the_settled_one_replaces_it() -> None:
    stopped = STATE.stopped("timeout")
    assert stopped.termination_reason == "timeout"
    assert stopped.stopped("completed") is stopped
    assert stopped.settled("error").termination_reason == "error"


def test_a_turn_limit_of_the_control_can_only_lower_the_effective_limit() -> None:
    assert STATE.with_turn_limit(3).turn_limit == 3
    assert STATE.with_turn_limit(15) is STATE


@pytest.mark.parametrize(
    ("own", "trees", "effective"),
    [(15, None, 15), (15, 30, 15), (50, 30, 30), (15, 4, 4), (1, 1, 1), (5, 0, 1), (5, -3, 1)],
)
def test_decision_01_the_effective_limit_is_the_lower_one_and_at_least_1(
    own: int, trees: int | None, effective: int
) -> None:
    state = replace(STATE, config=AgentConfig(max_iterations=own), max_turns=trees)
    assert state.turn_limit == effective


def test_the_effective_time_is_the_shorter_one() -> None:
    assert STATE.time_limit_s == 120
    assert replace(STATE, max_seconds=2.5).time_limit_s == 2.5
    assert STATE.with_time_limit(2.5) == replace(STATE, max_seconds=2.5)
    assert replace(STATE, max_seconds=900).time_limit_s == 120


def test_a_finished_turn_counts_and_a_broken_one_only_costs() -> None:
    state = STATE.after_turn(tokens=10, estimated=False, answered=False, signal="need_turn")
    state = state.after_broken_turn(tokens=5, estimated=True)
    assert (state.turn, state.tokens_used, state.tokens_estimated, state.signals) == (1, 15, True, ("need_turn",))
    assert STATE.turn == 0


def test_broken_turns_are_counted_until_a_turn_finishes() -> None:
    state = STATE.after_broken_turn(tokens=1, estimated=False)
    assert state.broken_turns == 1
    state = state.after_broken_turn(tokens=1, estimated=False)
    assert state.broken_turns == 2
    assert state.after_turn(tokens=1, estimated=False, answered=True).broken_turns == 0
    assert state.after_side_turn(tokens=1, estimated=False, budget_cut=False).broken_turns == 0


def test_a_turn_is_neither_empty_nor_truncated_unless_stated() -> None:
    state = STATE.after_turn(tokens=10, estimated=False, answered=False)
    assert (state.empty_turns, state.budget_cut) == (0, False)


def test_empty_turns_are_counted_until_one_brings_something() -> None:
    empty = {"tokens": 10, "estimated": False, "answered": False, "empty": True}
    state = STATE.after_turn(**empty).after_turn(**empty)
    assert state.empty_turns == 2
    assert state.after_turn(**empty | {"empty": False}).empty_turns == 0


def test_a_turn_beside_the_answer_is_paid_for_and_changes_nothing_else() -> None:
    before = STATE.after_turn(tokens=10, estimated=False, answered=False, budget_cut=True, empty=True)
    after = before.after_side_turn(tokens=5, estimated=True, budget_cut=False)
    assert after == replace(before, turn=2, tokens_used=15, tokens_estimated=True)


def test_a_budget_cut_of_a_side_turn_is_kept() -> None:
    assert STATE.after_side_turn(tokens=5, estimated=False, budget_cut=True).budget_cut
    assert STATE.after_budget_cut() == replace(STATE, budget_cut=True)


def test_a_cancel_stays_while_the_time_goes_on() -> None:
    assert STATE.at(1.5) == replace(STATE, elapsed_seconds=1.5)
    assert STATE.at(1.5, cancelled=True).at(2.5) == replace(STATE, elapsed_seconds=2.5, cancelled=True)
    assert STATE.after_cancel() == replace(STATE, cancelled=True)


def test_tools_of_the_provider_were_tried_and_are_no_actions() -> None:
    state = STATE.after_tool_result(worked(1), source="code").after_server_tools(["web"], sources=["internet"])
    assert (state.tools_tried, state.sources_tried) == ({"probe", "web"}, {"code", "internet"})
    assert len(state.recent_actions) == 1
    assert STATE.after_tool_result(worked(1)).sources_tried == frozenset()


def test_a_decision_tree_changes_the_history_and_its_own_data_but_no_limits() -> None:
    wanted = STATE.extended(plan="x").after_tool_result(failed(1), error="no", source="code")
    wanted = replace(wanted, turn_warned=True, token_warned=True)
    greedy = replace(wanted, max_turns=50, turn=9, tokens_used=9, cancelled=True, termination_reason="completed")
    assert STATE.changed_by_control(greedy) == wanted


def test_a_broken_turn_that_cost_nothing_estimates_nothing() -> None:
    assert STATE.after_broken_turn(tokens=0, estimated=True).tokens_estimated is False


def test_only_the_last_nine_actions_are_kept_oldest_first() -> None:
    state = STATE
    for number in range(12):
        state = state.after_tool_result(worked(number), source="code")
    assert state.recent_actions == tuple(worked(number) for number in range(12 - RECENT_ACTIONS, 12))
    assert state.tools_tried == {"probe"}
    assert state.sources_tried == {"code"}


def test_the_row_of_errors_knows_where_it_began_and_ends_with_a_call_that_works() -> None:
    state = replace(STATE, turn=1).after_tool_result(failed(1), error="first")
    state = replace(state, turn=2).after_tool_result(failed(2), error="second")
    assert (state.error_streak, state.error_streak_since, state.error_streak_until) == (2, 1, 2)
    assert state.last_error == "second"
    state = state.after_tool_result(worked(3))
    assert state.error_streak == 0
    assert state.last_error == "second"
    state = replace(state, turn=5).after_tool_result(failed(4), error="third")
    assert (state.error_streak, state.error_streak_since, state.error_streak_until) == (1, 5, 5)


def test_012_fr_015_extensions_are_added_and_the_rest_is_untouched() -> None:
    extended = STATE.extended(plan=["a"]).extended(step=2)
    assert dict(extended.extensions) == {"plan": ["a"], "step": 2}
    assert replace(extended, extensions=STATE.extensions) == STATE
    mutable: Any = extended.extensions
    with pytest.raises(TypeError):
        mutable["step"] = 3


def test_tokens_left_are_never_negative() -> None:
    assert replace(STATE, tokens_used=12_500).tokens_left == 37_500
    assert replace(STATE, tokens_used=70_000).tokens_left == 0
