"""A list of runs: a line for each, with how it ended, what it used, and its shape."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from oracle.cli.run_sources.protocol import ListedRun
from oracle.cli.run_view.spans import Line, Span, Style, safe, shortened
from oracle.cli.run_view.words import age, outcome, seconds, thousands
from oracle.storage import RunSummary

_SHORTEST_ID = 8
_FILLS_S = 60.0
"""A run of this duration fills the column of its shape; the width grows with the root of the time."""
_NARROWEST = 4


@dataclass(frozen=True, slots=True)
class _Widths:
    """Of the columns, in cells."""

    id: int
    question: int
    shape: int
    gap: int
    age: int = 6
    outcome: int = 14
    turns: int = 5
    tokens: int = 6
    time: int = 8


def run_list(rows: Sequence[ListedRun], *, width: int, now: float, has_head: bool) -> Iterator[Line]:
    """The lines of a list.

    Args:
        rows: of the list.
        width: of the terminal, in cells.
        now: seconds since the epoch.
        has_head: whether the first line names the columns.
    """
    widths = _widths(rows, width)
    if has_head:
        yield _head(widths)
    for row in rows:
        yield _row(row, widths, now)


def _widths(rows: Sequence[ListedRun], width: int) -> _Widths:
    gap = 1 if width < 100 else 2
    shape = max(8, min(36, (width - 60) // 3))
    fixed = _Widths(_unique(rows), 0, shape, gap)
    taken = fixed.id + fixed.age + fixed.outcome + fixed.turns + fixed.tokens + fixed.time + shape + 7 * gap
    return _Widths(fixed.id, max(12, width - taken), shape, gap)


def _unique(rows: Sequence[ListedRun]) -> int:
    """The number of characters by which the ids differ."""
    ids = [row.run.id for row in rows]
    longest = max(map(len, ids), default=_SHORTEST_ID)
    for size in range(_SHORTEST_ID, longest):
        if len({each[:size] for each in ids}) == len(ids):
            return size
    return longest


def _head(widths: _Widths) -> Line:
    cells = (
        f"{'run':<{widths.id}}",
        f"{'age':>{widths.age}}",
        f"{'question':<{widths.question}}",
        f"{'end':<{widths.outcome}}",
        f"{'turns':>{widths.turns}}",
        f"{'tokens':>{widths.tokens}}",
        f"{'time':>{widths.time}}",
        "shape",
    )
    return Line((Span((" " * widths.gap).join(cells), "dim"),))


def _row(row: ListedRun, widths: _Widths, now: float) -> Line:
    run, gap = row.run, Span(" " * widths.gap)
    ended = outcome(run)
    errors = row.summary.node_errors if row.summary else 0
    mark = Span(" ◆", "err") if errors else Span("")
    ended = ended._replace(text=shortened(ended.text, widths.outcome - len(mark.text)))
    lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
    is_known = run.status == "finished" or run.turns > 0  # a database has them in the row when the run has ended
    question = safe(run.question) if run.kept != "gone" else "(its texts were deleted)"
    return Line(
        (
            Span(f"{safe(run.id)[: widths.id]:<{widths.id}}", "dim"),
            gap,
            Span(f"{age(now - run.created_at):>{widths.age}}", "dim"),
            gap,
            Span(_padded(shortened(question, widths.question), widths.question), "plain" if run.question else "dim"),
            gap,
            ended,
            mark,
            Span(" " * (widths.outcome - cell_len(ended.text) - len(mark.text))),
            gap,
            Span(f"{run.turns if is_known else '':>{widths.turns}}"),
            gap,
            Span(f"{thousands(run.tokens_used) if is_known else '':>{widths.tokens}}"),
            gap,
            Span(f"{seconds(lasted_s):>{widths.time}}"[: widths.time]),
            gap,
            *shape(row.summary, lasted_s, widths.shape),
        )
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))


def shape(summary: RunSummary | None, lasted_s: float, width: int) -> list[Span]:
    """The turns, tool calls and notifications of a run in true time; its width says how long it took."""
    if summary is None or not summary.shape:
        return []
    end_ms = max(1.0, lasted_s * 1000, *(span.end_ms for span in summary.shape))
    cells = max(_NARROWEST, min(width, round((end_ms / 1000 / _FILLS_S) ** 0.5 * width)))
    drawn: list[tuple[str, Style]] = [(" ", "plain")] * cells
    for span in sorted(summary.shape, key=lambda each: ("turn", "tool", "notice").index(each.kind)):
        start = min(cells - 1, int(span.start_ms / end_ms * cells))
        end = max(start + 1, min(cells, round(span.end_ms / end_ms * cells)))
        match span.kind:
            case "turn":
                drawn[start:end] = [("▄", "run")] * (end - start)
            case "tool":
                drawn[start:end] = [("▪", "plain")] * (end - start)
            case "notice":
                drawn[start] = ("▲", "warn")
    return [Span(*cell) for cell in drawn]
