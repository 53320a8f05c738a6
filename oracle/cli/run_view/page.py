"""One run at one tick, as lines: head, overview, the source of the tree with marks and values, all ticks beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len

from oracle.cli.run_view.answer import answer
from oracle.cli.run_view.board import changed, values_before, whole
from oracle.cli.run_view.headline import headline
from oracle.cli.run_view.marks import Marks, marks_of, symbol
from oracle.cli.run_view.matrix import Matrix, equal, in_time
from oracle.cli.run_view.overview import head, overview
from oracle.cli.run_view.spans import Ground, Line, Span, Style, line, safe, shortened
from oracle.cli.run_view.tree_rows import Row, rows_of
from oracle.cli.run_view.why import why
from oracle.histories import History
from oracle.histories.model import TickFacts, TreeFacts

_WIDEST = 200
_LEFT = 96  # columns of the source, where the terminal is wide
_BANDS: Mapping[str | None, Ground] = {"success": "ok", "failure": "fail", "running": "run", "error": "err"}


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


def page(history: History, position: int | None, *, width: int, sections: Sections, now: float) -> list[Line]:
    """The view of a run.

    Args:
        history: of the run.
        position: of the tick among its ticks; `None` if it has none.
        width: of the terminal, in cells.
        sections: what is shown.
        now: seconds since the epoch, for a run that is under way.
    """
    width = min(width, _WIDEST)
    run = history.run
    lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
    end_s = max(lasted_s, history.ticks[-1].at_s if history.ticks else 0.0)
    lines = head(run, width, lasted_s=lasted_s)
    if run.kept != "whole":
        what = "texts" if run.kept == "figures" else "texts and ticks"
        lines.append(line(Span(f"Its {what} were deleted; what is left is shown.", "warn")).fitted(width))
    if history.problem:
        lines.append(line(Span(f"Without reasons: {safe(history.problem)}.", "warn")).fitted(width))
    tick = None if position is None else history.ticks[position]
    lines += [Line(), *overview(history, tick, width, end_s=end_s), Line()]
    if tick is None or position is None:
        return [*lines, *_without_ticks(history)]
    lines += [*headline(history, tick, width), Line()]
    before = values_before(history, position)
    after = before | dict(tick.deliveries) | dict(tick.writes)
    marks = marks_of(history.tree, history.ticks, [position])[position] if history.tree else {}
    if sections.why:
        lines += [*why(history, tick, marks, width, before=before), Line()]
    if sections.answer:
        lines += [*answer(history, tick, width), Line()]
    if sections.board:
        lines += [*whole(before, after, width), Line()]
    if sections.has_tree and history.tree:
        lines += [*_tree(history, history.tree, position, marks, width, before, end_s=end_s, sections=sections), Line()]
    if not sections.board:
        lines += changed(before, after, width)
    return [*lines, _legend(width)]


def _without_ticks(history: History) -> Iterator[Line]:
    if history.run.kept == "gone":
        text = "Nothing is left of its ticks."
    elif history.run.status == "running":
        text = "It has not ticked yet."
    else:
        text = "It has no recorded ticks."
    yield line(Span(text, "dim"))
    if history.end and history.end.sentence:
        yield line(safe(history.end.sentence))


def _tree(
    history: History,
    tree: TreeFacts,
    position: int,
    marks: Marks,
    width: int,
    before: Mapping[str, Any],
    *,
    end_s: float,
    sections: Sections,
) -> Iterator[Line]:
    tick = history.ticks[position]
    most = max(width // 4, width - _LEFT) - 1
    if sections.in_time:
        matrix = in_time(tree, history.ticks, position, width=most, end_s=end_s)
    else:
        matrix = equal(tree, history.ticks, position, width=most)
    rows = rows_of(history, tick, marks, before=before)
    digits = max([3, *(len(str(row.number)) for row in rows)])
    left = width - matrix.width - 1
    yield from _column_heads(tick, matrix, left, digits, end_s=end_s, sections=sections)
    for row in rows:
        yield from _row(row, matrix, left, digits)


def _column_heads(
    tick: TickFacts, matrix: Matrix, left: int, digits: int, *, end_s: float, sections: Sections
) -> Iterator[Line]:
    title = Line((Span(f"{'line':>{digits + 2}}    at tick {tick.tick}", "dim"),))
    aside = f"{seconds_of(end_s, matrix.width)} a column " if sections.in_time else ""
    if matrix.before or matrix.after:
        aside = f"{matrix.before:,} ticks before, {matrix.after:,} after "
    room = left - 1 - cell_len(aside)
    yield _joined(Line((*title.fitted(room).spans, Span(aside, "dim"))), matrix.numbers(), left)
    yield _joined(Line(), matrix.pointer(), left)


def seconds_of(end_s: float, columns: int) -> str:
    """How much time a column is."""
    share = end_s / max(1, columns)
    return f"{share:.2g} s" if share >= 0.1 else f"{share * 1000:.2g} ms"


def _joined(row: Line, cells: list[Span], left: int, *, ground: Ground = "") -> Line:
    bar = Span("│", "dim")
    return Line((*row.fitted(left - 1, ground=ground).spans, Span(" "), bar, *cells))


def _row(row: Row, matrix: Matrix, left: int, digits: int) -> Iterator[Line]:
    """The line of a node, and what stands below it."""
    number = "" if row.number is None else str(row.number)
    indent = digits + 5 + min(row.depth, left // 3)
    style: Style = "strong" if row.is_decision else "dim"
    start = (
        Span("▸ " if row.is_decision else "  ", "strong"),
        Span(f"{number:>{digits}} ", style),
        symbol(row.mark),
        Span(" " * (indent - digits - 4)),
    )
    room = left - 1 - indent
    behind, below = _placed(row, room)
    ground = _BANDS.get("error" if row.errors else row.mark, "") if row.is_decision or row.errors else ""
    words_room = room - sum(cell_len(span.text) for span in behind)
    words = Line(row.words)
    if words.width > words_room:
        words = words.fitted(words_room)
    yield _joined(Line((*start, *words.spans, *behind)), matrix.cells(row.node), left, ground=ground)
    for spans in below:
        line_below = Line((Span(" " * (indent + 2)), *spans))
        yield _joined(line_below, matrix.cells(None), left, ground=ground if row.errors else "")


def _placed(row: Row, room: int) -> tuple[list[Span], list[list[Span]]]:
    """What stands behind the text of a row, and the lines below it."""
    below = [[Span("◆ ", "err"), Span(error, "err")] for error in row.errors]
    words, verdict = row.note
    if not words and verdict is None:
        return [], below
    end = [Span(f" {verdict.text}" if words else verdict.text, verdict.style)] if verdict else []
    end_width = sum(cell_len(span.text) for span in end)
    text_width = Line(row.words).width
    fits = text_width + 2 + cell_len(words) + end_width <= room
    if row.matters and not fits:
        return [], [[Span(shortened(words, room - 2 - end_width), "dim"), *end], *below]
    least = min(text_width, max(room // 2, room - 2 - cell_len(words) - end_width))
    return [Span("  "), Span(shortened(words, room - least - 2 - end_width), "dim"), *end], below


def _legend(width: int) -> Line:
    marks = line(
        Span("✓", "ok"),
        Span(" success  ", "dim"),
        Span("✗", "fail"),
        Span(" failure (“no”)  ", "dim"),
        Span("━", "run"),
        Span(" running  · not asked  ", "dim"),
        Span("◆", "err"),
        Span(" error", "dim"),
    )
    flags = "--tick N  --why  --answer  --time"
    gap = width - marks.width - len(flags)
    return Line((*marks.spans, Span(" " * gap + flags if gap >= 2 else "", "dim")))
