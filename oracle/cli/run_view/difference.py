"""Where two runs part, as lines: what came in, what the nodes did about it, the ends, the trees, the answers."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from bt_runtime.text.phrases import counted
from oracle.cli.run_view.tree import SYMBOLS
from oracle.cli.run_view.words import line, outcome, path_end, safe, tree_label, value_of
from oracle.cli.text import clean
from oracle.replay.histories.differences import HistoryDifference, RunParting
from oracle.replay.histories.model import History, NodeFacts, StatusName, TreeFacts

_SIDE_BY_SIDE: Final = 120  # columns from which two answers stand side by side
_MOST_NODES: Final = 12
_MOST_LINES: Final = 40
_MOST_ANSWER_LINES: Final = 20
_MOST_ANSWER_CHARS: Final = 100_000
_CODES: Final[Mapping[StatusName | None, str]] = {"SUCCESS": "+", "FAILURE": "-", "RUNNING": ">"}


def difference_parts(old: History, new: History, found: HistoryDifference, *, width: int) -> Iterator[RenderableType]:
    """The differences of two runs; the first lines say the most."""
    runs = {"A": old, "B": new}
    parts: list[list[RenderableType]] = [
        [_head(letter, history) for letter, history in runs.items()],
        list(_summary(found, len(old.ticks))),
    ]
    for name, parting in (("came in", found.input), ("did", found.way)):
        parts.append(list(_parting(name, parting, runs)) if parting is not None else [])
    parts += [list(_nodes(found, runs)), list(_trees(old.tree, new.tree)), list(_answers(old, new, width))]
    for number, part in enumerate(filter(None, parts)):
        yield from part if number == 0 else (Text(), *part)


def _head(letter: str, history: History) -> Text:
    run = history.run
    facts = f"  {tree_label(run)} · {counted(run.turns, 'turn')} · {counted(run.tokens_used, 'token')}"
    return line(
        (f"{letter}  ", "strong"), safe(run.id[:8]), "  ", outcome(run), (facts, "dim"), "  ", safe(run.question)
    )


def _summary(found: HistoryDifference, ticks: int) -> Iterator[Text]:
    if found.is_same:
        yield Text(f"The same: {counted(ticks, 'tick')}, the same nodes, the same end.", "strong")
    else:
        first = min((each.tick for each in (found.input, found.way) if each is not None), default=ticks)
        until = f"The same until tick {first - 1}, then different." if first > 1 else "Different from the start."
        ends = f" A ends as {found.old_end or 'it is under way'}, B as {found.new_end or 'it is under way'}."
        same = f" Both end as {found.old_end}." if found.old_end else ""
        yield Text.assemble((until, "strong"), same if found.old_end == found.new_end else ends)
    if not found.has_texts:
        yield Text("Texts were deleted or left out, so only causes, results and ends are compared.", "warn")


def _parting(name: str, parting: RunParting, runs: Mapping[str, History]) -> Iterator[Text]:
    at = f"tick {parting.tick}" if parting.tick else "before the first tick"
    yield line((f"{name}  ", "dim"), (at, "strong"), f"  {path_end(parting.path)}")
    sides = ((parting.old_node, parting.old), (parting.new_node, parting.new))
    for (letter, history), (index, did) in zip(runs.items(), sides, strict=True):
        lead = Text(f"  {letter}  ", "strong")
        if history.tree is not None and index is not None:
            node = history.tree.nodes[index]
            yield line(lead, (f"{safe(node.file)}:{node.line}  ", "dim"), _code(history.tree, node))
            lead = Text("     ")
        yield line(lead, safe(did) if did else ("nothing", "dim"))
    is_said = parting.kind == "outcome" and len(parting.values) == 1  # in the lines above
    for value in () if is_said else parting.values[:_MOST_NODES]:
        yield line(f"     {safe(value.name)}  ", value_of(value.old), ("  |  ", "dim"), value_of(value.new))


def _code(tree: TreeFacts, node: NodeFacts) -> str:
    lines = tree.files.get(node.file, "").split("\n")
    return safe(lines[node.line - 1].strip() if 0 < node.line <= len(lines) else node.label)


def _nodes(found: HistoryDifference, runs: Mapping[str, History]) -> Iterator[RenderableType]:
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
    said = f"{counted(len(counts), 'node')} returned something else in {counted(ticks, 'tick')}"
    yield Text.assemble((said, "strong"), ("  first tick, A B", "dim"))
    table = Table.grid("", Column(justify="right", style="dim"), "", "", Column(style="dim"), padding=(0, 2, 0, 0))
    for path, (tick, was, now) in list(first.items())[:_MOST_NODES]:
        times = f"  {counted(counts[path], 'tick')}" if counts[path] > 1 else ""
        marks = Text.assemble(SYMBOLS[was], " ", SYMBOLS[now])
        table.add_row("", str(tick), marks, line(path_end(path)), line(f"{places.get(path, '')}{times}"))
    yield table
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
            yield line((f"  {sign} ", style), (f"{safe(file)}:{at + 1}  ", "dim"), safe(source.strip()))


def _answers(old: History, new: History, width: int) -> Iterator[RenderableType]:
    """What the users could read: side by side where there is room, else below each other."""
    was, now = ("".join(each.text for each in run.texts if each.type == "content").strip() for run in (old, new))
    if was == now:
        if was:
            yield Text(f"the same answer, {counted(len(was), 'character')}", "strong")
    elif width >= _SIDE_BY_SIDE:
        table = Table(box=None, header_style="strong", pad_edge=False, padding=(0, 3, 0, 0), expand=True)
        table.add_column("answer A", ratio=1)
        table.add_column("answer B", ratio=1)
        table.add_row(_shown(was, old), _shown(now, new))
        yield table
    else:
        for letter, answer, run in (("A", was, old), ("B", now, new)):
            yield Text(f"answer {letter}", "strong")
            yield Padding(_shown(answer, run), (0, 0, 0, 2))


def _shown(answer: str, history: History) -> Text:
    """The first lines of an answer, or what stands in its place."""
    if not answer:
        return Text("(none)" if history.run.kept == "whole" else "(its texts were deleted)")
    lines = clean(answer[:_MOST_ANSWER_CHARS]).split("\n")
    more = len(lines) - _MOST_ANSWER_LINES
    note = [f"… and {counted(more, 'line')} more"] if more > 0 else []
    return Text("\n".join([*lines[:_MOST_ANSWER_LINES], *note]))
