"""The base of `sequence` and `selector`: ticks children in order until one of them decides the result."""

from collections.abc import Callable
from typing import Any, ClassVar

from bt_runtime.language.explanation import Stepped, Words, of_step
from bt_runtime.language.kind import NodeSettings
from bt_runtime.nodes.base import Ends, Node
from bt_runtime.nodes.wording import said, says
from bt_runtime.record.status import INVALID, RUNNING, Status
from bt_runtime.text.phrases import listed


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
    """The child that is RUNNING; says nothing where the node is not."""

    @property
    def memory(self) -> bool:
        """For py_trees' displays."""
        return self.settings.memory

    def update(self) -> Status:
        """Tick the children from the current one on; those after the last one ticked are not part of the round yet."""
        children, passes_on = self.child_nodes, self.passes_on
        for position in range(self._next if self.status is RUNNING else 0, len(children)):
            status = children[position].step()
            if status is not passes_on:
                if position != self._next and self.settings.memory:
                    self._next = position
                after = position + 1  # none is INVALID before one that is not: all are ticked in this order
                if after < len(children) and children[after].status is not INVALID:
                    self.reset_children(after)
                return status
        return passes_on

    def ahead(self) -> tuple[Node[Any], ...]:
        """The child that is RUNNING and those after it; without memory all."""
        return self.child_nodes[self._next :]

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As a child that decides, or as the last one."""
        return self._ends_from(0, enter)

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """Where the child passes on, as those after it; without memory an earlier one may decide meanwhile."""
        at, on = self.child_nodes.index(child), frozenset({self.passes_on})
        earlier = [] if self.settings.memory else [enter(each) - on for each in self.child_nodes[:at]]
        later = self._ends_from(at + 1, enter) if ends & on else frozenset()
        return (ends - on).union(later, *earlier)

    def _ends_from(self, position: int, enter: Callable[[Node[Any]], Ends]) -> Ends:
        on, found = frozenset({self.passes_on}), frozenset[Status]()
        for child in self.child_nodes[position:]:
            ends = enter(child)
            found |= ends - on
            if not ends & on:
                return found
        return found | on

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
