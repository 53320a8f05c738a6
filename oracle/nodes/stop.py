"""The `stop` kind."""

from bt_runtime import NodeSettings, Status, node
from oracle.agent import notices
from oracle.chunks import TerminationReason
from oracle.nodes.base import AgentNode


class StopSettings(NodeSettings):
    """Settings of `stop`.

    Args:
        reason: the `termination_reason` that the client gets.
    """

    reason: TerminationReason


@node("stop", category="action", settings=StopSettings, shorthand="reason", acts=True)
class Stop(AgentNode[StopSettings]):
    """Stops the query with a reason; a loop with `until: termination_reason` ends on it.

    SUCCESS, always. The first reason counts.

    ```yaml
    stop: completed
    ```
    """

    def update(self) -> Status:
        self.agent.ending.note_blocker(self.board["blocker"] or self._silence() or self._repeated_request())
        self.stop_run(self.settings.reason)
        return Status.SUCCESS

    def _silence(self) -> str:
        return notices.silence(self.agent.state)

    def _repeated_request(self) -> str:
        reason = self.board["signal_reason"]
        return f"it kept asking for another turn: {reason}" if reason else ""
