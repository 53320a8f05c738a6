"""The marks of all ticks beside the tree: a column for each tick, or for each part of the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oracle.cli.run_view.marks import SYMBOLS, Marks, marks_of
from oracle.cli.run_view.spans import Span
from oracle.histories.model import TickFacts, TreeFacts


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the matrix.

    Args:
        tick: the position of the last tick in it; `None`: no tick falls into this time.
        until: the position of the last tick before its end.
    """

    tick: int | None
    until: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Columns of marks.

    Args:
        columns: from left to right.
        marks: by position of a tick.
        head: the column of the tick that is looked at.
        turns: the number of the turn that begins in a column.
        before: ticks that are left of the first column.
        after: ticks that are right of the last one.
    """

    columns: Sequence[Column]
    marks: Mapping[int, Marks]
    head: int
    turns: Mapping[int, int]
    before: int = 0
    after: int = 0

    @property
    def width(self) -> int:
        """In cells."""
        return len(self.columns)

    def cells(self, node: int | None) -> list[Span]:
        """The row of a node; `None`: an empty one."""
        cells = []
        for position, column in enumerate(self.columns):
            mark, style = " ", Span(" ").style
            if node is not None and column.tick is not None:
                found = self.marks[column.tick].get(node)
                mark, style = SYMBOLS[found] if found else (mark, style)
            elif node is not None and column.until >= 0 and self._runs(node, column.until):
                mark, style = SYMBOLS["running"]
            cells.append(Span(mark, style, "head" if position == self.head else ""))
        return cells

    def numbers(self) -> list[Span]:
        """The numbers of the turns above their first columns, and how many ticks are not shown."""
        cells = [" "] * self.width
        for column, turn in sorted(self.turns.items()):
            label = str(turn)
            is_free = all(cell == " " for cell in cells[max(0, column - 1) : column + len(label)])
            if is_free and column + len(label) <= self.width:
                cells[column : column + len(label)] = label
        return [Span("".join(cells), "dim")]

    def pointer(self) -> list[Span]:
        """The mark above the column of the tick, and whether ticks are cut off at the sides."""
        cells = [" "] * self.width
        if self.width and self.before:
            cells[0] = "◂"
        if self.width and self.after:
            cells[-1] = "▸"
        text = "".join(cells)
        return [Span(text[: self.head], "dim"), Span("▼", "strong"), Span(text[self.head + 1 :], "dim")]

    def _runs(self, node: int, position: int) -> bool:
        return self.marks[position].get(node) == "running"


def equal(tree: TreeFacts, ticks: Sequence[TickFacts], at: int, *, width: int) -> Matrix:
    """A column for each tick; of more ticks than columns those around the tick `at`."""
    shown = min(len(ticks), width)
    first = max(0, min(at - shown // 2, len(ticks) - shown))
    positions = range(first, first + shown)
    turns: dict[int, int] = {}
    for column, position in enumerate(positions):
        turn = ticks[position].turn
        if turn and (column == 0 or turn != ticks[position - 1].turn):
            turns[column] = turn
    return Matrix(
        [Column(position, position) for position in positions],
        marks_of(tree, ticks, positions),
        at - first,
        turns,
        first,
        len(ticks) - first - shown,
    )


def in_time(tree: TreeFacts, ticks: Sequence[TickFacts], at: int, *, width: int, end_s: float) -> Matrix:
    """Columns of equal time, the whole run; a column shows the last tick that falls into it."""
    last: dict[int, int] = {}
    turns: dict[int, int] = {}
    for position, tick in enumerate(ticks):
        column = min(width - 1, max(0, int(tick.at_s / end_s * width))) if end_s > 0 else 0
        last[column] = position
        if tick.turn and (position == 0 or tick.turn != ticks[position - 1].turn):
            turns.setdefault(column, tick.turn)
    head = next(column for column, position in sorted(last.items()) if position >= at)
    last[head] = at  # the tick that is looked at is seen
    columns, until = [], -1
    for column in range(width):
        until = last.get(column, until)
        columns.append(Column(last.get(column), until))
    wanted = {column.until for column in columns if column.until >= 0}
    return Matrix(columns, marks_of(tree, ticks, wanted), head, turns)
