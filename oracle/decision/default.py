"""The default decision tree: control by the shared rules alone."""

from collections.abc import Mapping
from typing import Any

from oracle.decision import rules
from oracle.decision.config import AgentConfig
from oracle.decision.progress import as_action
from oracle.decision.registry import decision_tree
from oracle.decision.state import AgentState


@decision_tree("default")
class DefaultDecisionTree:
    """Continues until one of the termination rules holds."""

    def __init__(self, config: AgentConfig | None = None) -> None:
        self._config = config or AgentConfig()

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        """(true, "") or (false, the termination reason of highest priority)."""
        reason = rules.termination(state)
        return reason is None, reason or ""

    def on_turn_start(self, state: AgentState) -> AgentState:
        """Mark the warnings that are due."""
        return rules.mark_warnings(state)

    def on_tool_result(self, state: AgentState, result: Mapping[str, Any]) -> AgentState:
        """Add the action to the history that the rules use; without a digest, the result is compared by its text."""
        text = result.get("text")
        action = as_action(result if text is None else {"result_digest": text, **result})
        return state.after_tool_result(action, error=str(text or ""), source=result.get("group"))

    def get_config(self) -> AgentConfig:
        """The limits in force."""
        return self._config
