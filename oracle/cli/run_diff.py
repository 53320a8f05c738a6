"""`oracle runs diff`: where two recorded runs part, and how far apart they are then."""

import json
from dataclasses import asdict

import click

from oracle.agent.nodes import REGISTRY
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_sources.protocol import RunSource
from oracle.cli.run_view.difference import difference_parts
from oracle.cli.run_view.screen import COLOR, ColorChoice, Screen
from oracle.replay.histories.diffs import diff_histories
from oracle.replay.histories.model import History


@click.command("diff")
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@COLOR
@RUN_SOURCE
def diff(*, old: str, new: str, as_json: bool, color: ColorChoice, place: SourceOptions) -> int:
    """Compare the recorded runs A and B: where they differ, and why.

    A and B are ids, or their first characters. Imported runs can be compared too. The command prints the first input
    that differs, such as a response or a cancel; the first node that behaved differently, with its line and values in
    both runs; how many nodes differ after it; both ends and answers; and the differences between the versions of the
    trees.

    \b
    Exit codes, like those of diff:
      0  the runs did the same for the same reasons
      1  they differ, or one of them cannot be read
    """  # noqa: D301  click's mark for lines that are not rewrapped

    async def work(source: RunSource) -> tuple[History, History]:
        return await source.history(old), await source.history(new)

    before, after = with_source(place, work)
    found = diff_histories(before, after, registry=REGISTRY)
    if as_json:
        data = {"old": before.run.id, "new": after.run.id, "is_same": found.is_same, **asdict(found)}
        click.echo(json.dumps(data, ensure_ascii=False, indent=2, default=str))
    else:
        screen = Screen(color)
        screen.write(difference_parts(before, after, found, width=screen.width))
    return 0 if found.is_same else 1
