"""The `classify_response` kind."""

from py_trees.common import Status

from bt_runtime import NoSettings, node
from oracle.nodes.base import AgentNode


@node("classify_response", category="action", acts=True)
class ClassifyResponse(AgentNode[NoSettings]):
    """Reads from the last response where the work stands, when the model's own signal does not say it clearly.

    SUCCESS, always. Writes `intent`, one of the six signal types. Heuristics do it, or a classifier in their place.

    ```yaml
    classify_response:
    ```
    """

    def update(self) -> Status:
        """Ask the classifier."""
        turn = self.agent.last_turn
        intent = self.agent.equipment.intents.classify(turn.text if turn else "")
        self.agent.intent = intent
        self.board.set("intent", intent.signal_type)
        return Status.SUCCESS
