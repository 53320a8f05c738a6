"""One tick: hand the tree its inputs, step it once, and record what it did.

A tick is a function of the tree's state and its `TickInput`. The run loop makes inputs from what happens; `replay`
takes them from records.
"""

from time import perf_counter
from typing import Any

from bt_runtime.builder import LiveTree
from bt_runtime.errors import BlackboardError, HotLoopError
from bt_runtime.forcing import forced_path, forced_status
from bt_runtime.recording import TickInput, TickRecord, describe

MOST_FREE_TICKS = 1_000
"""Ticks in a row without an event; more are a hot loop."""
_VISITS_PER_TICK = 50
"""Nodes that each of them may visit, on the average; with a thousand ticks that is half a second of work."""


class FreeTicks:
    """Counts the ticks in a row that no event has caused, and the nodes that they visit.

    Args:
        most: ticks in a row.

    Attributes:
        count: how many there are.
    """

    __slots__ = ("_most", "_visits", "count")

    def __init__(self, most: int = MOST_FREE_TICKS) -> None:
        self._most = most
        self.reset()

    def reset(self) -> None:
        """Count from zero: the run waits for an event."""
        self.count = self._visits = 0

    def add(self, path: str, *, visits: int) -> None:
        """Count another tick.

        Args:
            path: the node that asked for it.
            visits: how many nodes the tick before it has visited.

        Raises:
            HotLoopError: the tree repeats itself without waiting for anything.
        """
        self.count += 1
        self._visits += visits
        if self.count > self._most:
            raise HotLoopError(path, self._most)
        if self._visits > self._most * _VISITS_PER_TICK:
            raise HotLoopError(path, self._visits, "nodes")


def tick_tree(tree: LiveTree, given: TickInput, *, is_timed: bool = False) -> TickRecord:
    """Step the tree once; the outcomes are set on their requests already.

    Args:
        tree: is stepped.
        given: the inputs of the tick.
        is_timed: the record tells how long it took.
    """
    began_s = perf_counter() if is_timed else 0.0
    tree.context.begin_tick(given.at_s)
    for key, value in given.deliveries:
        _deliver(tree, key, value)
    tree.root.step()
    took_ms = (perf_counter() - began_s) * 1000 if is_timed else 0.0
    return tree.context.end_tick(given, took_ms=took_ms)


def close_tree(tree: LiveTree, given: TickInput) -> TickRecord | None:
    """The record of what happened after the last tick, while the run was ended; `None` if nothing did."""
    return tree.context.end_tick(given) if given.outcomes or tree.context.has_changed() else None


def _deliver(tree: LiveTree, key: str, value: Any) -> None:  # noqa: ANN401  JSON data
    """The loop refuses wrong values at once; a recorded one may be wrong for an edited tree."""
    path = forced_path(key)
    if path is not None:
        _force(tree, path, value)
        return
    try:
        tree.blackboard.set(key, value)
    except BlackboardError as error:
        tree.context.record_error(tree.root.path, describe(error))


def _force(tree: LiveTree, path: str, result: object) -> None:
    status = forced_status(result)
    node = next((node for node in tree.root.walk() if node.path == path), None)
    if node is None or status is None:
        problem = f"no node {path!r}" if node is None else f"no result {result!r}"
        tree.context.record_error(tree.root.path, f"a result cannot be forced: there is {problem}")
    else:
        node.force(status)
