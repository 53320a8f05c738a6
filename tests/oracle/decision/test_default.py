"""The default decision tree: pure functions over the shared rules (012 FR-012, FR-013; decision 21)."""

from dataclasses import replace

import pytest

from oracle.decision import AgentConfig, AgentState, DecisionTree, DefaultDecisionTree

STATE = AgentState(user_id="u", config=AgentConfig(max_iterations=10))


@pytest.fixture
def tree() -> DecisionTree:
    return DefaultDecisionTree(STATE.config)


def test_012_fr_012_it_goes_on_with_an_empty_reason(tree: DecisionTree) -> None:
    assert tree.should_continue(STATE) == (True, "")


def test_012_fr_012_on_turn_start_marks_the_warnings_that_are_due(tree: DecisionTree) -> None:
    assert tree.on_turn_start(STATE) == STATE
    assert tree.on_turn_start(replace(STATE, turn=7)).turn_warned


def test_012_fr_012_on_tool_result_adds_the_action_to_the_history(tree: DecisionTree) -> None:
    result = {
        "tool": "probe",
        "arguments": '{"b": 1, "a": 2}',
        "is_error": True,
        "result_digest": "x",
        "text": "no",
        "group": "code",
    }
    state = tree.on_tool_result(replace(STATE, turn=1), result)
    assert state.recent_actions[0].signature == 'probe({"a": 2, "b": 1})'
    assert (state.error_streak, state.last_error, state.sources_tried) == (1, "no", frozenset({"code"}))
    assert STATE.recent_actions == ()


def test_012_fr_012_get_config_gives_the_limits_in_force(tree: DecisionTree) -> None:
    assert tree.get_config() is STATE.config
    assert DefaultDecisionTree().get_config() == AgentConfig()


def test_a_result_with_missing_fields_is_taken_as_it_is(tree: DecisionTree) -> None:
    assert tree.on_tool_result(STATE, {}).recent_actions[0].tool == ""


def test_without_a_digest_the_text_stands_for_the_result(tree: DecisionTree) -> None:
    def after(texts: str) -> tuple[bool, str]:
        state = STATE
        for text in texts:
            state = tree.on_tool_result(state, {"tool": "poll", "arguments": {}, "is_error": False, "text": text})
        return tree.should_continue(state)

    assert after("abc") == (True, "")
    assert after("aaa") == (False, "no_progress")


def test_actions_kept_as_signatures_are_understood(tree: DecisionTree) -> None:
    actions = ('search({"q": "a", "n": 1})', 'search({"n":1,"q":"a"})', 'search({"q": "a", "n": 1})')
    assert tree.should_continue(replace(STATE, recent_actions=actions)) == (False, "no_progress")
    assert tree.should_continue(replace(STATE, recent_actions=("a", "b", "a"))) == (True, "")


def test_what_is_not_an_action_is_refused(tree: DecisionTree) -> None:
    with pytest.raises(TypeError, match=r"must be an Action or a mapping .* not 1"):
        tree.should_continue(replace(STATE, recent_actions=(1, 2, 3)))
