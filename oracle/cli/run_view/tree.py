"""The tree at one tick: its lines with marks and values.

What was asked stands open; what was not asked, or said no, is one folded line.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from bt_runtime.text.phrases import counted
from oracle.cli.run_view.words import cache_use, line, safe, seconds, value_of
from oracle.replay.histories.model import (
    EvaluationFacts,
    History,
    NodeFacts,
    TickFacts,
    TreeFacts,
    TurnFacts,
    VisitFacts,
)
from oracle.replay.histories.naming import children_of

SYMBOLS: Mapping[str, tuple[str, str]] = {
    "+": ("✓", "ok"),
    "o": ("✓", "ok"),
    "-": ("✗", "fail"),
    ">": ("━", "run"),
    "=": ("━", "run"),
    "/": ("╸", "run"),
    "!": ("◆", "err"),
    ".": ("·", "dim"),
    " ": (" ", ""),
}
"""By the characters of `TickFacts.marks`; a blank: the node's parent was not asked either."""
_TONES = {"yes": "ok", "no": "fail", "error": "err", "none": ""}
_PAIRS = {"}": "{", "]": "["}
_MOST_UNASKED = 5  # neighbours that were not asked and stand in lines of their own


def mark_of(tree: TreeFacts, tick: TickFacts, node: int) -> str:
    """The mark of a node in a tick, as a character of `SYMBOLS`."""
    code = tick.marks[node : node + 1] or "."
    parent = tree.nodes[node].parent
    is_unknown = code == "." and (parent is None or tick.marks[parent : parent + 1] in ("", ".", "=", "/"))
    return " " if is_unknown else code


def decision_of(history: History, tick: TickFacts) -> int | None:
    """The node that decided the tick; in the tick that decided the end, the one that did so."""
    end, tree = history.end, history.tree
    is_end = end is not None and end.tick == tick.tick and end.node is not None
    node = end.node if is_end and end is not None else tick.decision
    return node if tree is not None and node is not None and 0 <= node < len(tree.nodes) else None


class Row(NamedTuple):
    """A line of a file, with a node on it.

    Args:
        node: the outermost one on the line; `None`: the row stands for several nodes.
        number: the number of the line in its file.
        depth: below the first row.
        mark: the character of its mark in `SYMBOLS`.
        code: the text of the line, with the marks of other nodes on it.
        note: what the node saw and did.
        verdict: what came of it.
        errors: exceptions of the node.
        is_decision: a node of the line decided the tick.
    """

    node: int | None
    number: int
    depth: int
    mark: str
    code: Text
    note: str = ""
    verdict: Text | None = None
    errors: Sequence[str] = ()
    is_decision: bool = False


def rows_of(history: History, tick: TickFacts, *, before: Mapping[str, Any]) -> list[Row]:
    """The rows of the tree at the tick, from the first node on which it went more than one way.

    Args:
        history: what is known of the run.
        tick: the one that is shown.
        before: the values on the blackboard before the tick.
    """
    if history.tree is None or not history.tree.nodes:
        return []
    return list(_Rows(history, history.tree, tick, before).all())


