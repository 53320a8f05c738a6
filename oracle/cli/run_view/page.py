"""One run at one tick, as lines: head, overview, the tree with marks and values, and all ticks to its right."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from bt_runtime import forced_path
from bt_runtime.text import visible
from bt_runtime.text.phrases import counted
from oracle.cli.people import asked_line, decided_line
from oracle.cli.run_view.overview import head, overview, so_far
from oracle.cli.run_view.tree import (
    SYMBOLS,
    NodeSources,
    decision_of,
    equal,
    heading,
    in_time,
    lines_of,
    mark_of,
    rows_of,
)
from oracle.cli.run_view.words import fitted, safe, seconds, shortened, value_of, wrapped
from oracle.core.chunks import Answered
from oracle.replay.histories.debugged import debug_words
from oracle.replay.histories.model import History, TickFacts
from oracle.replay.histories.people import seam_words
from oracle.replay.recorded import DELETED

_NARROW = 120
_WIDEST_LEFT = 116  # columns of the source, however wide the terminal is
_LEFT = 96  # columns of the source, where the terminal is wide
_MOST_NOTES = 3  # lines about what is missing
_MOST_CHARS = 1_000_000  # of an answer
_LONGEST_CHANGED = 24
_LONGEST_PLACE = 32
_FIRST_SENTENCE = re.compile(r"^.+?[.!?](?=\s|$)")


@dataclass(frozen=True, slots=True)
class Sections:
    """What is shown of a tick in place of the tree, and how."""

    why: bool = False
    answer: bool = False
    board: bool = False
    in_time: bool = False

    @property
    def has_tree(self) -> bool:
        """Whether the tree is shown."""
        return not (self.why or self.answer or self.board)


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a view: those above the rows of the tree, the rows, those below.

    Args:
        focus: the row of the node that decided; 0 if there is none.
    """

    head: Sequence[Text]
    rows: Sequence[Text] = ()
    foot: Sequence[Text] = ()
    focus: int = 0

    @property
    def lines(self) -> list[Text]:
        """All of them."""
        return [*self.head, *self.rows, *self.foot]

    def cropped(self, height: int) -> list[Text]:
        """As many lines as a screen has: head and foot, and the rows around the node that decided."""
        room = height - len(self.head) - len(self.foot)
        if room < 1 or not self.rows:
            return self.lines[:height]
        start = max(0, min(self.focus - room // 2, len(self.rows) - room))
        return [*self.head, *self.rows[start : start + room], *self.foot]


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
        width: how many cells a line may have.
        sections: which parts of the tick are shown.
        now: seconds since the epoch, for a run that is under way.
    """
    most = max(width // 4, width - _LEFT) - 1  # columns of the matrix
    columns = most if sections.in_time else min(most, len(history.ticks))
    width = min(width, max(_NARROW, _WIDEST_LEFT + columns))
    run = so_far(history)
    lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
    stood_s = sum(seam.pause_s - seam.counted_s for seam in history.seams)  # while the run's clock did not go on
    clock_s = 0.0 if run.status == "parked" else lasted_s - stood_s
    end_s = max(clock_s, history.ticks[-1].at_s if history.ticks else 0.0)
    tick = None if position is None else history.ticks[position]
    lines = [*head(run, width, lasted_s=lasted_s), *_notes(history, width), Text()]
    lines += [*overview(history, tick, width, end_s=end_s), Text()]
    if tick is None or position is None:
        return Page([*lines, *_without_ticks(history, width)])
    lines += [*_headline(history, tick, width), *_operated(history, tick, width), Text()]
    before = values_before(history, position)
    after = _values_after(before, tick)
    lines += [*_way(history, tick, width), Text()] if sections.why else []
    lines += [*_answer(history, tick, width), Text()] if sections.answer else []
    lines += [*_board(before, after, width), Text()] if sections.board else []
    has_halted = history.tree is not None and "/" in tick.marks
    foot = [*([] if sections.board else _changed(before, after, width)), _legend(width, has_halted=has_halted)]
    if not sections.has_tree or history.tree is None:
        return Page(lines, foot=foot)
    aside = ""
    if sections.in_time:
        matrix = in_time(history.ticks, position, width=columns, end_s=end_s)
        aside = f"{seconds(end_s / max(1, columns), places=2)} a column"
    else:
        matrix = equal(history.ticks, position, width=columns)
        aside = f"{matrix.before:,} ticks before, {matrix.after:,} after" if matrix.before or matrix.after else ""
    rows = rows_of(history, tick, before=before)
    digits = max([3, *(len(str(row.number)) for row in rows)])
    seams = {seam.tick for seam in history.seams}
    lines += heading(matrix, width, digits=digits, title=f"at tick {tick.tick}", aside=aside, seams=seams)
    drawn: list[Text] = []
    focus = 0
    for row in rows:
        focus = len(drawn) if row.is_decision else focus
        drawn += lines_of(history.tree, row, matrix, width, digits=digits)
    return Page(lines, drawn, [Text(), *foot], focus)


def tick_line(history: History, tick: TickFacts) -> Text:
    """A tick on one line: its number, time and turn, its cause, and what was decided."""
    said = sentence_of(history, tick)
    start = f"tick {tick.tick:<4} {seconds(tick.at_s, places=2):>9}  turn {tick.turn:<3} {cause_of(tick)}"
    done = "; ".join(words for at, words in (*_operations(history), *_people(history)) if at == tick.tick)
    return Text.assemble((start, "dim"), f": {said}" if said else "", (f" ({done})" if done else "", "warn"))


def _notes(history: History, width: int) -> Iterator[Text]:
    """What is missing."""
    run = history.run
    if run.kept != "whole" and DELETED[run.kept] not in history.problem:
        what = "texts" if run.kept == "figures" else "texts and ticks"
        yield fitted(Text(f"Its {what} were deleted; what is left is shown.", "warn"), width)
    if history.problem:
        yield from wrapped(Text(f"Note: {safe(history.problem)}.", "warn"), width)[:_MOST_NOTES]
    for asked in history.interrupts:
        if asked.interrupt.status == "pending":
            yield fitted(Text(f"Waits for an answer: {safe(asked_line(asked.interrupt))}", "strong"), width)


def _without_ticks(history: History, width: int) -> Iterator[Text]:
    said = "It has no recorded ticks." if history.run.status == "finished" else "It has not ticked yet."
    yield Text("Nothing is left of its ticks." if history.run.kept == "gone" else said, "dim")
    if history.end:
        yield from wrapped(safe(history.end.sentence), width)


def _headline(history: History, tick: TickFacts, width: int) -> Iterator[Text]:
    """Which tick, and its sentence, the first part of it strong."""
    number = f"tick {tick.tick} of {len(history.ticks)}"
    rest = f" · turn {tick.turn} · {seconds(tick.at_s, places=2)} · {cause_of(tick)}"
    rest += f" · took {tick.took_ms:.0f} ms" if tick.took_ms >= 1 else ""
    yield Text.assemble((number, "strong"), (shortened(rest, width - len(number)), "dim"))
    said = Text(sentence_of(history, tick))
    first = _FIRST_SENTENCE.match(said.plain)
    said.stylize("strong", 0, first.end() if first else len(said))
    yield from wrapped(said, width)


def _operated(history: History, tick: TickFacts, width: int) -> Iterator[Text]:
    """What operators and other workers did before the tick, or after the last one, and what people were asked in it."""
    is_last = history.ticks[-1] is tick
    for name, done in (
        ("Before this tick: ", [words for at, words in _operations(history) if at == tick.tick]),
        ("After this tick: ", [words for at, words in _operations(history) if is_last and at > tick.tick]),
    ):
        if done:
            yield from wrapped(Text(f"{name}{'; '.join(done)}.", "warn"), width)
    for at, words in _people(history):
        if at == tick.tick or (is_last and at > tick.tick):
            yield from wrapped(f"{words[:1].upper()}{words[1:]}", width)


def _operations(history: History) -> Iterator[tuple[int, str]]:
    """What operators did with the debugger, and where another worker has gone on: the next tick, and words."""
    for done in history.debug:
        yield done.tick, safe(debug_words(history, done))
    for seam in history.seams:
        yield seam.tick, safe(seam_words(history, seam))


def _people(history: History) -> Iterator[tuple[int, str]]:
    """What people were asked and what they have decided, likewise."""
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
            return "the query begins"
        case "outcome":
            return f"{who or 'a request'} answered"
        case "deadline":
            return f"a time was reached{f' for {who}' if who else ''}"
        case "delivery":
            said = ", ".join(_delivered(key, value) for key, value in tick.deliveries[:3])
            return f"from outside: {said or counted(len(tick.deliveries), 'value')}"
        case "again":
            return f"{who} goes on" if who else "the tree goes on"
        case "end":
            return "what was under way was halted"


def _delivered(key: str, value: object) -> str:
    path = forced_path(key)
    if path is not None:
        return f"{_node_name(path)} forced to {safe(str(value))}"
    return f"{safe(key)} {value_of(value, longest=30)}"


def _node_name(cause: str) -> str:
    """The node behind a cause: the last part of its path, without the number of the request."""
    return safe(cause.rpartition("/")[2].partition("@")[0].partition("#")[0])


def _way(history: History, tick: TickFacts, width: int) -> Iterator[Text]:
    """A line with file and line for each step on the way to the decision, and below it what it says."""
    tree, end = history.tree, history.end
    steps = (end.why if end is not None and end.tick == tick.tick else ()) or tick.why
    if tree is None or not steps:
        is_deleted = history.run.kept != "whole" and not tick.visits
        because = " The texts of the run were deleted, so its ticks have no reasons." if is_deleted else ""
        yield Text(f"The node that decided is not known.{because}", "dim")
        return
    source, parents = NodeSources(tree), {node.parent for node in tree.nodes}
    nodes = [tree.nodes[step.node] for step in steps]
    places = [f"{safe(node.file)}:{node.line}" for node in nodes]
    places = [place if len(place) <= _LONGEST_PLACE else f"…{place[1 - _LONGEST_PLACE // 2 :]}" for place in places]
    room = max(Text(place).cell_len for place in places)
    for step, node, place in zip(steps, nodes, places, strict=True):
        style = "strong" if step.decides else ""
        code = source.of(node, has_children=node.index in parents)
        mark = SYMBOLS[mark_of(tree, tick, node.index)]
        start = Text.assemble("▸ " if step.decides else "  ", mark, " ", fitted(Text(place, "dim"), room + 2))
        yield fitted(Text.assemble(start, (code, style)), width)
        said = Text(safe("".join(piece.text for piece in step.pieces)), "" if step.decides else "dim")
        for part in wrapped(said, width - room - 6):
            yield Text.assemble(" " * (room + 6), part)


def _answer(history: History, tick: TickFacts, width: int) -> Iterator[Text]:
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
        for part in wrapped(flat.strip(), width - 2 - indent) or [Text()]:
            yield Text.assemble(" " * (indent + 2), part)
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


def _changed(before: Mapping[str, Any], after: Mapping[str, Any], width: int) -> list[Text]:
    """The keys that differ, on one line, as many as fit."""
    parts = []
    for key, value in after.items():
        if not _is_same(before, key, value):
            old, new = (value_of(each, longest=_LONGEST_CHANGED) for each in (before.get(key), value))
            parts.append(Text(f"  {safe(key)} {old}→{new}"))
    line = Text.assemble(("changed", "warn"))
    for number, part in enumerate(parts):
        rest = f"  + {len(parts) - number - 1} more (--board)" if number + 1 < len(parts) else ""
        if line.cell_len + part.cell_len + len(rest) > width:
            line.append(f"  + {len(parts) - number} more (--board)")
            break
        line.append_text(part)
    return [fitted(line, width)] if parts else []


def _board(before: Mapping[str, Any], after: Mapping[str, Any], width: int) -> Iterator[Text]:
    """Every key, changed ones first; the empty ones by name only."""
    names = sorted(after, key=lambda key: (_is_same(before, key, after[key]), key))
    empty = [name for name in names if after[name] in (None, "", [], {}) and after[name] == before.get(name)]
    room = max((Text(safe(name)).cell_len for name in names), default=0) + 4
    yield Text("blackboard", "strong")
    for name in names:
        if name in empty:
            continue
        shown = value_of(after[name], longest=width)
        label = fitted(Text(f"  {safe(name)}"), room)
        if _is_same(before, name, after[name]):
            yield fitted(Text.assemble(label, (shown, "dim")), width)
        else:
            old = value_of(before.get(name), longest=width // 3)
            label.stylize("warn")
            yield fitted(Text.assemble(label, (f"{old} → ", "dim"), shown), width)
    if empty:
        yield fitted(Text(f"  empty: {', '.join(map(safe, empty))}", "dim"), width)


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
    flags = "--tick N  --why  --answer  --time"
    gap = width - legend.cell_len - len(flags)
    return legend.append(" " * gap + flags, "dim") if gap >= 2 else legend
