"""`DecisionTree`: control of a query in Python, the extension point for skills.

A YAML tree is the usual way to change control; this protocol is for what a tree cannot say.
"""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from oracle.decision.config import AgentConfig
from oracle.decision.state import AgentState


@runtime_checkable
class DecisionTree(Protocol):
    """Decides whether the plain loop continues; every method is a pure function of its arguments."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        """Called before each turn, and after it before its tools: (continue?, the reason if not)."""
        ...

    def on_turn_start(self, state: AgentState) -> AgentState:
        """Called before each turn; setting `turn_warned` or `token_warned` sends that warning to user and model."""
        ...

    def on_tool_result(self, state: AgentState, result: Mapping[str, Any]) -> AgentState:
        """Called for each tool call that was run: `{tool, arguments, is_error, result_digest, text, group}`."""
        ...

    def get_config(self) -> AgentConfig:
        """The limits in force."""
        ...
