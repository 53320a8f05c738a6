"""The `selector` kind."""

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node
from bt_runtime.status import FAILURE, INVALID, Status


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
        self.reset_children()

    def update(self) -> Status:
        """Tick the children from where the round stands."""
        children = self.children
        if not self.settings.memory:
            return self._react()
        for position in range(self._next, len(children)):
            status = children[position].step()
            if status is not FAILURE:
                self._next = position
                return status
        return FAILURE

    def _react(self) -> Status:
        children = self.children
        for position, child in enumerate(children):
            status = child.step()
            if status is not FAILURE:
                for later in children[position + 1 : self._next + 1]:
                    later.stop(INVALID)
                self._next = position
                return status
        return FAILURE
