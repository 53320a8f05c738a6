"""The `no_progress` guard."""

from bt_runtime import NoSettings, node
from oracle.decision import Action, AgentState, rules
from oracle.nodes.base import AgentGuard


@node("no_progress")
class NoProgress(AgentGuard[NoSettings]):
    """Trips when the same tool calls bring the same results over and over: `no_progress`.

    SUCCESS while there is progress: other calls, other arguments, or other results.

    ```yaml
    no_progress:
    ```
    """

    reason = "no_progress"
    _judged: tuple[Action, ...] | None = None
    _verdict = False

    def holds(self, state: AgentState) -> bool:
        """Whether the latest actions repeat themselves; the same actions are judged once."""
        if state.recent_actions is not self._judged:
            self._judged, self._verdict = state.recent_actions, rules.is_repeating_itself(state)
        return self._verdict
