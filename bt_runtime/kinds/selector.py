"""The `selector` kind."""

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node
from bt_runtime.status import FAILURE, Status


class SelectorSettings(NodeSettings):
    """Settings of `selector`.

    Args:
        memory: after RUNNING, go on with the child that was running. Without memory the selector is reactive: it asks
            the children of higher priority again at every tick.
    """

    memory: bool = True


@node("selector", category="composite", settings=SelectorSettings, slots=CHILDREN, shorthand="children")
class Selector(Node[SelectorSettings]):
    """Ticks its children in order, until one does not fail: the first that can, does.

    SUCCESS as soon as a child succeeds; FAILURE when all have failed; RUNNING while one is running.
    With `memory: false` the children left of the running one are asked again at every tick, and when one of them does
    not fail, the running child is halted.

    ```yaml
    selector:
      - condition: "turn > 9"
      - set: {hint: "'There is time.'"}
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
            if status is not FAILURE:
                self._next = position
                self.reset_children(position + 1)
                return status
        return FAILURE
