"""The rows of a tree at one tick: what was asked stands open, what was not asked or said no is one folded line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oracle.cli.run_view.choosing import decision_of
from oracle.cli.run_view.marks import SYMBOLS, Mark, Marks, children_of
from oracle.cli.run_view.source_text import SourceText
from oracle.cli.run_view.spans import Span, Style, safe
from oracle.cli.run_view.values import NOTHING, Note, note_of, refusal
from oracle.histories import History
from oracle.histories.model import NodeFacts, TickFacts, TreeFacts, VisitFacts

_MOST_UNASKED = 5
"""Neighbours that were not asked and stand in lines of their own; beyond that they share one line."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file, with a node on it.

    Args:
        node: the outermost one on the line; `None`: the row stands for several nodes.
        number: of the line.
        depth: below the first row.
        mark: at the tick; `None`: its parent was not asked either.
        words: the text of the line, with the marks of other nodes on it.
        note: behind the text, or below it.
        errors: exceptions of the node.
        matters: it leads to the decision, or was asked beside a node that does; what it saw is not left out.
        is_decision: it decided the tick.
    """

    node: int | None
    number: int | None
    depth: int
    mark: Mark | None
    words: tuple[Span, ...]
    note: Note = NOTHING
    errors: tuple[str, ...] = ()
    matters: bool = False
    is_decision: bool = False


def rows_of(history: History, tick: TickFacts, marks: Marks, *, before: Mapping[str, Any]) -> list[Row]:
    """The rows of the tree at the tick, from the first node on which it went more than one way.

    Args:
        history: of the run; its tree is known.
        tick: one of its ticks.
        marks: at the tick.
        before: the values on the blackboard before the tick.
    """
    if history.tree is None or not history.tree.nodes:
        return []
    return list(_Rows(history, history.tree, tick, marks, before).all())


def path_of(tree: TreeFacts, node: int | None) -> list[int]:
    """The nodes from the root to that one."""
    found: list[int] = []
    while node is not None and 0 <= node < len(tree.nodes) and node not in found:
        found.append(node)
        node = tree.nodes[node].parent
    return found[::-1]


class _Rows:
    def __init__(
        self, history: History, tree: TreeFacts, tick: TickFacts, marks: Marks, before: Mapping[str, Any]
    ) -> None:
        self._history = history
        self._tree = tree
        self._tick = tick
        self._marks = marks
        self._before = before
        self._children = children_of(tree)
        self._asked = {index for index in tick.visited if 0 <= index < len(tree.nodes)}
        self._visits = {visit.node: visit for visit in tick.visits}
        self._decision = decision_of(history, tick)
        self._path = set(path_of(tree, self._decision))
        self._source = SourceText(tree)

    def all(self) -> Iterator[Row]:
        top = 0
        while True:
            asked = [child for child in self._children[top] if child in self._asked]
            if len(asked) != 1 or self._visits_of(top).errors:
                break
            top = asked[0]
        yield from self._node(top, 0)

    def _node(self, index: int, depth: int) -> Iterator[Row]:
        line = self._on_its_line(index)
        below = [child for member in line for child in self._children[member] if child not in line]
        if index not in self._asked:
            yield self._unasked(index, depth, has_children=bool(below))
            return
        has_failed = self._marks.get(index) == "failure"
        if has_failed and below and index not in self._path and not self._has_error(index):
            yield self._row(index, line, depth, note=refusal(self._visits, index))
            return
        yield self._row(index, line, depth, note=self._note(line, is_leaf=not below))
        yield from self._below(below, depth + 1)

    def _below(self, nodes: Sequence[int], depth: int) -> Iterator[Row]:
        """The children, neighbours that were not asked together."""
        waiting: list[int] = []
        for index in [*nodes, None]:
            if index is not None and index not in self._asked:
                waiting.append(index)
                continue
            if len(waiting) > _MOST_UNASKED:
                yield self._folded(waiting, depth)
            else:
                for each in waiting:
                    yield from self._node(each, depth)
            waiting.clear()
            if index is not None:
                yield from self._node(index, depth)

    def _on_its_line(self, index: int) -> list[int]:
        """The node, and those below it that stand on the same line."""
        node = self._tree.nodes[index]
        found = [index]
        for member in found:
            found += [
                child
                for child in self._children[member]
                if (self._tree.nodes[child].file, self._tree.nodes[child].line) == (node.file, node.line)
            ]
        return found

    def _unasked(self, index: int, depth: int, *, has_children: bool) -> Row:
        node = self._tree.nodes[index]
        shown = self._source.of(node, has_children=has_children) + (" …" if has_children else "")
        return Row(index, node.line, depth, self._marks.get(index), (Span(shown, "dim"),))

    def _folded(self, nodes: Sequence[int], depth: int) -> Row:
        first = self._tree.nodes[nodes[0]]
        shown = f"… {len(nodes)} not asked: {safe(first.name or first.kind)}"
        last = self._tree.nodes[nodes[-1]]
        shown += f" to {safe(last.name or last.kind)}, line {last.line}"
        return Row(None, first.line, depth, "unasked", (Span(shown, "dim"),))

    def _row(self, index: int, line: Sequence[int], depth: int, *, note: Note) -> Row:
        node = self._tree.nodes[index]
        shown = self._source.of(node, has_children=bool(self._children[index]))
        is_decision = self._decision in line
        is_strong = is_decision or (bool(self._children[index]) and index in self._path)
        style: Style = "strong" if is_strong else "plain"
        return Row(
            index,
            node.line,
            depth,
            self._marks.get(index),
            tuple(self._with_marks(node, shown, Span("", style), line[1:])),
            note,
            tuple(error for member in line for error in self._errors(member)),
            matters=not self._path.isdisjoint(line) or node.parent in self._path,
            is_decision=is_decision,
        )

    def _with_marks(self, node: NodeFacts, shown: str, style: Span, others: Sequence[int]) -> Iterator[Span]:
        """The text, with the mark of each other node of the line before its word."""
        at = 0
        for other in sorted(others, key=lambda each: self._tree.nodes[each].column):
            facts = self._tree.nodes[other]
            start = facts.column - node.column
            if len(others) < 2 or not shown[start:].startswith(facts.kind) or start < at:
                continue
            mark, colour = SYMBOLS[self._marks.get(other) or "unasked"]
            yield style._replace(text=shown[at:start])
            yield Span(mark, colour)
            at = start
        yield style._replace(text=shown[at:])

    def _note(self, line: Sequence[int], *, is_leaf: bool) -> Note:
        """What the row says: the words of the innermost node on it that has some."""
        for member in reversed(line):
            if member in self._visits and (is_leaf or self._tree.nodes[member].category != "composite"):
                visit = self._visits[member]
                if visit.decider is not None and not visit.text:
                    continue
                kind = self._tree.nodes[member].kind
                note = note_of(self._history, self._tick, visit, kind, before=self._before)
                if note.words or note.verdict:
                    return note
        return NOTHING

    def _errors(self, index: int) -> Sequence[str]:
        path = self._tree.nodes[index].path
        raised = [error for where, error in self._tick.errors if where == path]
        return [safe(error) for error in raised or self._visits_of(index).errors]

    def _has_error(self, index: int) -> bool:
        """Whether the node, or one below it, has raised an exception in the tick."""
        prefix = self._tree.nodes[index].path
        return any(where == prefix or where.startswith(f"{prefix}/") for where, _ in self._tick.errors)

    def _visits_of(self, index: int) -> VisitFacts:
        return self._visits.get(index) or VisitFacts(index, "INVALID", None, None)
