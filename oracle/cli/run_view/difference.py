"""Where two runs part, as lines: what came in, what the nodes did about it, the ends, the trees, the answers."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Final

from rich.text import Text

from bt_runtime.text.phrases import counted
from oracle.cli.run_view.tree import SYMBOLS
from oracle.cli.run_view.words import fitted, outcome, path_end, safe, shortened, tree_label, value_of, wrapped
from oracle.cli.text import clean
from oracle.replay.histories.differences import HistoryDifference, RunParting
from oracle.replay.histories.model import History, NodeFacts, StatusName, TreeFacts

_SIDE_BY_SIDE: Final = 120  # columns from which two answers stand side by side
_MOST_NODES: Final = 12
_MOST_LINES: Final = 40
_MOST_ANSWER_LINES: Final = 20
_MOST_ANSWER_CHARS: Final = 100_000
_CODES: Final[Mapping[StatusName | None, str]] = {"SUCCESS": "+", "FAILURE": "-", "RUNNING": ">"}


def difference_lines(old: History, new: History, found: HistoryDifference, *, width: int) -> Iterator[Text]:
    """The differences of two runs; the first lines say the most."""
    runs = {"A": old, "B": new}
    parts = [[_head(letter, history) for letter, history in runs.items()], list(_summary(found, len(old.ticks)))]
    for name, parting in (("came in", found.input), ("did", found.way)):
        parts.append(list(_parting(name, parting, runs)) if parting is not None else [])
    parts += [list(_nodes(found, runs)), list(_trees(old.tree, new.tree)), list(_answers(old, new, width))]
    is_first = True
    for lines in filter(None, parts):
        if not is_first:
            yield Text()
        is_first = False
        yield from (fitted(line, width) for line in lines)


def _head(letter: str, history: History) -> Text:
    run = history.run
    facts = f"  {tree_label(run)} · {counted(run.turns, 'turn')} · {counted(run.tokens_used, 'token')}"
    question = shortened(safe(run.question), 60)
    return Text.assemble(
        (f"{letter}  ", "strong"), safe(run.id[:8]), "  ", outcome(run), (facts, "dim"), "  ", question
    )


def _summary(found: HistoryDifference, ticks: int) -> Iterator[Text]:
    if found.is_same:
        yield Text(f"The same: {counted(ticks, 'tick')}, the same nodes, the same end.", "strong")
    else:
        first = min((each.tick for each in (found.input, found.way) if each is not None), default=ticks)
        until = f"The same until tick {first - 1}, then different." if first > 1 else "Different from the beginning."
        ends = f" A ends as {found.old_end or 'it is under way'}, B as {found.new_end or 'it is under way'}."
        same = f" Both end as {found.old_end}." if found.old_end else ""
        yield Text.assemble((until, "strong"), same if found.old_end == found.new_end else ends)
    if not found.has_texts:
        yield Text("Texts were deleted or left out, so causes, results and ends alone are compared.", "warn")


def _parting(name: str, parting: RunParting, runs: Mapping[str, History]) -> Iterator[Text]:
    at = f"tick {parting.tick}" if parting.tick else "before the first tick"
    yield Text.assemble((f"{name}  ", "dim"), (at, "strong"), f"  {path_end(parting.path)}")
    sides = ((parting.old_node, parting.old), (parting.new_node, parting.new))
    for (letter, history), (index, did) in zip(runs.items(), sides, strict=True):
        lead = Text(f"  {letter}  ", "strong")
        if history.tree is not None and index is not None:
            node = history.tree.nodes[index]
            place = (f"{safe(node.file)}:{node.line}  ", "dim")
            yield Text.assemble(lead, place, _code(history.tree, node))
            lead = Text("     ")
        yield Text.assemble(lead, safe(did) if did else ("nothing", "dim"))
    is_said = parting.kind == "outcome" and len(parting.values) == 1  # in the lines above
    for value in () if is_said else parting.values[:_MOST_NODES]:
        yield Text.assemble(f"     {safe(value.name)}  ", value_of(value.old), ("  |  ", "dim"), value_of(value.new))


def _code(tree: TreeFacts, node: NodeFacts) -> str:
    lines = tree.files.get(node.file, "").split("\n")
    return safe(lines[node.line - 1].strip() if 0 < node.line <= len(lines) else node.label)


def _nodes(found: HistoryDifference, runs: Mapping[str, History]) -> Iterator[Text]:
    """The nodes that returned something else: each with the first tick, and in how many."""
    first: dict[str, tuple[int, str, str]] = {}
    counts: dict[str, int] = {}
    for step in found.ticks:
        for node in step.nodes:
            first.setdefault(node.path, (step.tick, _CODES.get(node.old, "."), _CODES.get(node.new, ".")))
            counts[node.path] = counts.get(node.path, 0) + 1
    if not counts:
        return
    ticks = len(found.ticks) + found.further_ticks
    trees = [history.tree for history in reversed(list(runs.values())) if history.tree is not None]
    places = {node.path: f"{safe(node.file)}:{node.line}" for tree in trees for node in tree.nodes}
    said = f"{counted(len(counts), 'node')} returned something else, in {counted(ticks, 'tick')}"
    yield Text.assemble((said, "strong"), ("  first tick, A B", "dim"))
    for path, (tick, was, now) in list(first.items())[:_MOST_NODES]:
        times = f"  {counted(counts[path], 'tick')}" if counts[path] > 1 else ""
        rest = (f"  {places.get(path, '')}{times}", "dim")
        yield Text.assemble((f"  {tick:>6}  ", "dim"), SYMBOLS[was], " ", SYMBOLS[now], f"  {path_end(path)}", rest)
    if len(first) > _MOST_NODES:
        yield Text(f"  … and {counted(len(first) - _MOST_NODES, 'node')} more", "dim")


def _trees(old: TreeFacts | None, new: TreeFacts | None) -> Iterator[Text]:
    """The lines in which the files of the two versions differ."""
    if old is None or new is None or old.version == new.version:
        return
    yield Text(f"{safe(old.name)}@{old.version[:7]} and {safe(new.name)}@{new.version[:7]} differ", "strong")
    files = dict.fromkeys((*old.files, *new.files))
    lines = [line for file in files for line in _file(file, old.files.get(file, ""), new.files.get(file, ""))]
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield Text(f"  … and {counted(len(lines) - _MOST_LINES, 'line')} more", "dim")


def _file(file: str, old: str, new: str) -> Iterator[Text]:
    was, now = old.split("\n"), new.split("\n")
    for kind, first, last, begin, end in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        changed = [("-", "fail", at, was[at]) for at in range(first, last)]
        changed += [("+", "ok", at, now[at]) for at in range(begin, end)]
        for sign, style, at, source in changed:
            yield Text.assemble((f"  {sign} ", style), (f"{safe(file)}:{at + 1}  ", "dim"), safe(source.strip()))


def _answers(old: History, new: History, width: int) -> Iterator[Text]:
    """What the users could read: side by side where there is room, else below each other."""
    was, now = _answer(old), _answer(new)
    if was == now:
        if was:
            yield Text(f"the same answer, {counted(len(was), 'character')}", "strong")
        return
    if width < _SIDE_BY_SIDE:
        for letter, answer, history in (("A", was, old), ("B", now, new)):
            yield Text(f"answer {letter}", "strong")
            yield from (Text.assemble("  ", line) for line in _paragraphs(answer, history, width - 2))
        return
    half = (width - 3) // 2
    yield Text.assemble(fitted(Text("answer A", "strong"), half), "   ", ("answer B", "strong"))
    for left, right in zip_longest(_paragraphs(was, old, half), _paragraphs(now, new, half)):
        yield Text.assemble(fitted(left or Text(), half), (" │ ", "dim"), right or "")


def _answer(history: History) -> str:
    return "".join(piece.text for piece in history.texts if piece.type == "content").strip()


def _paragraphs(answer: str, history: History, width: int) -> list[Text]:
    """The lines of an answer, or what stands in its place."""
    if not answer:
        return [Text("(none)" if history.run.kept == "whole" else "(its texts were deleted)")]
    shown = clean(answer[:_MOST_ANSWER_CHARS]).split("\n")
    lines = [part for each in shown for part in wrapped(each, width) or [Text()]]
    more = len(lines) - _MOST_ANSWER_LINES
    return lines if more <= 0 else [*lines[:_MOST_ANSWER_LINES], Text(f"… and {counted(more, 'line')} more")]
