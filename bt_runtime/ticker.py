"""One tick: hand the tree its inputs, step it once, and record what it did.

A tick is a function of the tree's state and its `TickInput`. The run loop makes inputs from what happens; `replay`
takes them from records.
"""

from dataclasses import dataclass
from typing import Any

from bt_runtime.builder import LiveTree
from bt_runtime.errors import BlackboardError
from bt_runtime.recording import CauseKind, Outcome, TickRecord, describe


@dataclass(frozen=True, slots=True)
class TickInput:
    """All inputs of a tick; the fields are those of `TickRecord`."""

    cause: CauseKind
    causes: tuple[str, ...]
    at_s: float
    outcomes: tuple[Outcome, ...] = ()
    deliveries: tuple[tuple[str, Any], ...] = ()


def tick_tree(tree: LiveTree, given: TickInput) -> TickRecord:
    """Step the tree once; the outcomes are set on their requests already."""
    tree.context.begin_tick(given.at_s)
    for key, value in given.deliveries:
        _deliver(tree, key, value)
    tree.root.step()
    return _record(tree, given)


def close_tree(tree: LiveTree, given: TickInput) -> TickRecord | None:
    """The record of what happened after the last tick, while the run was ended; `None` if nothing did."""
    return _record(tree, given) if given.outcomes or tree.context.has_changed() else None


def _record(tree: LiveTree, given: TickInput) -> TickRecord:
    did = tree.context.end_tick()
    return TickRecord(
        tick=did.tick,
        at_s=given.at_s,
        cause=given.cause,
        causes=given.causes,
        outcomes=given.outcomes,
        deliveries=given.deliveries,
        visited=did.visited,
        changes=did.changes,
        writes=did.writes,
        errors=did.errors,
    )


def _deliver(tree: LiveTree, key: str, value: Any) -> None:  # noqa: ANN401  JSON data
    """The loop refuses wrong values at once; a recorded one may be wrong for an edited tree."""
    try:
        tree.blackboard.set(key, value)
    except BlackboardError as error:
        tree.context.record_error(tree.root.path, describe(error))