class _Rows:
    def __init__(self, history: History, tree: TreeFacts, tick: TickFacts, before: Mapping[str, Any]) -> None:
        self._history = history
        self._tree = tree
        self._tick = tick
        self._before = before
        self._children = children_of(tree.nodes)
        self._asked = {index for index in tick.visited if 0 <= index < len(tree.nodes)}
        self._visits = {visit.node: visit for visit in tick.visits}
        self._decision = decision_of(history, tick)
        self._path: set[int] = set()
        at = self._decision
        while at is not None and at not in self._path:
            self._path.add(at)
            at = tree.nodes[at].parent
        self._source = NodeSources(tree)

    def all(self) -> Iterator[Row]:
        top = 0
        while len(asked := [child for child in self._children[top] if child in self._asked]) == 1:
            if self._errors(top):
                break
            top = asked[0]
        return self._node(top, 0)

    def _node(self, index: int, depth: int) -> Iterator[Row]:
        line = [index]
        for member in line:
            line += [child for child in self._children[member] if self._place(child) == self._place(index)]
        below = [child for member in line for child in self._children[member] if child not in line]
        if index not in self._asked:
            shown = self._source.of(self._tree.nodes[index], has_children=bool(below)) + (" …" if below else "")
            yield Row(index, self._tree.nodes[index].line, depth, self._mark(index), Text(shown, "dim"))
            return
        if self._mark(index) == "-" and below and index not in self._path and not self._raised_below(index):
            yield self._row(line, depth, *self._refusal(index))
            return
        yield self._row(line, depth, *self._note(line, is_leaf=not below))
        yield from self._below(below, depth + 1)

    def _below(self, nodes: Sequence[int], depth: int) -> Iterator[Row]:
        """The children, neighbours that were not asked together."""
        waiting: list[int] = []
        for index in [*nodes, None]:
            if index is not None and index not in self._asked:
                waiting.append(index)
                continue
            if len(waiting) > _MOST_UNASKED:
                first, last = self._tree.nodes[waiting[0]], self._tree.nodes[waiting[-1]]
                names = f"{safe(first.name or first.kind)} to {safe(last.name or last.kind)}, line {last.line}"
                yield Row(None, first.line, depth, ".", Text(f"… {len(waiting)} not asked: {names}", "dim"))
            else:
                for each in waiting:
                    yield from self._node(each, depth)
            waiting.clear()
            if index is not None:
                yield from self._node(index, depth)

    def _row(self, line: Sequence[int], depth: int, note: str, verdict: Text | None) -> Row:
        index, node = line[0], self._tree.nodes[line[0]]
        shown = self._source.of(node, has_children=bool(self._children[index]))
        is_decision = self._decision in line
        code = Text(shown, "strong" if is_decision or (self._children[index] and index in self._path) else "")
        for other in sorted(line[1:], key=lambda each: -self._tree.nodes[each].column) if len(line) > 2 else ():
            facts = self._tree.nodes[other]
            start = facts.column - node.column
            if start > 0 and shown[start:].startswith(facts.kind):
                code = Text.assemble(code[:start], SYMBOLS[self._mark(other)], code[start:])
        errors = [error for member in line for error in self._errors(member)]
        return Row(index, node.line, depth, self._mark(index), code, note, verdict, errors, is_decision)

    def _note(self, line: Sequence[int], *, is_leaf: bool) -> tuple[str, Text | None]:
        """What the row says: the words of the innermost node on it that has some."""
        for member in reversed(line):
            visit, node = self._visits.get(member), self._tree.nodes[member]
            if visit is None or not (is_leaf or node.category != "composite"):
                continue
            if visit.decider is not None and not visit.text:
                continue
            note, verdict = self._words(visit, node)
            if note or verdict:
                return note, verdict
        return "", None

    def _words(self, visit: VisitFacts, node: NodeFacts) -> tuple[str, Text | None]:
        for turn in self._history.turns:
            if turn.ended_tick == self._tick.tick and turn.node == visit.node:
                return _turn_words(turn), None
        if visit.evaluations and node.kind != "loop" and not visit.writes:  # a loop's condition stands in its words
            return evaluated(visit.evaluations[-1])
        if visit.text:
            return safe(visit.text), None
        values = dict(self._before)
        changed = []
        for key, value in visit.writes:
            if value != values.get(key):
                changed.append(f"{safe(key)} {value_of(values.get(key))} → {value_of(value)}")
            values[key] = value
        return " · ".join(changed), None

    def _refusal(self, node: int) -> tuple[str, Text | None]:
        """Why a node that failed has failed: what the one that decided this saw."""
        seen: set[int] = set()
        found, at = self._visits.get(node), node
        while found is not None and at not in seen:
            seen.add(at)
            at = -1 if found.decider is None else found.decider
            if at not in self._visits:
                break
            found = self._visits[at]
        if found is not None and found.evaluations:
            return evaluated(found.evaluations[-1])
        return safe(found.text) if found else "", Text("→ no", "fail")

    def _errors(self, index: int) -> list[str]:
        path, visit = self._tree.nodes[index].path, self._visits.get(index)
        raised = [error for where, error in self._tick.errors if where == path]
        return [safe(error) for error in raised or (visit.errors if visit else ())]

    def _raised_below(self, index: int) -> bool:
        """Whether the node, or one below it, has raised an exception in the tick."""
        path = self._tree.nodes[index].path
        return any(where == path or where.startswith(f"{path}/") for where, _ in self._tick.errors)

    def _mark(self, index: int) -> str:
        return mark_of(self._tree, self._tick, index)

    def _place(self, index: int) -> tuple[str, int]:
        return self._tree.nodes[index].file, self._tree.nodes[index].line


