"""The base of `sequence` and `selector`: ticks children in order until one of them decides the result."""

from typing import ClassVar

from bt_runtime.explanation import Stepped, Words, of_step
from bt_runtime.kind import NodeSettings
from bt_runtime.nodes import Node
from bt_runtime.status import Status
from bt_runtime.text.phrases import listed
from bt_runtime.wording import said, says


class InOrderSettings(NodeSettings):
    """Settings of `sequence` and `selector`.

    Args:
        memory: after RUNNING, continue with the child that was running. Without memory the node is reactive: it starts
            from the first child at every tick.
    """

    memory: bool = True


class InOrder(Node[InOrderSettings]):
    """Ticks its children in order, as long as they return `passes_on`."""

    passes_on: ClassVar[Status]

    _next = 0

    @property
    def memory(self) -> bool:
        """For py_trees' displays."""
        return self.settings.memory

    def initialise(self) -> None:
        self._next = 0

    def update(self) -> Status:
        """Tick the children from the current one on; those after the last one ticked are not part of the round yet."""
        children, passes_on = self.child_nodes, self.passes_on
        for position in range(self._next, len(children)):
            status = children[position].step()
            if status is not passes_on:
                if self.settings.memory:
                    self._next = position
                self.reset_children(position + 1)
                return status
        return passes_on

    @of_step
    def words(self, step: Stepped) -> Words:
        """Which children were asked, and what the last of them said."""
        if not step.ticked:
            return Words()
        *before, last = (child.title for child in step.ticked)
        if self.status is self.passes_on:
            return Words("", f"{listed([*before, last])} said {said(self.passes_on)}.")
        passed = f", after {listed(before)} said {said(self.passes_on)}" if before else ""
        return Words("", f"{last} {says(self.status)}{passed}.")
