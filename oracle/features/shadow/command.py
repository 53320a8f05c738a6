"""`oracle shadow report`: whether two controls agree, from recorded pairs of runs, as lines of text."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Final

import click
from pydantic import TypeAdapter

from bt_runtime.text import iso
from oracle.cli.archive import Since, with_archive
from oracle.cli.groups import SuggestingGroup
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.core.logs import configure_logging
from oracle.features.shadow.pairs import Decision, PairFilter, newest_pairs
from oracle.features.shadow.report import (
    MOST_PAIRS,
    Agreement,
    ControlPair,
    Measure,
    MeasureName,
    PairFacts,
    ShadowReport,
    ShareName,
    report_of,
)
from oracle.runs.storage.archive import Archive

_SHARES: Final[Mapping[ShareName, str]] = {
    "agreement": "same end, similar answer",
    "same_end": "same end",
    "similar_answer": "similar answer",
    "same_decisions": "same decisions",
    "same_tools": "same tools, any arguments",
}
_MEASURES: Final[Mapping[MeasureName, tuple[str, int]]] = {
    "tool_calls": ("tool calls", 2),
    "turns": ("turns", 2),
    "tokens": ("tokens", 0),
    "model_seconds": ("seconds of the model", 2),
}
_QUESTION: Final = 80


def report_lines(report: ShadowReport) -> Iterator[str]:
    """The lines of a report."""
    if not report.pairs:
        yield "No pairs. They are recorded while a service runs with ORACLE_CONTROL=shadow."
        return
    yield from _head(report)
    for group in report.groups:
        yield ""
        yield from _group(group)
    if report.further_groups:
        yield ""
        yield f"And {report.further_groups} earlier combinations of controls; narrow the report with --since or --tree."
    yield ""
    yield f"How: {report.method}."


def _head(report: ShadowReport) -> Iterator[str]:
    finished = sum(group.pairs for group in report.groups)
    counts = {
        "finished": finished if not report.further_groups else None,
        "under way": report.running or None,
        "failed": sum(report.failed.values()) or None,
        "dropped": sum(report.dropped.values()) or None,
    }
    parts = [f"{count:,} {what}" for what, count in counts.items() if count is not None]
    newest = "" if report.is_complete else " (the newest; there are more)"
    yield f"{report.pairs:,} sampled question{'' if report.pairs == 1 else 's'}{newest}: {', '.join(parts)}"
    for what, reasons in (("failed", report.failed), ("dropped", report.dropped)):
        if reasons:
            yield f"  {what}: " + ", ".join(f"{count:,} {_words(why)}" for why, count in reasons.items())


def _group(group: ControlPair) -> Iterator[str]:
    yield f"{group.primary} (users saw it) and {group.shadow} (shadow), {group.first_at} to {group.last_at}"
    failed = group.pairs - group.compared
    left_out = f"; {failed:,} left out because a run ended in an error" if failed else ""
    yield f"  {group.compared:,} pair{'' if group.compared == 1 else 's'} compared{left_out}"
    yield from (_agreement(each, group.compared) for each in group.agreement)
    if group.similarity is not None:
        yield f"    {'similarity of answers, mean':<30}{group.similarity:>8.2f}"
    if group.measures:
        yield f"  {'cost of a run, mean':<24}{'primary':>9}{'shadow':>9}  shadow less primary (95 %)"
        yield from map(_measure, group.measures)
    yield f"  {'ends: primary, shadow':<32}{'pairs':>10}"
    yield from (f"    {f'{_words(e.primary)}, {_words(e.shadow)}':<30}{e.count:>10,}" for e in group.ends)
    if group.ratings:
        told = (f"{each.count:,} {each.rating} (shadow alike: {each.similar:,})" for each in group.ratings)
        yield f"  users rated the primary's answers: {', '.join(told)}"
    if group.would_call:
        yield f"  calls of writing tools that the shadows asked for, none of them run: {group.would_call:,}"
    if group.worst:
        yield "  farthest apart:"
        for pair in group.worst:
            yield f"    {one_line(pair.question, longest=_QUESTION) or '(its texts were deleted)'}"
            ends = pair.primary.reason if pair.same_end else f"{pair.primary.reason}, {pair.shadow.reason}"
            rated = "" if pair.rating is None else f", rated {pair.rating}"
            yield f"      similarity {pair.similarity:.2f}, {_words(ends)}{rated}; {_parting(pair)}"
            yield f"      oracle runs diff {pair.primary_run_id} {pair.shadow_run_id}"


def _agreement(each: Agreement, total: int) -> str:
    share = each.share
    low, high = share.low or 0.0, share.high or 0.0
    words = f"{each.count:,} of {total:,}"
    return f"    {_SHARES[each.name]:<30}{share.estimate:>8.1%}  {words} ({low:.1%} to {high:.1%})"


def _measure(each: Measure) -> str:
    name, places = _MEASURES[each.name]
    found = each.difference
    bounds = ""
    if found.low is not None and found.high is not None:
        bounds = f" ({found.low:+,.{places}f} to {found.high:+,.{places}f})"
    relative = "" if each.relative is None else f", {each.relative:+.0%}"
    figures = f"{each.primary:>9,.{places}f}{each.shadow:>9,.{places}f}"
    return f"    {name:<22}{figures}  {found.estimate:+,.{places}f}{bounds}{relative}"


def _parting(pair: PairFacts) -> str:
    if pair.parting is None:
        return "the same decisions"
    if pair.parting.same_tools and pair.parting.primary is not None:
        return f"they differ from turn {pair.parting.primary.turn}: the same tools, with other arguments"
    first = pair.parting.primary or pair.parting.shadow
    turn = first.turn if first is not None else 0
    return f"they differ from turn {turn}: {_decision(pair.parting.primary)}, shadow {_decision(pair.parting.shadow)}"


def _decision(decision: Decision | None) -> str:
    match decision:
        case None:
            return "had ended"
        case Decision(kind="calls"):
            return f"calls {one_line(', '.join(decision.tools))}"
        case Decision(kind="text"):
            return "goes on without a call"
    return f"ends ({_words(decision.reason)})"


def _words(name: str) -> str:
    return name.replace("_", " ") or "unknown"


@click.group("shadow", cls=SuggestingGroup, no_args_is_help=True)
def shadow() -> None:
    """Compare the control that answers users with the one that runs as its shadow."""


@shadow.command("report")
@click.option("--since", type=Since(), metavar="TIME", help="Only pairs made since then: 2h, 7d, or 2026-11-01 (UTC).")
@click.option("--tree", metavar="NAME", help="Only pairs with this tree as a control, or whose question named it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@RUN_SOURCE
def report(*, since: float | None, tree: str | None, as_json: bool, place: SourceOptions) -> int:
    """Report whether two controls agree and what each costs.

    The pairs of runs are those that ORACLE_CONTROL=shadow has recorded. For each two controls: how many pairs agree;
    the difference in tool calls, turns, tokens and model time, with 95 % confidence intervals; how the runs ended; and
    the pairs that are farthest apart. `oracle runs diff` shows where the two runs of a pair differ.

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
