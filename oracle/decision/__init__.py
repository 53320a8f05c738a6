"""Control of a query as data and pure functions: limits, state, termination rules, decision trees in Python."""

from typing import TYPE_CHECKING

from oracle.core.loading import lazy_door

if TYPE_CHECKING:  # for laziness, not against a cycle: type checkers do not run `__getattr__`
    from oracle.decision.config import AgentConfig, ConfigError, bounds, stricter
    from oracle.decision.progress import (
        Repetition,
        ToolAction,
        action_signature,
        canonical_arguments,
        detect_no_progress,
        find_repetition,
    )
    from oracle.decision.state import AgentState
    from oracle.decision.trees import (
        DecisionTree,
        DecisionTreeError,
        DefaultDecisionTree,
        decision_tree,
        decision_trees,
        make_decision_tree,
    )

__all__ = [
    "AgentConfig",
    "AgentState",
    "ConfigError",
    "DecisionTree",
    "DecisionTreeError",
    "DefaultDecisionTree",
    "Repetition",
    "ToolAction",
    "action_signature",
    "bounds",
    "canonical_arguments",
    "decision_tree",
    "decision_trees",
    "detect_no_progress",
    "find_repetition",
    "make_decision_tree",
    "stricter",
]

_HOMES = {
    "oracle.decision.config": "AgentConfig ConfigError bounds stricter",
    "oracle.decision.trees": "DecisionTree DecisionTreeError DefaultDecisionTree decision_tree decision_trees "
    "make_decision_tree",
    "oracle.decision.progress": "Repetition ToolAction action_signature canonical_arguments detect_no_progress "
    "find_repetition",
    "oracle.decision.state": "AgentState",
}

__getattr__ = lazy_door(__name__, _HOMES)
