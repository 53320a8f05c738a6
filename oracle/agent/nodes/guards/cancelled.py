"""The `cancelled` guard."""

from bt_runtime import Facts, NoSettings, Stepped, Words, node
from bt_runtime.language.flow import GuardFlow
from oracle.agent.nodes.base import AgentGuard
from oracle.agent.nodes.flows import LAGGING
from oracle.agent.nodes.roles import SEES_CANCEL
from oracle.decision import AgentState, rules


@node(
    "cancelled",
    facts=Facts(roles=(SEES_CANCEL,), reads=("cancel_requested",)),
    flow=GuardFlow("cancel asked", writes=LAGGING),
)
class CancelGuard(AgentGuard[NoSettings]):
    """Trips when the user has cancelled, or has gone for good: `user_cancelled`.

    SUCCESS while no cancel was requested.

    ```yaml
    cancelled:
    ```
    """

    reason = "user_cancelled"

    def holds(self, state: AgentState) -> bool:
        if self.run.read("cancel_requested") and not state.cancelled:
            self.agent.state = state = state.after_cancel()
        return rules.is_cancelled(state)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        if self.agent.state.cancelled:
            return Words("cancelled", "The user has cancelled, or has gone for good.")
        return Words("nobody has cancelled", "Nobody has cancelled.")
