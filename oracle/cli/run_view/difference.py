"""Where two runs part, as lines: what came in, what the nodes did about it, the ends, the trees, the answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from bt_runtime.text.phrases import counted
from oracle.cli.run_view.marks import SYMBOLS
from oracle.cli.run_view.spans import Line, Span, Style, line, safe, shortened, text, wrapped
from oracle.cli.run_view.words import outcome, path_end, tree_label, value_of
from oracle.cli.text import clean
from oracle.histories import History
from oracle.histories.differences import HistoryDifference, Parting
from oracle.histories.model import NodeFacts, StatusName, TreeFacts

_SIDE_BY_SIDE: Final = 120  # columns from which two answers stand beside each other
_MOST_NODES: Final = 12
_MOST_LINES: Final = 40
_MOST_ANSWER_LINES: Final = 20
_MOST_ANSWER_CHARS: Final = 100_000
_MARKS: Final[Mapping[StatusName | None, Span]] = {
    "SUCCESS": Span(*SYMBOLS["success"]),
    "FAILURE": Span(*SYMBOLS["failure"]),
    "RUNNING": Span(*SYMBOLS["running"]),
    "INVALID": Span(*SYMBOLS["unasked"]),
    None: Span(*SYMBOLS["unasked"]),
}


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two runs, with its letter."""

    letter: str
    history: History

    def node(self, index: int | None) -> NodeFacts | None:
        tree = self.history.tree
        return tree.nodes[index] if tree is not None and index is not None else None


def difference_lines(old: History, new: History, found: HistoryDifference, *, width: int) -> Iterator[Line]:
    """The differences of two runs; the first lines say the most."""
    sides = (_Side("A", old), _Side("B", new))
    for side in sides:
        yield _head(side).fitted(width)
    yield line()
    yield _summary(found, len(old.ticks))
    if not found.has_texts:
        text = "Texts were deleted or left out, so causes, results and ends alone are compared."
        yield line(Span(text, "warn")).fitted(width)
    for name, parting in (("came in", found.input), ("did", found.way)):
        if parting is not None:
            yield line()
            yield from (each.fitted(width) for each in _parting(name, parting, sides))
    for part in (_nodes(found, sides), _trees(old.tree, new.tree), _answers(old, new, width)):
        lines = list(part)
        if lines:
            yield line()
            yield from (each.fitted(width) for each in lines)


def _head(side: _Side) -> Line:
    run = side.history.run
    facts = f"  {tree_label(run)} · {counted(run.turns, 'turn')} · {counted(run.tokens_used, 'token')}"
    question = Span(shortened(safe(run.question), 60))
    return line(
        Span(f"{side.letter}  ", "strong"), text(run.id[:8]), "  ", outcome(run), Span(facts, "dim"), "  ", question
    )


def _summary(found: HistoryDifference, ticks: int) -> Line:
    if found.is_same:
        return line(Span(f"The same: {counted(ticks, 'tick')}, the same nodes, the same end.", "strong"))
    first = min((each.tick for each in (found.input, found.way) if each is not None), default=ticks)
    until = f"The same until tick {first - 1}, then different." if first > 1 else "Different from the beginning."
    ends = f" A ends as {found.old_end or 'it is under way'}, B as {found.new_end or 'it is under way'}."
    same = f" Both end as {found.old_end}." if found.old_end else ""
    return line(Span(until, "strong"), same if found.old_end == found.new_end else ends)


def _parting(name: str, parting: Parting, sides: Sequence[_Side]) -> Iterator[Line]:
    at = f"tick {parting.tick}" if parting.tick else "before the first tick"
    yield line(Span(f"{name}  ", "dim"), Span(at, "strong"), f"  {path_end(parting.path)}")
    indices, words = (parting.old_node, parting.new_node), (parting.old, parting.new)
    for side, index, did in zip(sides, indices, words, strict=True):
        node = side.node(index)
        lead = Span(f"  {side.letter}  ", "strong")
        if node is not None:
            yield line(lead, Span(f"{safe(node.file)}:{node.line}  ", "dim"), _code(side.history.tree, node))
            lead = Span("     ")
        yield line(lead, text(did) if did else Span("nothing", "dim"))
    is_said = parting.kind == "outcome" and len(parting.values) == 1  # in the lines above
    for value in () if is_said else parting.values[:_MOST_NODES]:
        yield line(f"     {safe(value.name)}  ", value_of(value.old), Span("  |  ", "dim"), value_of(value.new))


