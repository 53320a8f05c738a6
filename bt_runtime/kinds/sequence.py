"""The `sequence` kind."""

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node
from bt_runtime.status import SUCCESS, Status


class SequenceSettings(NodeSettings):
    """Settings of `sequence`.

    Args:
        memory: after RUNNING, go on with the child that was running. Without memory the sequence is reactive: it starts
            from the first child at every tick.
    """

    memory: bool = True


@node("sequence", category="composite", settings=SequenceSettings, slots=CHILDREN, shorthand="children")
class Sequence(Node[SequenceSettings]):
    """Ticks its children in order, as long as they succeed.

    SUCCESS when the last child has succeeded; FAILURE as soon as one fails; RUNNING while one is running.
    With `memory: false` the children left of the running one are ticked again at every tick, and when one of them
    fails, the running child is halted; so only conditions and guards may stand there.

    ```yaml
    sequence:
      - condition: "turn > 3"
      - set: {hint: "'Be brief.'"}
    ```
    """

    _next = 0

    def initialise(self) -> None:
        """Start a new round."""
        self._next = 0

    def update(self) -> Status:
        """Tick the children from where the round stands; those behind the last one have no part in the round yet."""
        children = self.children
        for position in range(self._next if self.settings.memory else 0, len(children)):
            status = children[position].step()
            if status is not SUCCESS:
                self._next = position
                self.reset_children(position + 1)
                return status
        return SUCCESS
