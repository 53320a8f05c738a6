"""The `sequence` kind."""

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node
from bt_runtime.status import INVALID, SUCCESS, Status


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
        self.reset_children()

    def update(self) -> Status:
        """Tick the children from where the round stands."""
        children = self.children
        if not self.settings.memory:
            return self._react()
        for position in range(self._next, len(children)):
            status = children[position].step()
            if status is not SUCCESS:
                self._next = position
                return status
        return SUCCESS

    def _react(self) -> Status:
        children = self.children
        for position, child in enumerate(children):
            status = child.step()
            if status is not SUCCESS:
                for later in children[position + 1 : self._next + 1]:
                    later.stop(INVALID)
                self._next = position
                return status
        return SUCCESS
