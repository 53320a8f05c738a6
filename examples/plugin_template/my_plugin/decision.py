"""A decision tree in Python, the alternative to a tree in YAML."""

from oracle.decision import AgentState, DefaultDecisionTree


class Brief(DefaultDecisionTree):
    """Stops after two turns."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        """Whether another turn may begin, and why not."""
        return (False, "completed") if state.turn >= 2 else super().should_continue(state)
