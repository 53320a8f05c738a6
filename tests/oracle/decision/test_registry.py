"""Decision trees by name (012 FR-014)."""

from typing import Any

import pytest

from oracle.decision import (
    AgentConfig,
    DecisionTreeError,
    DefaultDecisionTree,
    decision_tree,
    decision_trees,
    make_decision_tree,
)


@decision_tree("test-registry-mine")
class Mine(DefaultDecisionTree):
    pass


def _no_tree(_config: AgentConfig) -> Any:
    return object()


decision_tree("test-registry-none")(_no_tree)


def test_012_fr_014_a_class_is_registered_by_a_decorator_and_made_with_the_users_limits() -> None:
    made = make_decision_tree("test-registry-mine", AgentConfig(max_iterations=3))
    assert isinstance(made, Mine)
    assert made.get_config().max_iterations == 3


def test_the_default_tree_is_registered_from_the_start() -> None:
    assert decision_trees()["default"] is DefaultDecisionTree


def test_registering_a_name_twice_is_an_error() -> None:
    with pytest.raises(DecisionTreeError, match="'test-registry-mine' is registered already; choose another name"):
        decision_tree("test-registry-mine")(DefaultDecisionTree)
    assert decision_trees()["test-registry-mine"] is Mine


def test_an_unknown_name_is_reported_with_the_known_names() -> None:
    with pytest.raises(DecisionTreeError, match=r"there is no decision tree 'nowhere'; registered: .*default"):
        make_decision_tree("nowhere", AgentConfig())


def test_something_that_is_no_decision_tree_is_reported_with_the_missing_methods() -> None:
    with pytest.raises(DecisionTreeError, match="made a object; it must have should_continue, on_turn_start"):
        make_decision_tree("test-registry-none", AgentConfig())


def test_the_registry_cannot_be_written_to_from_outside() -> None:
    trees: Any = decision_trees()
    with pytest.raises(TypeError):
        trees["other"] = DefaultDecisionTree
