"""A list of runs: a line for each, with how it ended, what it used, and its shape."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from oracle.cli.run_sources.protocol import ListedRun
from oracle.cli.run_view.overview import Lane
from oracle.cli.run_view.words import age, line, outcome, safe, seconds, thousands
from oracle.runs.storage.records import RunSummary

_SHORTEST_ID = 8
_FILLS_S = 60.0
"""A run of this duration fills the column of its shape; the width grows with the root of the time."""
_NARROWEST = 4


def run_table(rows: Sequence[ListedRun], *, width: int, now: float, has_head: bool) -> Table:
    """The table of a list.

    Args:
        rows: the runs, in the order in which they are listed.
        width: how many cells a line has.
        now: seconds since the epoch.
        has_head: whether the first line names the columns.
    """
    gap, shape_width = 1 if width < 100 else 2, max(8, min(36, (width - 60) // 3))
    table = Table(
        box=None, show_header=has_head, header_style="dim", pad_edge=False, padding=(0, gap, 0, 0), expand=True
    )
    table.add_column("run", style="dim", no_wrap=True)
    table.add_column("age", justify="right", no_wrap=True)
    table.add_column("question", ratio=1)
    table.add_column("end", no_wrap=True)
    for name in ("turns", "tokens", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("shape", width=shape_width)
    id_width = _unique(rows)
    for row in rows:
        run = row.run
        lasted_s = max(0.0, (run.finished_at or now) - run.created_at)
        is_known = run.status == "finished" or run.turns > 0  # a database has them in the row when the run has ended
        question = safe(run.question) if run.kept != "gone" else "(its texts were deleted)"
        has_raised = row.summary is not None and row.summary.node_errors > 0
        table.add_row(
            safe(run.id)[:id_width],
            age(now - run.created_at),
            line((question, "" if run.question else "dim")),
            Text.assemble(outcome(run), (" ◆", "err") if has_raised else ""),
            str(run.turns) if is_known else "",
            thousands(run.tokens_used) if is_known else "",
            seconds(lasted_s),
            _shape(row.summary, lasted_s, shape_width),
        )
    return table


def _unique(rows: Sequence[ListedRun]) -> int:
    """The number of characters by which the ids differ."""
    ids = [row.run.id for row in rows]
    longest = max(map(len, ids), default=_SHORTEST_ID)
    sizes = range(_SHORTEST_ID, longest)
    return next((size for size in sizes if len({each[:size] for each in ids}) == len(ids)), longest)


def _shape(summary: RunSummary | None, lasted_s: float, width: int) -> Text:
    """The turns, tool calls and notifications of a run in true time; its width says how long it took."""
    if summary is None or not summary.shape:
        return Text()
    end_ms = max(1.0, lasted_s * 1000, *(span.end_ms for span in summary.shape))
    size = max(_NARROWEST, min(width, round((end_ms / 1000 / _FILLS_S) ** 0.5 * width)))
    drawn = Lane(size, end_ms)
    for span in sorted(summary.shape, key=lambda each: ("turn", "tool", "notice").index(each.kind)):
        start = drawn.column(span.start_ms)
        end = max(start + 1, min(size, round(span.end_ms / end_ms * size)))
        match span.kind:
            case "turn":
                drawn.draw(start, "▄" * (end - start), "run")
            case "tool":
                drawn.draw(start, "▪" * (end - start), "")
            case "notice":
                drawn.draw(start, "▲", "warn")
    return drawn.text()
