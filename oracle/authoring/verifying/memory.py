"""The state of a live run, stored and restored in place.

The objects of a run refer to each other, and to bound methods of each other, so they cannot be copied one by one. The
run stays the same object; what changes in it is stored as plain values and put back.
"""

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import Any

from bt_runtime import LiveTree, Request, Status
from bt_runtime.nodes.base import Node

Stored = tuple[Any, ...]

_CONTAINERS = frozenset({list, dict, set})


def _fresh(value: Any) -> Any:  # noqa: ANN401
    """The value, as a container of its own if it is one that changes."""
    return type(value)(value) if type(value) in _CONTAINERS else value


class Cell:
    """One object whose attributes change."""

    __slots__ = ("_get", "_names", "_of")

    def __init__(self, of: object, names: Iterable[str] | None = None) -> None:
        self._of = of
        if names is None:
            names = [each.name for each in fields(of)] if is_dataclass(of) else vars(of)
        self._names = tuple(names)
        self._get = attrgetter(*self._names, "__class__")  # at least two names, so that it returns a tuple

    def store(self) -> Stored:
        """The values of the attributes."""
        return tuple([_fresh(value) for value in self._get(self._of)])

    def restore(self, stored: Stored) -> None:
        """Put them back."""
        of, now = self._of, self._get(self._of)
        if now == stored:
            return
        for name, value, present in zip(self._names, stored, now, strict=False):
            if value is not present:
                setattr(of, name, _fresh(value))


class Memory:
    """Stores and restores a live tree and the objects around it.

    Args:
        tree: the live tree.
        parts: further objects, all of whose attributes are stored.
    """

    def __init__(self, tree: LiveTree, parts: Sequence[object]) -> None:
        self._tree = tree
        self._nodes: tuple[Node[Any], ...] = tree.nodes
        self._dicts = [vars(node) for node in self._nodes]
        self._last: object = None
        self._running: frozenset[int] = frozenset()
        self.touched: set[int] = set()
        self._cells = [Cell(part) for part in parts]

    def store(self, requests: Iterable[Request]) -> Stored:
        """The state now.

        Args:
            requests: those that nodes still refer to.
        """
        context, board = self._tree.context, self._tree.blackboard
        self._last = None
        return (
            context.snapshot(),
            board.snapshot(),
            [node.status for node in self._nodes],
            [{name: _fresh(value) for name, value in each.items()} for each in self._dicts],
            [(request, request.outcome, request.started, request.halted) for request in requests],
            [cell.store() for cell in self._cells],
        )

    def restore(self, stored: Stored) -> None:
        """Put the state back."""
        context, board = self._tree.context, self._tree.blackboard
        waits, values, statuses, dicts, requests, cells = stored
        context.put_back(waits)
        board.put_back(values)
        # A node that was neither ticked nor halted since this very state was restored is as it was.
        indices = self.touched if self._last is stored else range(len(self._nodes))
        for index in indices:
            self._nodes[index].status = statuses[index]
            own, kept = self._dicts[index], dicts[index]
            if own != kept:
                own.clear()
                own.update({name: _fresh(value) for name, value in kept.items()})
        if self._last is not stored:
            self._last = stored
            self._running = frozenset(index for index, status in enumerate(statuses) if status is Status.RUNNING)
        self.touched = set(self._running)
        for request, outcome, started, halted in requests:
            request.outcome, request.started, request.halted = outcome, started, halted
        for cell, kept in zip(self._cells, cells, strict=True):
            cell.restore(kept)
