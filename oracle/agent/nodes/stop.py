"""The `stop` kind."""

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from bt_runtime.text.phrases import clipped
from oracle.agent import notices
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import STOPS
from oracle.core.chunks import TerminationReason


class StopSettings(NodeSettings):
    """Settings of `stop`.

    Args:
        reason: the `termination_reason` that the client gets.
    """

    reason: TerminationReason


@node(
    "stop",
    settings=StopSettings,
    shorthand="reason",
    facts=Facts(roles=(STOPS,)),
    flow=leaf(Case("success", stops=True)),
)
class Stop(AgentNode[StopSettings]):
    """Stops the query with a reason; a loop with `until: termination_reason` ends on it.

    SUCCESS, always. The first reason counts.

    ```yaml
    stop: completed
    ```
    """

    def update(self) -> Status:
        signal = self.agent.signals.latest
        reason = getattr(signal, "reason", "")
        repeated = f"it kept asking for another turn: {reason}" if reason else ""
        self.agent.ending.note_blocker(getattr(signal, "blocker", "") or notices.silence(self.agent.state) or repeated)
        self.stop_run(self.settings.reason)
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the state says it
        reason, wanted, blocker = self.board["termination_reason"], self.settings.reason, self.agent.ending.blocker
        if reason != wanted:
            return Words(f"{wanted}; the reason stays {reason}", f"The query had stopped before: {reason}.")
        because = f": {clipped(blocker, 120)}" if wanted == "stuck" and blocker else ""
        return Words(f"{wanted}{because}", f"The query stops as {wanted}{because}.")
