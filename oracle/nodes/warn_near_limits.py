"""The `warn_near_limits` kind."""

from bt_runtime import NoSettings, Status, node
from bt_runtime.checking.effects import Case, leaf
from oracle.nodes.base import AgentNode


@node("warn_near_limits", category="action", flow=leaf(Case("success")))
class WarnNearLimits(AgentNode[NoSettings]):
    """Tells user and model, once for each limit, that the turns or the tokens are nearly used up.

    SUCCESS, always. The user's percentages decide when; the model gets the warning as a note with its next turn.

    ```yaml
    warn_near_limits:
    ```
    """

    def update(self) -> Status:
        self.agent.warn_near_limits()
        return Status.SUCCESS
