"""One tick: hand the tree its inputs, step it once, and record what it did.

A tick is a function of the tree's state and its `TickInput`. The run loop makes inputs from what happens; `replay`
takes them from records.
"""

from time import perf_counter
from typing import Any

from bt_runtime.builder import LiveTree
from bt_runtime.errors import BlackboardError
from bt_runtime.forcing import forced_path, forced_status
from bt_runtime.recording import TickInput, TickRecord, describe


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
