"""What `sequence` and `selector` share: children in their order, until one does not let the next one have its turn."""

from typing import ClassVar

from bt_runtime.kind import NodeSettings
from bt_runtime.nodes import Node
from bt_runtime.status import Status


class InOrderSettings(NodeSettings):
    """Settings of `sequence` and `selector`.

    Args:
        memory: after RUNNING, go on with the child that was running. Without memory the node is reactive: it starts
            from the first child at every tick.
    """

    memory: bool = True


class InOrder(Node[InOrderSettings]):
    """Ticks its children in order, as long as they answer `passes_on`."""

    passes_on: ClassVar[Status]

    _next = 0

    def initialise(self) -> None:
        """Start a new round."""
        self._next = 0

    def update(self) -> Status:
        """Tick the children from where the round stands; those behind the last one have no part in the round yet."""
        children, passes_on = self.child_nodes, self.passes_on
        for position in range(self._next, len(children)):
            status = children[position].step()
            if status is not passes_on:
                if self.settings.memory:
                    self._next = position
                self.reset_children(position + 1)
                return status
        return passes_on
