"""The `grant_turn` kind."""

from bt_runtime import NodeSettings, Status, node
from oracle.nodes.base import AgentNode


class GrantTurnSettings(NodeSettings):
    """Settings of `grant_turn`.

    Args:
        hint: an instruction beside the request to continue.
    """

    hint: str = ""


@node("grant_turn", category="action", settings=GrantTurnSettings, shorthand="hint", acts=True)
class GrantTurn(AgentNode[GrantTurnSettings]):
    """Asks the model to continue in another turn; the guards of the loop decide whether there is one left.

    SUCCESS, always. The request is not part of the conversation that is kept.

    ```yaml
    grant_turn: {hint: "Try a tool that you have not used yet."}
    ```
    """

    def update(self) -> Status:
        """Ask."""
        self.agent.ask_again(self.settings.hint)
        return Status.SUCCESS
