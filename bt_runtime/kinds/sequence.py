"""The `sequence` kind."""

from typing import Any

from py_trees.common import Status

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node


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
    With `memory: false` the children left of the running one are ticked again at every tick, and when one of them fails,
    the running child is halted; so only conditions and guards may stand there.

    ```yaml
    sequence:
      - condition: "turn < 3"
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
        start = self._next if self.settings.memory else 0
        children: list[Node[Any]] = self.children  # type: ignore[assignment]  # py_trees types them as its own base
        for position in range(start, len(children)):
            status = children[position].step()
            if status is not Status.SUCCESS:
                if not self.settings.memory and position < self._next:
                    children[self._next].stop(Status.INVALID)
                self._next = position
                return status
        return Status.SUCCESS
