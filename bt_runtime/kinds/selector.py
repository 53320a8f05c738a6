"""The `selector` kind."""

from typing import Any

from py_trees.common import Status

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node


class SelectorSettings(NodeSettings):
    """Settings of `selector`.

    Args:
        memory: after RUNNING, go on with the child that was running. Without memory the selector is reactive: it asks the
            children of higher priority again at every tick.
    """

    memory: bool = True


@node("selector", category="composite", settings=SelectorSettings, slots=CHILDREN, shorthand="children")
class Selector(Node[SelectorSettings]):
    """Ticks its children in order, until one does not fail: the first that can, does.

    SUCCESS as soon as a child succeeds; FAILURE when all have failed; RUNNING while one is running.
    With `memory: false` the children left of the running one are asked again at every tick, and when one of them does not
    fail, the running child is halted.

    ```yaml
    selector:
      - condition: "turn > 3"
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
        start = self._next if self.settings.memory else 0
        children: list[Node[Any]] = self.children  # type: ignore[assignment]  # py_trees types them as its own base
        for position in range(start, len(children)):
            status = children[position].step()
            if status is not Status.FAILURE:
                if not self.settings.memory and position < self._next:
                    children[self._next].stop(Status.INVALID)
                self._next = position
                return status
        return Status.FAILURE
