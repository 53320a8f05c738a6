"""The marks of all ticks beside the tree: a column for each tick, or for each part of the time."""

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from oracle.cli.run_view.marks import Mark, Marks, each_marks, marks_of, symbol, weight
from oracle.cli.run_view.spans import Span
from oracle.histories.model import TickFacts, TreeFacts

_MOST_IN_COLUMN = 16  # ticks; a column that has more is mostly of one mark


@dataclass(frozen=True, slots=True)
class Matrix:
    """Columns of marks.

    Args:
        columns: the marks of each column, from left to right; `None`: no tick falls into its time.
        head: the column of the tick that is looked at.
        turns: the number of the turn that begins in a column.
        under_way: the nodes that run on after a column.
        before: ticks that are left of the first column.
        after: ticks that are right of the last one.
    """

    columns: Sequence[Marks | None]
    head: int
    turns: Mapping[int, int]
    under_way: Mapping[int, Collection[int]] = field(default_factory=dict)
    before: int = 0
    after: int = 0

    @property
    def width(self) -> int:
        """In cells."""
        return len(self.columns)

    def cells(self, node: int | None) -> list[Span]:
        """The row of a node; `None`: an empty one."""
        cells: list[Span] = []
        goes_on = False
        for position, marks in enumerate(self.columns):
            mark: Mark | None = "running" if goes_on else None
            if marks is not None and node is not None:
                mark, goes_on = marks.get(node), node in self.under_way.get(position, ())
            cells.append(symbol(mark)._replace(ground="head" if position == self.head else ""))
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
    found = marks_of(tree, ticks, positions)
    shown_marks = [found[position] for position in positions]
    return Matrix(shown_marks, at - first, turns, before=first, after=len(ticks) - first - shown)


def in_time(tree: TreeFacts, ticks: Sequence[TickFacts], at: int, *, width: int, end_s: float) -> Matrix:
    """Columns of equal time, the whole run; a column shows the results of the last ticks that fall into it."""
    turns: dict[int, int] = {}
    latest: dict[int, deque[int]] = defaultdict(lambda: deque(maxlen=_MOST_IN_COLUMN))
    for position, tick in enumerate(ticks):
        place = _column(tick, width, end_s)
        latest[place].append(position)
        if tick.turn and (position == 0 or tick.turn != ticks[position - 1].turn):
            turns.setdefault(place, tick.turn)
    wanted = {position for positions in latest.values() for position in positions} | {at}
    columns: list[dict[int, Mark] | None] = [None] * width
    under_way: dict[int, set[int]] = {}
    for position, marks in each_marks(tree, ticks, wanted):
        place = _column(ticks[position], width, end_s)
        column = columns[place]
        under_way[place] = {node for node, mark in marks.items() if mark == "running"}
        if column is None:
            columns[place] = marks
            continue
        for node, mark in marks.items():
            if position == at or weight(mark) >= weight(column.get(node, "unasked")):
                column[node] = mark
    return Matrix(columns, _column(ticks[at], width, end_s), turns, under_way)


def _column(tick: TickFacts, width: int, end_s: float) -> int:
    return min(width - 1, max(0, int(tick.at_s / end_s * width))) if end_s > 0 else 0
