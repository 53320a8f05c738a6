"""Control of a query as data and pure functions: limits, state, termination rules, decision trees in Python."""

from oracle.decision.config import AgentConfig, ConfigError, bounds, stricter
from oracle.decision.default import DefaultDecisionTree
from oracle.decision.progress import (
    Repetition,
    ToolAction,
    action_signature,
    canonical_arguments,
    detect_no_progress,
    find_repetition,
)
from oracle.decision.protocol import DecisionTree
from oracle.decision.registry import DecisionTreeError, decision_tree, decision_trees, make_decision_tree
from oracle.decision.state import AgentState

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
