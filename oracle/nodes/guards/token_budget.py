"""The `token_budget` guard."""

from bt_runtime import NoSettings, node
from oracle.decision import AgentState, rules
from oracle.nodes.base import StateGuard
from oracle.nodes.flows import guard


@node("token_budget", flow=guard("tokens asked"))
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
