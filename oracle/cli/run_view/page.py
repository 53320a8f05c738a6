"""One run at one tick, as lines: head, overview, the source of the tree with marks and values, all ticks beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

from oracle.cli.run_view.answer import answer
from oracle.cli.run_view.board import changed, values_after, values_before, whole
from oracle.cli.run_view.headline import headline, operated
from oracle.cli.run_view.marks import marks_of
from oracle.cli.run_view.matrix import equal, in_time
from oracle.cli.run_view.overview import head, overview, so_far
from oracle.cli.run_view.spans import Line, Span, line, safe, wrapped
from oracle.cli.run_view.tree_block import tree_block
from oracle.cli.run_view.tree_rows import rows_of
from oracle.cli.run_view.why import way
from oracle.cli.run_view.words import seconds
from oracle.histories import History
from oracle.replays import DELETED

_NARROW = 120
_WIDEST_LEFT = 116  # columns of the source, however wide the terminal is
_MOST_NOTES = 3  # lines about what is missing
_LEFT = 96  # columns of the source, where the terminal is wide


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


def run_page(history: History, position: int | None, *, width: int, sections: Sections, now: float) -> list[Line]:
    """The view of a run.

    Args:
        history: of the run.
        position: of the tick among its ticks; `None` if it has none.
        width: of the terminal, in cells.
        sections: what is shown.
        now: seconds since the epoch, for a run that is under way.
    """
    most = max(width // 4, width - _LEFT) - 1  # columns of the matrix
    columns = most if sections.in_time else min(most, len(history.ticks))
    width = min(width, max(_NARROW, _WIDEST_LEFT + columns))
    run = so_far(history)
    lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
    end_s = max(lasted_s, history.ticks[-1].at_s if history.ticks else 0.0)
    lines = head(run, width, lasted_s=lasted_s)
    if run.kept != "whole" and DELETED[run.kept] not in history.problem:
        what = "texts" if run.kept == "figures" else "texts and ticks"
        lines.append(line(Span(f"Its {what} were deleted; what is left is shown.", "warn")).fitted(width))
    if history.problem:
        lines += [line(Span(part, "warn")) for part in wrapped(f"Note: {safe(history.problem)}.", width)][:_MOST_NOTES]
    tick = None if position is None else history.ticks[position]
    lines += [Line(), *overview(history, tick, width, end_s=end_s), Line()]
    if tick is None or position is None:
        return [*lines, *_without_ticks(history)]
    lines += [*headline(history, tick, width), *operated(history, tick, width), Line()]
    before = values_before(history, position)
    after = values_after(before, tick)
    marks = marks_of(history.tree, history.ticks, [position])[position] if history.tree else {}
    if sections.why:
        lines += [*way(history, tick, marks, width), Line()]
    if sections.answer:
        lines += [*answer(history, tick, width), Line()]
    if sections.board:
        lines += [*whole(before, after, width), Line()]
    if sections.has_tree and history.tree:
        if sections.in_time:
            matrix = in_time(history.tree, history.ticks, position, width=columns, end_s=end_s)
            aside = f"{seconds(end_s / max(1, columns), places=2)} a column"
        else:
            matrix = equal(history.tree, history.ticks, position, width=columns)
            aside = f"{matrix.before:,} ticks before, {matrix.after:,} after" if matrix.before or matrix.after else ""
        rows = rows_of(history, tick, marks, before=before)
        lines += [*tree_block(rows, matrix, width, title=f"at tick {tick.tick}", aside=aside), Line()]
    if not sections.board:
        lines += changed(before, after, width)
    return [*lines, _legend(width, has_halted="halted" in marks.values())]


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


def _legend(width: int, *, has_halted: bool) -> Line:
    halted = (Span("╸", "run"), Span(" interrupted  ", "dim")) if has_halted else ()
    marks = line(
        Span("✓", "ok"),
        Span(" success  ", "dim"),
        Span("✗", "fail"),
        Span(" failure (“no”)  ", "dim"),
        Span("━", "run"),
        Span(" running  ", "dim"),
        *halted,
        Span("· not asked  ", "dim"),
        Span("◆", "err"),
        Span(" error", "dim"),
    )
    flags = "--tick N  --why  --answer  --time"
    gap = width - marks.width - len(flags)
    return Line((*marks.spans, Span(" " * gap + flags if gap >= 2 else "", "dim")))
