"""What some nodes did on two courses of a recorded run, tick by tick: where they part, as a small matrix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from bt_runtime import NodeDefinition, Status
from oracle.replay.courses import Course

MOST_ROWS: Final = 6
"""Nodes that differ; the turns of the model come with them."""
_AROUND: Final = 30  # ticks before and behind the first difference
_TURN: Final = "llm_turn"
_UNKNOWN: Final = 1 << 30

CellStatus = Literal["success", "failure", "running", "invalid"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A tick in which a node was asked, with its status at the end."""

    tick: int
    status: CellStatus


@dataclass(frozen=True, slots=True)
class Track:
    """What one node did.

    Args:
        label: the name of the node, or of the tree that it includes, or its kind.
        old: the ticks in which the old tree asked it.
        new: the same under the new tree.
    """

    path: str
    label: str
    old: tuple[Cell, ...]
    new: tuple[Cell, ...]


def tracks(before: Course, after: Course, *, tick: int) -> tuple[Track, ...]:
    """The turns of the model, and the nodes that do something else from a tick on; the nearest to it first are kept.

    Args:
        before: the course of the old tree.
        after: the course of the new one.
        tick: the recorded tick in which they first differ.
    """
    was, would_be = _cells(before), _cells(after)
    nodes = {node.path: node for course in (before, after) for node in course.definition.nodes()}
    differing = {
        path: _parting(was.get(path, {}), would_be.get(path, {}))
        for path, node in nodes.items()
        if _is_telling(node) and was.get(path, {}) != would_be.get(path, {})
    }
    nearest = set(sorted(differing, key=lambda path: differing[path])[:MOST_ROWS])
    return tuple(
        Track(path, node.title, _around(was.get(path, {}), tick), _around(would_be.get(path, {}), tick))
        for path, node in nodes.items()
        if path in nearest or (node.kind == _TURN and (path in was or path in would_be))
    )


def _cells(course: Course) -> dict[str, dict[int, Status]]:
    """By path and recorded tick: the status of each node that was asked in it."""
    paths = [node.path for node in course.definition.nodes()]
    statuses: list[Status] = [Status.INVALID] * len(paths)
    found: dict[str, dict[int, Status]] = {}
    for step in course.steps:
        for record in step.records:
            for index, status in record.changes:
                statuses[index] = status
            for index in record.visited:
                found.setdefault(paths[index], {})[step.tick] = statuses[index]
    return found


def _is_telling(node: NodeDefinition) -> bool:
    """It has a name, includes a tree, or acts: what is between says no more."""
    is_leaf = not any(node.children.values())
    return node.name is not None or node.kind == "subtree" or (is_leaf and node.kind != "condition")


def _parting(old: Mapping[int, Status], new: Mapping[int, Status]) -> int:
    """The first tick in which they are not alike."""
    ticks: Sequence[int] = sorted({*old, *new})
    return next((tick for tick in ticks if old.get(tick) != new.get(tick)), _UNKNOWN)


def _around(cells: Mapping[int, Status], tick: int) -> tuple[Cell, ...]:
    near = sorted((at, status.name.lower()) for at, status in cells.items() if abs(at - tick) <= _AROUND)
    return tuple(Cell(at, cast("CellStatus", status)) for at, status in near)
