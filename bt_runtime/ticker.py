"""One tick: hand the tree what has happened, step it once, and write down what it did.

A tick is a function of the tree's state and its `TickInput`. The run loop makes inputs from the world; `replay` takes
them from records.
"""

from dataclasses import dataclass
from typing import Any

from bt_runtime.builder import LiveTree
from bt_runtime.errors import BlackboardError
from bt_runtime.recording import CauseKind, Outcome, TickRecord, describe
from bt_runtime.status import Status


@dataclass(frozen=True, slots=True)
class TickInput:
    """All that a tick is told; the fields are those of `TickRecord`."""

    cause: CauseKind
    causes: tuple[str, ...]
    at_s: float
    outcomes: tuple[Outcome, ...] = ()
    deliveries: tuple[tuple[str, Any], ...] = ()


class Ticker:
    """Ticks a live tree and records what it did."""

    __slots__ = ("_context", "_tree")

    def __init__(self, tree: LiveTree) -> None:
        self._tree = tree
        self._context = tree.context

    @property
    def status(self) -> Status:
        """Of the root, after the last tick."""
        return self._tree.root.status

    def tick(self, told: TickInput) -> TickRecord:
        """Step the tree once; the outcomes are with their requests already."""
        self._context.begin_tick(told.at_s)
        for key, value in told.deliveries:
            self._deliver(key, value)
        self._tree.root.step()
        return self._record(told)

    def close(self, told: TickInput) -> TickRecord | None:
        """The record of what happened after the last tick, while the run was ended; `None` if nothing did."""
        if not (told.outcomes or self._context.has_changed()):
            return None
        return self._record(told)

    def _record(self, told: TickInput) -> TickRecord:
        did = self._context.end_tick()
        return TickRecord(
            tick=did.tick,
            at_s=told.at_s,
            cause=told.cause,
            causes=told.causes,
            outcomes=told.outcomes,
            deliveries=told.deliveries,
            visited=did.visited,
            changes=did.changes,
            writes=did.writes,
            errors=did.errors,
        )

    def _deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data
        """The loop refuses wrong values at once; a recorded one may be wrong for an edited tree."""
        try:
            self._context.blackboard.set(key, value)
        except BlackboardError as error:
            self._context.record_error(self._tree.root.path, describe(error))
