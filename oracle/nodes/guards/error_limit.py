"""The `error_limit` guard."""

from bt_runtime import NoSettings, node
from oracle.decision import AgentState, rules
from oracle.nodes.base import StateGuard
from oracle.nodes.flows import guard


@node("error_limit", flow=guard("errors asked"))
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