def _code(tree: TreeFacts | None, node: NodeFacts) -> Span:
    lines = tree.files.get(node.file, "").split("\n") if tree is not None else []
    return text(lines[node.line - 1].strip()) if 0 < node.line <= len(lines) else text(node.label)


def _nodes(found: HistoryDifference, sides: Sequence[_Side]) -> Iterator[Line]:
    """The nodes that returned something else: each with the first tick, and in how many."""
    first: dict[str, tuple[int, StatusName | None, StatusName | None]] = {}
    counts: dict[str, int] = {}
    for step in found.ticks:
        for node in step.nodes:
            first.setdefault(node.path, (step.tick, node.old, node.new))
            counts[node.path] = counts.get(node.path, 0) + 1
    if not counts:
        return
    ticks = len(found.ticks) + found.further_ticks
    trees = [side.history.tree for side in reversed(sides) if side.history.tree is not None]
    places = {node.path: f"{safe(node.file)}:{node.line}" for tree in trees for node in tree.nodes}
    said = f"{counted(len(counts), 'node')} returned something else, in {counted(ticks, 'tick')}"
    yield line(Span(said, "strong"), Span("  first tick, A B", "dim"))
    for path, (tick, was, now) in list(first.items())[:_MOST_NODES]:
        times = Span(f"  {counted(counts[path], 'tick')}" if counts[path] > 1 else "", "dim")
        place = Span(f"  {places.get(path, '')}", "dim")
        yield line(Span(f"  {tick:>6}  ", "dim"), _MARKS[was], " ", _MARKS[now], f"  {path_end(path)}", place, times)
    if len(first) > _MOST_NODES:
        yield line(Span(f"  … and {counted(len(first) - _MOST_NODES, 'node')} more", "dim"))


def _trees(old: TreeFacts | None, new: TreeFacts | None) -> Iterator[Line]:
    """The lines in which the files of the two versions differ."""
    if old is None or new is None or old.version == new.version:
        return
    yield line(Span(f"{safe(old.name)}@{old.version[:7]} and {safe(new.name)}@{new.version[:7]} differ", "strong"))
    lines = [each for file in dict.fromkeys((*old.files, *new.files)) for each in _file(file, old.files, new.files)]
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield line(Span(f"  … and {counted(len(lines) - _MOST_LINES, 'line')} more", "dim"))


def _file(file: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Line]:
    was, now = old.get(file, "").split("\n"), new.get(file, "").split("\n")
    for kind, first, last, begin, end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (_changed(file, "-", "fail", at + 1, was[at]) for at in range(first, last))
            yield from (_changed(file, "+", "ok", at + 1, now[at]) for at in range(begin, end))


def _changed(file: str, sign: str, style: Style, number: int, source: str) -> Line:
    return line(Span(f"  {sign} ", style), Span(f"{safe(file)}:{number}  ", "dim"), text(source.strip()))


def _answers(old: History, new: History, width: int) -> Iterator[Line]:
    """What the users could read: beside each other where there is room, else below each other."""
    was, now = _answer(old), _answer(new)
    if was == now:
        if was:
            yield line(Span(f"the same answer, {counted(len(was), 'character')}", "strong"))
        return
    if width < _SIDE_BY_SIDE:
        for letter, answer, none in (("A", was, _none(old)), ("B", now, _none(new))):
            yield line(Span(f"answer {letter}", "strong"))
            yield from (line(f"  {each}") for each in _paragraphs(answer, width - 2) or [none])
        return
    half = (width - 3) // 2
    yield line(Span("answer A".ljust(half), "strong"), "   ", Span("answer B", "strong"))
    for left, right in zip_longest(
        _paragraphs(was, half) or [_none(old)], _paragraphs(now, half) or [_none(new)], fillvalue=""
    ):
        yield line(*line(left).fitted(half).spans, Span(" │ ", "dim"), right)


def _answer(history: History) -> str:
    return "".join(piece.text for piece in history.texts if piece.type == "content").strip()


def _paragraphs(answer: str, width: int) -> list[str]:
    shown = clean(answer[:_MOST_ANSWER_CHARS]).split("\n")
    lines = [part for each in shown for part in list(wrapped(each, width)) or [""]]
    if len(lines) > _MOST_ANSWER_LINES:
        more = len(lines) - _MOST_ANSWER_LINES
        lines = [*lines[:_MOST_ANSWER_LINES], f"… and {counted(more, 'line')} more"]
    return lines if answer else []


def _none(history: History) -> str:
    """What stands in place of an answer."""
    return "(none)" if history.run.kept == "whole" else "(its texts were deleted)"
