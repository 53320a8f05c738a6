"""One run at one tick, as lines: head, overview, and the tree with marks and values."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from bt_runtime import forced_path
from bt_runtime.text import visible
from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import counted
from oracle.cli.people import asked_line, decided_line
from oracle.cli.run_view.overview import head, overview, so_far
from oracle.cli.run_view.screen import Page
from oracle.cli.run_view.tree import (
    SYMBOLS,
    NodeSources,
    decision_of,
    lines_of,
    mark_of,
    rows_of,
)
from oracle.cli.run_view.words import line, safe, seconds, shortened, value_of
from oracle.core.chunks import Answered
from oracle.replay.histories.model import DELETED, History, TickFacts
from oracle.replay.histories.naming import debug_words, seam_words

WIDEST = 120  # cells, however wide the terminal is
_LONGEST_NOTE = 300  # about what is missing
_MOST_REFUSED = 5
_MOST_CHARS = 1_000_000  # of an answer
_LONGEST_CHANGED = 24
_LONGEST_PLACE = 36
_FIRST_SENTENCE = re.compile(r"^.+?[.!?](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Sections:
    """What is shown of a tick in place of the tree, and how."""

    why: bool = False
    answer: bool = False
    board: bool = False

    @property
    def has_tree(self) -> bool:
        """Whether the tree is shown."""
        return not (self.why or self.answer or self.board)


def deciding_tick(history: History) -> int | None:
    """The position of the tick that decided the end, or of the last one with a decision; `None` without ticks."""
    ticks = history.ticks
    if not ticks:
        return None
    if history.end is not None and history.end.tick is not None:
        found = next((at for at, tick in enumerate(ticks) if tick.tick == history.end.tick), None)
        if found is not None:
            return found
    if history.run.status != "finished":
        return len(ticks) - 1
    return next((at for at in range(len(ticks) - 1, -1, -1) if ticks[at].decision is not None), len(ticks) - 1)


def run_page(history: History, position: int | None, *, width: int, sections: Sections, now: float) -> Page:
    """The view of a run.

    Args:
        history: what is known of the run.
        position: where the tick stands among the ticks, from 0; `None` if there are none.
        width: how many cells a line has.
        sections: which parts of the tick are shown.
        now: seconds since the epoch, for a run that is under way.
    """
    run = so_far(history)
    lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
    stood_s = sum(seam.pause_s - seam.counted_s for seam in history.seams)  # while the run's clock did not go on
    clock_s = 0.0 if run.status == "parked" else lasted_s - stood_s
    end_s = max(clock_s, history.ticks[-1].at_s if history.ticks else 0.0)
    tick = None if position is None else history.ticks[position]
    lines = [*head(run, history.turns, lasted_s=lasted_s), *_notes(history), Text()]
    lines += [*overview(history, tick, width, end_s=end_s), Text()]
    if tick is None or position is None:
        return Page([*lines, *_without_ticks(history)])
    lines += [*_headline(history, tick), *_operated(history, tick), Text()]
    before = values_before(history, position)
    after = _values_after(before, tick)
    lines += [_way(history, tick), Text()] if sections.why else []
    lines += [*_answer(history, tick, width), Text()] if sections.answer else []
    lines += [*_board(before, after, width), Text()] if sections.board else []
    has_halted = history.tree is not None and "/" in tick.marks
    foot = [*([] if sections.board else _changed(before, after)), _legend(width, has_halted=has_halted)]
    if not sections.has_tree or history.tree is None:
        return Page(lines, foot=foot)
    rows = rows_of(history, tick, before=before)
    digits = max([3, *(len(str(row.number)) for row in rows)])
    lines.append(Text(f"{'line':>{digits + 2}}", "dim"))
    focus = next((at for at, row in enumerate(rows) if row.is_decision), 0)
    drawn = [Group(*lines_of(row, width, digits=digits)) for row in rows]
    return Page(lines, drawn, [Text(), *foot], focus)


def tick_line(history: History, tick: TickFacts) -> Text:
    """A tick on one line: its number, time and turn, its cause, and what was decided."""
    said = sentence_of(history, tick)
    start = f"tick {tick.tick:<4} {seconds(tick.at_s, places=2):>9}  turn {tick.turn:<3} {cause_of(tick)}"
    done = "; ".join(words for at, words in (*_operations(history), *_people(history)) if at == tick.tick)
    parts = ((start, "dim"), f": {said}" if said else "", (f" ({done})" if done else "", "warn"))
    return Text.assemble(*parts, no_wrap=True, overflow="ignore")


def _notes(history: History) -> Iterator[Text]:
    """What is missing, what it waits for, and what the rules of its tree have refused."""
    run = history.run
    if run.kept != "whole" and DELETED[run.kept] not in history.problem:
        what = "texts" if run.kept == "figures" else "texts and ticks"
        yield Text(f"Its {what} were deleted; what is left is shown.", "warn")
    if history.problem:
        yield Text(f"Note: {shortened(safe(history.problem), _LONGEST_NOTE)}.", "warn")
    for asked in history.interrupts:
        if asked.interrupt.status == "pending":
            yield line((f"Waits for an answer: {safe(asked_line(asked.interrupt))}", "strong"))
    refused = [breach for breach in history.breaches if breach.enforcement == "refuse"]
    for breach in refused[:_MOST_REFUSED]:
        said = f"Refused in turn {breach.turn} by the rule {breach.rule}: {breach.event}"
        yield Text(f"{shortened(safe(said), _LONGEST_NOTE)}.", "warn")
    if len(refused) > _MOST_REFUSED:
        yield Text(f"Refused besides: {counted(len(refused) - _MOST_REFUSED, 'call')}.", "warn")


def _without_ticks(history: History) -> Iterator[Text]:
    said = "It has no recorded ticks." if history.run.status == "finished" else "It has not ticked yet."
    yield Text("Its ticks are no longer stored." if history.run.kept == "gone" else said, "dim")
    if history.end:
        yield Text(safe(history.end.sentence))


def _headline(history: History, tick: TickFacts) -> Iterator[Text]:
    """Which tick, and its sentence, the first part of it strong."""
    rest = f" · turn {tick.turn} · {seconds(tick.at_s, places=2)} · {cause_of(tick)}"
    rest += f" · took {tick.took_ms:.0f} ms" if tick.took_ms >= 1 else ""
    yield line((f"tick {tick.tick} of {len(history.ticks)}", "strong"), (rest, "dim"))
    said = Text(sentence_of(history, tick))
    first = _FIRST_SENTENCE.match(said.plain)
    said.stylize("strong", 0, first.end() if first else len(said))
    if said:
        yield said


def _operated(history: History, tick: TickFacts) -> Iterator[Text]:
    """What operators and other workers did before the tick, or after the last one, and what people were asked in it."""
    is_last = history.ticks[-1] is tick
    for name, done in (
        ("Before this tick: ", [words for at, words in _operations(history) if at == tick.tick]),
        ("After this tick: ", [words for at, words in _operations(history) if is_last and at > tick.tick]),
    ):
        if done:
            yield Text(f"{name}{'; '.join(done)}.", "warn")
    for at, words in _people(history):
        if at == tick.tick or (is_last and at > tick.tick):
            yield Text(f"{words[:1].upper()}{words[1:]}")


def _operations(history: History) -> Iterator[tuple[int, str]]:
    """What operators did with the debugger, and where another worker has gone on: the next tick, and words."""
    for done in history.debug:
        yield done.tick, safe(debug_words(history, done))
    for seam in history.seams:
        yield seam.tick, safe(seam_words(history, seam))


def _people(history: History) -> Iterator[tuple[int, str]]:
    """What people were asked and what they have decided: the next tick, and words."""
    for asked in history.interrupts:
        yield asked.tick, f"asked: {safe(asked_line(asked.interrupt))}"
    for made in history.decisions:
        answered = Answered(made.interrupt, made.answer, made.arguments, made.comment)
        yield made.tick, safe(decided_line(answered))


def sentence_of(history: History, tick: TickFacts) -> str:
    """What happened in the tick, of the one that decided the end also why it ended, and for operators the cause."""
    end = history.end if history.end is not None and history.end.tick == tick.tick else None
    ended = end.sentence if end is not None and end.sentence.rstrip(".") not in tick.headline else ""
    cause = f"Cause: {end.cause}" if end is not None and end.cause else ""
    if tick.headline or ended:
        return safe(" ".join(filter(None, (tick.headline, ended, cause))))
    decision = decision_of(history, tick)
    if decision is None or history.tree is None:
        return ""
    node = history.tree.nodes[decision]
    return f"Decided by {safe(node.name or node.kind)} in {safe(node.file)}:{node.line}."


def cause_of(tick: TickFacts) -> str:
    """Why there was a tick: `llm_turn answered`."""
    names = [_node_name(cause) for cause in tick.causes]
    who = ", ".join(dict.fromkeys(names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    match tick.cause:
        case "start":
            return "the run begins"
        case "outcome":
            return f"{who or 'a request'} answered"
        case "deadline":
            return f"a time was reached{f' for {who}' if who else ''}"
        case "delivery":
            said = ", ".join(_delivered(key, value) for key, value in tick.deliveries[:3])
            return f"from outside: {said or counted(len(tick.deliveries), 'value')}"
        case "again":
            return f"{who} goes on" if who else "the tree continues"
        case "end":
            return "running nodes were halted"


def _delivered(key: str, value: object) -> str:
    path = forced_path(key)
    if path is not None:
        return f"{_node_name(path)} forced to {safe(str(value))}"
    return f"{safe(key)} {value_of(value, longest=30)}"


def _node_name(cause: str) -> str:
    """The node behind a cause: the last part of its path, without the number of the request."""
    return safe(cause.rpartition("/")[2].partition("@")[0].partition("#")[0])


def _way(history: History, tick: TickFacts) -> RenderableType:
    """The steps on the way to the decision: file and line of each, and beside them the node and what it says."""
    tree, end = history.tree, history.end
    steps = (end.why if end is not None and end.tick == tick.tick else ()) or tick.why
    if tree is None or not steps:
        is_deleted = history.run.kept != "whole" and not tick.visits
        because = " The texts of the run were deleted, so its ticks have no reasons." if is_deleted else ""
        return Text(f"The node that decided is not known.{because}", "dim")
    source, parents = NodeSources(tree), {node.parent for node in tree.nodes}
    way = Table.grid(Column(max_width=_LONGEST_PLACE), "", padding=(0, 2, 0, 0))
    for step in steps:
        node = tree.nodes[step.node]
        mark, place = SYMBOLS[mark_of(tree, tick, node.index)], (f"{safe(node.file)}:{node.line}", "dim")
        code = line((source.of(node, has_children=node.index in parents), "strong" if step.decides else ""))
        said = Text(safe("".join(piece.text for piece in step.pieces)), "" if step.decides else "dim")
        way.add_row(Text.assemble("▸ " if step.decides else "  ", mark, " ", place, overflow="fold"), Group(code, said))
    return way


def _answer(history: History, tick: TickFacts, width: int) -> Iterator[RenderableType]:
    """What the user had read by the tick, its line breaks kept, and a note of what was still to come."""
    pieces = [text for text in history.texts if text.type == "content"]
    read = "".join(text.text for text in pieces if text.tick <= tick.tick)
    later = sum(len(text.text) for text in pieces if text.tick > tick.tick)
    yield Text(f"read by tick {tick.tick}", "strong")
    if not read.strip():
        yield Text("  nothing yet" if history.run.kept == "whole" else "  (its texts were deleted)", "dim")
    for paragraph in read[:_MOST_CHARS].replace("\r\n", "\n").strip("\n").split("\n"):
        flat = visible(paragraph.expandtabs(4))
        indent = min(len(flat) - len(flat.lstrip(" ")), width // 2)
        yield Padding(Text(flat.strip()), (0, 0, 0, indent + 2))
    if later:
        yield Text(f"  … {later:,} more characters after it", "dim")


def values_before(history: History, position: int) -> dict[str, Any]:
    """The values on the blackboard before the tick at that position."""
    values = {key.name: key.value for key in history.keys}
    for tick in history.ticks[:position]:
        values = _values_after(values, tick)
    return values


def _values_after(before: Mapping[str, Any], tick: TickFacts) -> dict[str, Any]:
    delivered = {key: value for key, value in tick.deliveries if forced_path(key) is None}  # forced results are none
    return {**before, **delivered, **dict(tick.writes)}


def _is_same(before: Mapping[str, Any], key: str, value: object) -> bool:
    return key in before and value == before[key] and type(value) is type(before[key])


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Text]:
    """The keys that differ, on one line."""
    changed = [
        f"  {safe(key)} {'→'.join(value_of(each, longest=_LONGEST_CHANGED) for each in (before.get(key), value))}"
        for key, value in after.items()
        if not _is_same(before, key, value)
    ]
    if changed:
        yield line(("changed", "warn"), *changed)


def _board(before: Mapping[str, Any], after: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    """Every key, changed ones first; the empty ones by name only."""
    names = sorted(after, key=lambda key: (_is_same(before, key, after[key]), key))
    empty = [name for name in names if after[name] in (None, "", [], {}) and after[name] == before.get(name)]
    board = Table.grid(Column(max_width=width // 3), "", padding=(0, 2, 0, 0))
    yield Text("blackboard", "strong")
    for name in names:
        shown = value_of(after[name], longest=width)
        if name in empty:
            continue
        if _is_same(before, name, after[name]):
            board.add_row(line(f"  {safe(name)}"), line((shown, "dim")))
        else:
            old = value_of(before.get(name), longest=width // 3)
            board.add_row(line((f"  {safe(name)}", "warn")), line((f"{old} → ", "dim"), shown))
    yield board
    if empty:
        yield line((f"  empty: {', '.join(map(safe, empty))}", "dim"))


def _legend(width: int, *, has_halted: bool) -> Text:
    words = (
        ("+", " success  "),
        ("-", " failure (“no”)  "),
        (">", " running  "),
        *((("/", " interrupted  "),) if has_halted else ()),
        (".", " not asked  "),
        ("!", " error"),
    )
    legend = Text.assemble(*(part for code, word in words for part in (SYMBOLS[code], (word, "dim"))))
    flags = "--tick N  --why  --answer  --board"
    gap = width - legend.cell_len - len(flags)
    return legend.append(" " * gap + flags, "dim") if gap >= 2 else legend
