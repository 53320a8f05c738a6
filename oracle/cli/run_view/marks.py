"""The mark of each node in each tick: what it returned, or that it was not asked."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from oracle.cli.run_view.spans import Span, Style
from oracle.histories.model import StatusName, TickFacts, TreeFacts

Mark = Literal["success", "failure", "running", "halted", "error", "unasked"]
Marks = Mapping[int, Mark]
"""By node; a node whose parent was not asked either has none."""

SYMBOLS: Mapping[Mark, tuple[str, Style]] = {
    "success": ("✓", "ok"),
    "failure": ("✗", "fail"),
    "running": ("━", "run"),
    "halted": ("╸", "run"),
    "error": ("◆", "err"),
    "unasked": ("·", "dim"),
}
_MARKS: Mapping[StatusName, Mark] = {
    "SUCCESS": "success",
    "FAILURE": "failure",
    "RUNNING": "running",
    "INVALID": "halted",
}


def symbol(mark: Mark | None) -> Span:
    """The mark as one cell."""
    return Span(*SYMBOLS[mark]) if mark else Span(" ")


def children_of(tree: TreeFacts) -> list[list[int]]:
    """The children of each node, in the order of the file."""
    children: list[list[int]] = [[] for _ in tree.nodes]
    for node in tree.nodes:
        if node.parent is not None and 0 <= node.parent < len(children):
            children[node.parent].append(node.index)
    return children


def marks_of(tree: TreeFacts, ticks: Sequence[TickFacts], wanted: Collection[int]) -> dict[int, Marks]:
    """The marks in some of the ticks, by position in `ticks`."""
    children = children_of(tree)
    indices = {node.path: node.index for node in tree.nodes}
    statuses: dict[int, StatusName] = {}
    found: dict[int, Marks] = {}
    last = max(wanted, default=-1)
    for position, tick in enumerate(ticks[: last + 1]):
        if position in wanted:
            found[position] = _marks(tick, statuses, children, indices)
        statuses.update(tick.changes)
    return found


def _marks(
    tick: TickFacts, before: Mapping[int, StatusName], children: list[list[int]], indices: Mapping[str, int]
) -> Marks:
    changed = dict(tick.changes)
    visited = [index for index in tick.visited if 0 <= index < len(children)]
    marks: dict[int, Mark] = {}
    for index, status in tick.changes:
        if status == "INVALID" and before.get(index) == "RUNNING":
            marks[index] = "halted"
    for index in visited:
        marks.update((child, "unasked") for child in children[index] if marks.get(child) is None)
    for index in visited:
        marks[index] = _MARKS[changed.get(index) or before.get(index, "INVALID")]
    for visit in tick.visits:
        marks[visit.node] = "error" if visit.errors else _MARKS[visit.status]
    for path, _ in tick.errors:
        if path in indices:
            marks[indices[path]] = "error"
    return marks
