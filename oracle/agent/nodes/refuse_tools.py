"""The `refuse_tools` kind."""

from bt_runtime import Facts, NodeSettings, Status, Stepped, Words, node
from bt_runtime.language.flow import leaf
from bt_runtime.text.phrases import clipped
from oracle.agent.nodes.base import AgentNode
from oracle.agent.nodes.flows import ANSWERING_CALLS
from oracle.agent.nodes.roles import REFUSES_CALLS
from oracle.agent.tool_calls import NO_TURN_LEFT, refuse_open


class RefuseToolsSettings(NodeSettings):
    """Settings of `refuse_tools`.

    Args:
        why: the result that the model and the user get.
    """

    why: str = NO_TURN_LEFT


@node(
    "refuse_tools",
    settings=RefuseToolsSettings,
    shorthand="why",
    facts=Facts(roles=(REFUSES_CALLS,)),
    flow=leaf(*ANSWERING_CALLS),
)
class RefuseTools(AgentNode[RefuseToolsSettings]):
    """Answers the tool calls of the last turn without running them.

    SUCCESS, always. They count neither as actions nor as errors.

    ```yaml
    refuse_tools: "Not run: this question is answered from memory."
    ```
    """

    def update(self) -> Status:
        refuse_open(self.agent, self.settings.why)
        self.publish()
        return Status.SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        why = clipped(self.settings.why, 120)
        return Words(f'answered "{why}"', f'Open tool calls are answered without being run: "{why}"')
