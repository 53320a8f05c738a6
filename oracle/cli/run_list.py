"""`oracle runs list`: recorded runs, newest first."""

import time
from typing import Any, get_args

import click

from oracle.cli.archive import Since
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_view.listing import run_table
from oracle.cli.run_view.screen import COLOR, ColorChoice, Screen
from oracle.core.chunks import TerminationReason
from oracle.core.encoding import to_json
from oracle.runs.storage.records import Rating
from oracle.runs.storage.run_pages import NOT_CONTINUED, UNDER_WAY, RunFilter

_REASONS = (*UNDER_WAY, *get_args(TerminationReason), NOT_CONTINUED)


@click.command("list")
@click.option(
    "--reason", type=click.Choice(_REASONS), help="Only runs with this state or end; parked runs wait for a person."
)
@click.option("--tree", metavar="NAME", help="Only runs of this tree.")
@click.option("--version", metavar="DIGITS", help="Only runs whose tree version begins with this.")
@click.option("--user", "user_id", metavar="NAME", help="Only runs of this user.")
@click.option("--since", type=Since(), metavar="TIME", help="Only runs begun since then: 2h, 7d, or 2026-11-01 (UTC).")
@click.option(
    "--slow", "slow_s", type=click.FloatRange(0), metavar="SECONDS", help="Only runs that took at least this long."
)
@click.option("--errors", "with_errors", is_flag=True, help="Only runs in which a node raised an exception.")
@click.option(
    "--text",
    default="",
    metavar="WORDS",
    help="Only runs whose question contains all these words, or whose id begins with this.",
)
@click.option(
    "--feedback", "rating", type=click.Choice(get_args(Rating)), help="Only runs with this rating by their users."
)
@click.option("--shadows", is_flag=True, help="List shadow runs instead of users' runs.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="List the newest N runs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@COLOR
@RUN_SOURCE
def list_(
    *,
    limit: int,
    as_json: bool,
    color: ColorChoice,
    place: SourceOptions,
    **wanted: Any,  # noqa: ANN401  fields of the filter, checked by click
) -> int:
    """List recorded runs, newest first, including those in progress.

    Each line has the run's id (its first characters are enough for any command), its age, the question, how the run
    ended, its turns, tokens and time, and its shape: turns, tool calls and notices in the order of time. The width of
    the shape grows with the square root of the time; one minute fills the column.

    \b
    Exit codes:
      0  the runs were listed; there may be none
      1  the runs cannot be read
    """  # noqa: D301  click's mark for lines that are not rewrapped
    reason = wanted.pop("reason")
    filters = RunFilter(reasons=() if reason is None else (reason,), **wanted)
    rows = with_source(place, lambda source: source.list(filters, limit=limit))
    if as_json:
        from oracle.replay.histories.codec import plain  # noqa: PLC0415  slow to load

        click.echo(to_json({"runs": [plain(row) for row in rows]}))
        return 0
    if not rows:
        hint = "" if filters != RunFilter() else " Runs of `oracle serve` are recorded, those of `oracle ask` are not."
        click.echo(f"No runs.{hint}", err=True)
        return 0
    screen = Screen(color)
    screen.write([run_table(rows, width=screen.width, now=time.time(), has_head=screen.is_terminal)])
    return 0
