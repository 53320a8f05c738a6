"""Lets py_trees' visitors watch a run."""

from collections.abc import Iterable

from py_trees.visitors import VisitorBase

from bt_runtime.nodes.base import Node
from bt_runtime.record.recording import TickRecord
from bt_runtime.runtime.builder import LiveTree


class Visiting:
    """An observer that calls py_trees' visitors after each tick, as its `BehaviourTree` does.

    A visitor sees the nodes that were ticked, or all where it is `full`: children before their parents, with the
    statuses that they have after the tick. Visitors must not change the tree, because a replay runs without them.

    Args:
        tree: the tree that is run.
        visitors: such as `DisplaySnapshotVisitor`.
    """

    def __init__(self, tree: LiveTree, visitors: Iterable[VisitorBase]) -> None:
        self._tree = tree
        self._visitors = tuple(visitors)

    def on_tick(self, record: TickRecord) -> None:
        """Show the tick to every visitor."""
        ticked = frozenset(record.visited)
        for visitor in self._visitors:
            visitor.initialise()
        for node in self._tree.root.iterate():
            for visitor in self._visitors:
                if visitor.full or (isinstance(node, Node) and node.index in ticked):
                    node.visit(visitor)
        for visitor in self._visitors:
            visitor.finalise()
