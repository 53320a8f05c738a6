"""The mark of each node in each tick: what it returned, or that it was not asked."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
_WEIGHTS: Sequence[Mark] = ("unasked", "running", "halted", "success", "failure", "error")
_MARKS: Mapping[StatusName, Mark] = {
    "SUCCESS": "success",
    "FAILURE": "failure",
    "RUNNING": "running",
    "INVALID": "halted",
}


def weight(mark: Mark) -> int:
    """Which of the marks of one column is shown: a result rather than what was under way."""
    return _WEIGHTS.index(mark)


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
    return dict(each_marks(tree, ticks, wanted))


def each_marks(
    tree: TreeFacts, ticks: Sequence[TickFacts], wanted: Collection[int]
) -> Iterator[tuple[int, dict[int, Mark]]]:
    """The same one after the other, so that they need not be in memory together."""
    children = children_of(tree)
    indices = {node.path: node.index for node in tree.nodes}
    statuses: dict[int, StatusName] = {}
    last = max(wanted, default=-1)
    for position, tick in enumerate(ticks[: last + 1]):
        if position in wanted:
            yield position, _marks(tick, statuses, children, indices)
        statuses.update(tick.changes)


def _marks(
    tick: TickFacts, before: Mapping[int, StatusName], children: list[list[int]], indices: Mapping[str, int]
) -> dict[int, Mark]:
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
