"""The `error_limit` guard."""

from bt_runtime import Facts, Figure, NoSettings, Stepped, Words, node
from bt_runtime.language.flow import GuardFlow
from bt_runtime.text.phrases import clipped, counted
from oracle.agent.nodes.base import StateGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import SEES_ERRORS
from oracle.decision import AgentState, rules


@node("error_limit", facts=Facts(roles=(SEES_ERRORS,)), flow=GuardFlow("errors asked", writes=LAGGING))
class ErrorLimit(StateGuard[NoSettings]):
    """Trips after three tool errors in a row over at least two turns: `error_limit`.

    SUCCESS otherwise; one call that works starts the count anew.

    ```yaml
    error_limit:
    ```
    """

    reason = "error_limit"

    def holds(self, state: AgentState) -> bool:
        return rules.keeps_failing(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state, limit = self.agent.state, rules.ERROR_LIMIT
        text = f"{state.error_streak:,} of {limit} in a row"
        figures = (Figure("errors in a row", state.error_streak, limit),)
        if rules.keeps_failing(state):
            last = f"; the last one: {clipped(state.last_error, 120)}" if state.last_error else ""
            return Words(text, f"{counted(state.error_streak, 'tool error')} in a row{last}.", figures)
        if state.error_streak >= limit:
            text += ", all in one turn"
        return Words(text, f"Tool errors: {text}.", figures)
