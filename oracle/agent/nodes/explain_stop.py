"""The `explain_stop` kind."""

from bt_runtime import Facts, NoSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import Case, leaf
from oracle.agent.closing import explain_stop
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.roles import EXPLAINS_STOP


@node("explain_stop", facts=Facts(roles=(EXPLAINS_STOP,)), flow=leaf(Case("success", stops=True)))
class ExplainStop(AgentNode[NoSettings]):
    """Says why the query stopped, where it did not simply complete: a notification, and a last sentence of the answer.

    SUCCESS, always.

    ```yaml
    explain_stop:
    ```
    """

    def update(self) -> Status:
        self.agent.ending.note_errors(self.run.errors)
        explain_stop(self.agent)
        self.stop_run(self.agent.state.termination_reason or "completed")
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:
        reason = self.board["termination_reason"]
        written = next((write.before for write in step.writes if write.key == "termination_reason"), "")
        if written:
            return Words(f"{reason}, not {written}", f"The facts do not support {written}: the query ends as {reason}.")
        return Words(reason, f"The query ends as {reason}.")
