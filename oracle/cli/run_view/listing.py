"""A list of runs: a line for each, with how it ended, what it used, and its shape."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from oracle.cli.run_sources.protocol import ListedRun
from oracle.cli.run_view.words import age, cells, cut, fitted, outcome, safe, seconds, thousands
from oracle.runs.storage.records import RunSummary

_SHORTEST_ID = 8
_FILLS_S = 60.0
"""A run of this duration fills the column of its shape; the width grows with the root of the time."""
_NARROWEST = 4
_AGE, _OUTCOME, _TURNS, _TOKENS, _TIME = 6, 14, 5, 6, 8
"""Of columns, in cells."""


def run_list(rows: Sequence[ListedRun], *, width: int, now: float, has_head: bool) -> Iterator[Text]:
    """The lines of a list.

    Args:
        rows: the runs, in the order in which they are listed.
        width: how many cells a line may have.
        now: seconds since the epoch.
        has_head: whether the first line names the columns.
    """
    gap = Text(" " if width < 100 else "  ")
    id_width, shape_width = _unique(rows), max(8, min(36, (width - 60) // 3))
    taken = id_width + _AGE + _OUTCOME + _TURNS + _TOKENS + _TIME + shape_width + 7 * len(gap)
    asked_width = max(12, width - taken)
    if has_head:
        names = (
            f"{'run':<{id_width}}",
            f"{'age':>{_AGE}}",
            f"{'question':<{asked_width}}",
            f"{'end':<{_OUTCOME}}",
            f"{'turns':>{_TURNS}}",
            f"{'tokens':>{_TOKENS}}",
            f"{'time':>{_TIME}}",
            "shape",
        )
        yield Text(gap.plain.join(names), "dim")
    for row in rows:
        run = row.run
        lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
        is_known = run.status == "finished" or run.turns > 0  # a database has them in the row when the run has ended
        question = safe(run.question) if run.kept != "gone" else "(its texts were deleted)"
        columns = (
            Text(f"{safe(run.id)[:id_width]:<{id_width}}", "dim"),
            Text(f"{age(now - run.created_at):>{_AGE}}", "dim"),
            fitted(Text(question, "" if run.question else "dim"), asked_width),
            _ended(row),
            Text(f"{run.turns if is_known else '':>{_TURNS}}"),
            Text(f"{thousands(run.tokens_used) if is_known else '':>{_TOKENS}}"),
            Text(f"{seconds(lasted_s):>{_TIME}}"[:_TIME]),
            _shape(row.summary, lasted_s, shape_width),
        )
        yield gap.join(columns)


def _unique(rows: Sequence[ListedRun]) -> int:
    """The number of characters by which the ids differ."""
    ids = [row.run.id for row in rows]
    longest = max(map(len, ids), default=_SHORTEST_ID)
    sizes = range(_SHORTEST_ID, longest)
    return next((size for size in sizes if len({each[:size] for each in ids}) == len(ids)), longest)


def _ended(row: ListedRun) -> Text:
    """How the run ended, and whether a node has raised an exception."""
    mark = Text(" ◆" if row.summary and row.summary.node_errors else "", "err")
    ended = outcome(row.run)
    return fitted(Text.assemble(cut(ended, _OUTCOME - len(mark)), mark), _OUTCOME)


def _shape(summary: RunSummary | None, lasted_s: float, width: int) -> Text:
    """The turns, tool calls and notifications of a run in true time; its width says how long it took."""
    if summary is None or not summary.shape:
        return Text()
    end_ms = max(1.0, lasted_s * 1000, *(span.end_ms for span in summary.shape))
    size = max(_NARROWEST, min(width, round((end_ms / 1000 / _FILLS_S) ** 0.5 * width)))
    drawn = [(" ", "")] * size
    for span in sorted(summary.shape, key=lambda each: ("turn", "tool", "notice").index(each.kind)):
        start = min(size - 1, int(span.start_ms / end_ms * size))
        end = max(start + 1, min(size, round(span.end_ms / end_ms * size)))
        match span.kind:
            case "turn":
                drawn[start:end] = [("▄", "run")] * (end - start)
            case "tool":
                drawn[start:end] = [("▪", "")] * (end - start)
            case "notice":
                drawn[start] = ("▲", "warn")
    return cells(drawn)
