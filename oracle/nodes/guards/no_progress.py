"""The `no_progress` guard."""

from bt_runtime import NoSettings, node
from oracle.decision import AgentState, rules
from oracle.nodes.base import StateGuard
from oracle.nodes.flows import guard


@node("no_progress", flow=guard("progress asked"))
class NoProgress(StateGuard[NoSettings]):
    """Trips when the same tool calls bring the same results over and over: `no_progress`.

    SUCCESS while there is progress: other calls, other arguments, or other results.

    ```yaml
    no_progress:
    ```
    """

    reason = "no_progress"

    def holds(self, state: AgentState) -> bool:
        return rules.is_repeating_itself(state)
