"""How a run is shown: lines, marks, values and reasons, made once for the terminal, the console and exports.

The source of a tree is shown as rows: the lines of its root file, with the files of subtrees where they are included. A
row belongs to the innermost node whose lines it is among. A file that is included twice has its rows twice, each with
the nodes of that inclusion. `steps` words why a tick went as it did.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from bt_runtime.text.phrases import counted
from oracle.replay.histories.model import (
    ClauseFacts,
    EndFacts,
    EvaluationFacts,
    History,
    NodeFacts,
    RowFacts,
    RowKind,
    StatusName,
    StepFacts,
    TickFacts,
    Tone,
)
from oracle.replay.histories.naming import children_of, shown_value
from oracle.replay.histories.steps import steps_of

NOT_ASKED: Final = "."
_CARRIED, _HALTED, _RAISED, _GUARD = "=/!o"
_CODES: Final[Mapping[StatusName, str]] = {"SUCCESS": "+", "FAILURE": "-", "RUNNING": ">", "INVALID": NOT_ASKED}
_LONGEST_VALUE: Final = 40
_LONGEST_VERDICT: Final = 24


class Marks:
    """Makes the marks of each tick, one tick after the other."""

    def __init__(self, nodes: Sequence[NodeFacts]) -> None:
        self._indices = {node.path: node.index for node in nodes}
        self._is_guard = [node.slot == "guards" for node in nodes]
        self._latest = bytearray(NOT_ASKED.encode() * len(nodes))
        self._running: set[int] = set()

    def take(self, tick: TickFacts) -> str:
        """The marks of the next tick, as `TickFacts.marks` has them."""
        size = len(self._latest)
        marks = bytearray(NOT_ASKED.encode() * size)
        for node, status in tick.changes:
            if node >= size:
                continue
            if status == "INVALID" and node in self._running:
                marks[node] = ord(_HALTED)
            self._latest[node] = ord(_CODES[status])
            if status == "RUNNING":
                self._running.add(node)
            else:
                self._running.discard(node)
        for node in self._running:
            marks[node] = ord(_CARRIED)
        for node in tick.visited:
            if node < size:
                code = self._latest[node]
                marks[node] = ord(_GUARD) if self._is_guard[node] and code == ord("+") else code
        for path, _ in tick.errors:
            if path in self._indices:
                marks[self._indices[path]] = ord(_RAISED)
        return marks.decode().rstrip(NOT_ASKED)


def reasons_of(history: History, tick: TickFacts) -> tuple[StepFacts, ...]:
    """The steps to the decision of the latest tick."""
    nodes = history.tree.nodes if history.tree else ()
    return steps_of(nodes, tick, tick.decision, history.turns[-100:])


def with_end_shown(history: History, end: EndFacts) -> EndFacts:
    """The end of a run, with the headline and the steps of the tick that decided it."""
    tick = next((each for each in reversed(history.ticks) if each.tick == end.tick), None)
    said = tick.headline if tick else ""
    why: tuple[StepFacts, ...] = ()
    if tick is not None and end.node not in (None, tick.decision) and history.tree is not None:
        why = steps_of(history.tree.nodes, tick, end.node, history.turns)
    return replace(end, headline=said if end.sentence in said else end.sentence, why=why)


def add_view(history: History) -> None:
    """Make all that is shown of a history anew: rows, marks, values and reasons."""
    nodes = history.tree.nodes if history.tree else ()
    if history.tree is not None:
        history.tree = replace(history.tree, rows=source_rows(nodes, history.tree.files))
    marks = Marks(nodes)
    ended: dict[int, list[Any]] = {}
    for turn in history.turns:
        ended.setdefault(turn.ended_tick or 0, []).append(turn)
    for at, tick in enumerate(history.ticks):
        visits = (replace(visit, evaluations=tuple(map(with_verdict, visit.evaluations))) for visit in tick.visits)
        shown = replace(tick, marks=marks.take(tick), visits=tuple(visits))
        why = steps_of(nodes, shown, shown.decision, ended.get(tick.tick, ()))
        history.ticks[at] = replace(shown, why=why)
    if history.end is not None:
        history.end = with_end_shown(history, history.end)


def with_verdict(evaluation: EvaluationFacts) -> EvaluationFacts:
    """The evaluation, with its values as they are shown."""
    error = evaluation.error
    verdict, tone = _verdict(evaluation)
    return replace(
        evaluation,
        verdict=verdict,
        tone=tone,
        clauses=tuple(replace(each, tone=_tone(each, error)) for each in evaluation.clauses),
        operands=tuple(replace(each, text=shown_value(each.value, _LONGEST_VALUE)) for each in evaluation.operands),
    )


def _verdict(evaluation: EvaluationFacts) -> tuple[str, Tone]:
    value = evaluation.value
    if evaluation.error:
        return "error", "error"
    if evaluation.setting == "until":
        return ("stops", "no") if value else ("goes on", "none")
    if evaluation.setting == "when" or isinstance(value, bool):
        return ("yes", "yes") if value else ("no", "no")
    return shown_value(value, _LONGEST_VERDICT) if evaluation.operands else "", "none"


def _tone(clause: ClauseFacts, error: str) -> Tone:
    if not clause.asked:
        return "none"
    if error and clause.value is None:
        return "error"
    return "yes" if clause.value else "no"


MOST_ROWS: Final = 50_000
"""Of one tree; a small file that is included again and again could have any number."""
_MOST_INCLUDED: Final = 100
"""How deep files include each other."""


def source_rows(nodes: Sequence[NodeFacts], files: Mapping[str, str]) -> tuple[RowFacts, ...]:
    """The rows of a version of a tree; empty if its places are not known.

    Args:
        nodes: the nodes of the tree, each at its index.
        files: their texts, by name.
    """
    return _Layout(nodes, files).rows() if nodes else ()


class _Open(NamedTuple):
    """A node whose lines go on."""

    node: int
    indent: int
    row: int
    has_dash: bool


class _Layout:
    def __init__(self, nodes: Sequence[NodeFacts], files: Mapping[str, str]) -> None:
        self._nodes = nodes
        self._files = files
        self._children = children_of(nodes)
        self._rows: list[RowFacts] = []
        self._texts: list[str] = []
        self._last: list[int] = []
        self._summaries: dict[int, str] = {}

    def rows(self) -> tuple[RowFacts, ...]:
        self._add_file(0, offset=0, includes=0, level=1)
        self._fold_head()
        return tuple(
            replace(row, last=last, summary=self._summaries.get(index, ""))
            for index, (row, last) in enumerate(zip(self._rows, self._last, strict=True))
        )

    def _add_file(self, root: int, *, offset: int, includes: int, level: int) -> None:
        """Add the lines of the file whose root node this is, with its subtrees."""
        file = self._nodes[root].file
        lines = self._files.get(file, "").rstrip().split("\n")
        first = self._nodes[root].line - 1
        base = _indent(lines[first]) if 0 <= first < len(lines) else 0
        begins = self._begins(root)
        open_: list[_Open] = []
        for number, line in enumerate(lines if lines != [""] else [], 1):
            indent, text = _indent(line), line.strip()
            if text:
                self._close(open_, _depth_for(open_, indent, text))
            if len(self._rows) >= MOST_ROWS:
                return
            nodes, index = begins.get(number, ()), len(self._rows)
            owner = open_[-1].node if open_ else None
            row = RowFacts(
                file,
                number,
                _kind(nodes, text),
                tuple(nodes),
                owner,
                level=level + len(open_),
                indent=indent,
                offset=offset + indent - base,
                includes=includes,
            )
            self._rows.append(row)
            self._texts.append(text)
            self._last.append(index)
            if nodes:
                open_.append(_Open(nodes[0], indent, index, text.startswith("-")))
            if text:
                self._extend(open_, index)
        self._close(open_, 0)

    def _begins(self, root: int) -> dict[int, list[int]]:
        """The nodes of one use of a file, by the line in which they begin."""
        begins: dict[int, list[int]] = {}
        waiting = [root]
        while waiting:
            node = waiting.pop()
            begins.setdefault(self._nodes[node].line, []).append(node)
            if self._included(node) is None:
                waiting += reversed(self._children[node])
        return begins

    def _included(self, node: int) -> int | None:
        """The root of the file that a subtree includes; `None` of another node."""
        is_subtree = self._nodes[node].kind == "subtree"
        return next(iter(self._children[node]), None) if is_subtree else None

    def _close(self, open_: list[_Open], depth: int) -> None:
        """End nodes, down to a depth; what a subtree includes comes after its own lines."""
        while len(open_) > depth:
            ended = open_.pop()
            row = self._rows[ended.row]
            child = next((each for node in row.nodes if (each := self._included(node)) is not None), None)
            if child is not None and row.includes < _MOST_INCLUDED:
                self._add_file(child, offset=row.offset, includes=row.includes + 1, level=row.level + 1)
                self._extend([ended, *open_], len(self._rows) - 1)

    def _extend(self, open_: Sequence[_Open], last: int) -> None:
        for each in open_:
            self._last[each.row] = max(self._last[each.row], last)

    def _fold_head(self) -> None:
        """What stands before the root of the first file is folded into its first line, and so is each block behind."""
        file = self._nodes[0].file
        outer = [
            at
            for at, row in enumerate(self._rows)
            if row.kind == "setting" and row.owner is None and row.file == file and row.indent == 0
        ]
        names = [self._texts[at].partition(":")[0] for at in outer]
        root = names.index("root") if "root" in names else -1
        ends = [*outer, len(self._rows)]
        for at, index in enumerate(outer):
            if at == root or 0 < at < root:
                continue
            last = ends[root if at < root else at + 1] - 1
            while last > index and self._rows[last].kind != "setting":
                last -= 1
            self._last[index] = last
            if last > index:
                lines = counted(self._rows[last].line - self._rows[index].line, "line")
                behind = ", ".join(names[1:root]) if at < root else ""
                self._summaries[index] = f"{lines}: {behind}" if behind else lines


def _kind(nodes: Sequence[int], text: str) -> RowKind:
    if nodes:
        return "node"
    if not text:
        return "blank"
    return "comment" if text.startswith("#") else "setting"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _depth_for(open_: Sequence[_Open], indent: int, text: str) -> int:
    """How many of the open nodes go on in a line."""
    depth = len(open_)
    while depth > 0 and indent <= open_[depth - 1].indent:
        last = open_[depth - 1]
        if indent == last.indent and text.startswith("-") and not last.has_dash:  # a list under its key, not indented
            break
        depth -= 1
    return depth
