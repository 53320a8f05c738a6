"""`oracle shadow report`: whether two controls agree, from recorded pairs of runs."""

import asyncio
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

import click
from pydantic import TypeAdapter

from bt_runtime.text import iso
from oracle.cli.archive import Since, with_archive
from oracle.cli.groups import SuggestingGroup
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions
from oracle.cli.setup import settings_for
from oracle.core.logs.configuring import configure_logging
from oracle.features.shadow.report import MOST_PAIRS, ShadowReport, report_of
from oracle.features.shadow.view import report_lines
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.shadow_pairs import PairFilter, newest_pairs


@click.group("shadow", cls=SuggestingGroup, no_args_is_help=True)
def shadow() -> None:
    """Compare the control that answers users with the one that runs beside it."""


@shadow.command("report")
@click.option("--since", type=Since(), metavar="TIME", help="Pairs made since then: 2h, 7d, or 2026-11-01 (UTC).")
@click.option("--tree", metavar="NAME", help="Pairs in which one of the controls is this tree, or that asked for it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@RUN_SOURCE
def report(*, since: float | None, tree: str | None, as_json: bool, place: SourceOptions) -> int:
    """Say whether two controls agree, and what each one needs, from the pairs that ORACLE_CONTROL=shadow has recorded.

    For each two controls: how many pairs agree, the difference in tool calls, turns, tokens and time of the model with
    95 % confidence intervals, how the runs ended, and the pairs that are farthest apart. `oracle runs diff` says where
    the two runs of a pair part.

    \b
    Exit codes:
      0  the report was printed; there may be no pairs
      1  the pairs cannot be read
    """  # noqa: D301  click's mark for lines that are not rewrapped
    wanted = PairFilter(since=since, tree=tree)
    found = _recorded(wanted, place.data_dir) if place.url is None else asyncio.run(_served(wanted, place.url))
    if as_json:
        click.echo(json.dumps(asdict(found), ensure_ascii=False, indent=2))
    else:
        for line in report_lines(found):
            click.echo(line)
    return 0


def _recorded(wanted: PairFilter, data_dir: Path | None) -> ShadowReport:
    async def work(archive: Archive) -> ShadowReport:
        return report_of(await archive.database.read(partial(newest_pairs, wanted=wanted, limit=MOST_PAIRS + 1)))

    return with_archive(settings_for(log="critical", data_dir=data_dir), work)


async def _served(wanted: PairFilter, url: str) -> ShadowReport:
    from oracle.cli.run_sources.served import open_service  # noqa: PLC0415  its HTTP client is slow to load

    configure_logging("critical")  # its settings are the service's: those of this machine do not matter
    since = None if wanted.since is None else iso(wanted.since)
    async with open_service(url) as source:
        return await source.read("/api/shadow/report", TypeAdapter(ShadowReport), since=since, tree=wanted.tree)