def evaluated(evaluation: EvaluationFacts) -> tuple[str, Text]:
    """What an expression read, and what it came to: `signal "stuck"` and `→ yes`."""
    words = " · ".join(f"{safe(operand.name)} {safe(operand.text)}" for operand in evaluation.operands)
    verdict = Text(f"→ {safe(evaluation.verdict or value_of(evaluation.value))}", _TONES[evaluation.tone])
    return safe(evaluation.error) or words, verdict


def _turn_words(turn: TurnFacts) -> str:
    parts = [seconds((turn.ended_s or turn.began_s) - turn.began_s, places=2), counted(turn.tokens, "token")]
    if turn.error:
        parts.append(safe(turn.error))
    elif turn.calls:
        parts.append(counted(len(turn.calls), "call"))
    if turn.signal is not None:
        sure = "" if turn.signal.confidence is None else f" {turn.signal.confidence:g}"
        parts.append(f"signal {safe(turn.signal.type)}{sure}")
    parts += [words] if (words := cache_use(turn)) else []
    parts += ["cut off"] if turn.cut_off else []
    parts += ["interrupted"] if turn.interrupted else []
    return " · ".join(parts)


class NodeSources:
    """The text of the nodes of a tree in their files."""

    def __init__(self, tree: TreeFacts) -> None:
        self._lines = {file: content.splitlines() for file, content in tree.files.items()}

    def of(self, node: NodeFacts, *, has_children: bool) -> str:
        """What stands at the place of the node, without list dash and comment: `condition: cut_off`.

        The name of a node follows its kind, as in `sequence: give_up`. A setting over several lines is `…`.
        """
        lines = self._lines.get(node.file, ())
        rest = lines[node.line - 1][max(0, node.column - 1) :] if 0 < node.line <= len(lines) else ""
        if not node.kind or not rest.startswith(node.kind):
            return safe(node.label)
        found = _own(rest).rstrip()
        if found.endswith(":"):
            return safe(f"{found} {node.name or ('' if has_children else '…')}")
        head, _, block = found.rpartition(": ")
        return safe(f"{head}: …" if block in (">", ">-", "|", "|-") else found)


def _own(value: str) -> str:
    """Up to a comment, or to a bracket that closes one before the node."""
    open_brackets: list[str] = []
    quote = ""
    for position, character in enumerate(value):
        before = value[position - 1] if position else " "
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'" and before in " [{,:(":
            quote = character
        elif character == "#" and before in " \t":
            return value[:position]
        elif character in "[{":
            open_brackets.append(character)
        elif character in _PAIRS and (not open_brackets or open_brackets.pop() != _PAIRS[character]):
            return value[:position]
    return value


def lines_of(row: Row, width: int, *, digits: int) -> Iterator[RenderableType]:
    """The line of a row, and below it what does not fit there."""
    indent = digits + 5 + min(row.depth, width // 3)
    start = line(
        ("▸ " if row.is_decision else "  ", "strong"),
        (f"{row.number:>{digits}} ", "strong" if row.is_decision else "dim"),
        SYMBOLS[row.mark],
        " " * (indent - digits - 4),
        row.code,
    )
    note = Text.assemble((row.note, "dim"), " " if row.note and row.verdict else "", row.verdict or "")
    below = [note] if note.plain and start.cell_len + 2 + note.cell_len > width else []
    yield start if below else start.append("  ").append_text(note)
    for text in [*below, *(Text(f"◆ {error}", "err") for error in row.errors)]:
        yield Padding(text, (0, 0, 0, indent + 2))
