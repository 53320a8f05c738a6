"""The `token_budget` guard."""

from bt_runtime import Facts, Figure, NoSettings, Stepped, Words, node
from bt_runtime.language.flow import GuardFlow
from bt_runtime.text.phrases import counted
from oracle.agent.nodes.base import StateGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import LIMITS_TOKENS
from oracle.decision import AgentState, rules


@node("token_budget", facts=Facts(roles=(LIMITS_TOKENS,)), flow=GuardFlow("tokens asked", writes=LAGGING))
class TokenBudget(StateGuard[NoSettings]):
    """Trips when the tokens of the query have reached the user's budget: `token_budget`.

    SUCCESS while there are tokens left, and the budget did not cut the last response off.

    ```yaml
    token_budget:
    ```
    """

    reason = "token_budget"

    def holds(self, state: AgentState) -> bool:
        return rules.tokens_are_used_up(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        state, budget = self.agent.state, self.agent.state.config.token_budget
        text = f"{state.tokens_used:,} of {counted(budget, 'token')}"
        figures = (Figure("tokens", state.tokens_used, budget),)
        if not rules.tokens_are_used_up(state):
            return Words(text, f"{text} are used.", figures)
        if state.tokens_used >= budget:
            return Words(text, f"The token budget is used up: {text}.", figures)
        if self.agent.turn.is_last_paid:
            return Words(
                f"{text}; no further turn is paid", f"The token budget does not pay for another turn: {text}.", figures
            )
        return Words(f"{text}; it cut a turn off", f"The token budget has cut the response off: {text}.", figures)
