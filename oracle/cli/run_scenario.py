"""`oracle runs scenario`: a recorded run as a scenario file."""

from pathlib import Path

import click

from bt_runtime import TreeFileError, TreeLibrary
from oracle.authoring.scenarios import Player, PlayError, Scenario, judge, to_yaml
from oracle.authoring.scenarios.recorded import scenario_of
from oracle.cli.archive import DATA_DIR, with_archive
from oracle.cli.output_file import OUTPUT, write_new_file
from oracle.cli.setup import settings_for
from oracle.core.errors import UserError
from oracle.replay.recorded import read_run
from oracle.runs.storage.archive import Archive
from oracle.server.wiring.agent import tree_library


@click.command("scenario")
@click.argument("run")
@OUTPUT
@DATA_DIR
def scenario(*, run: str, output: Path | None, data_dir: Path | None) -> int:
    """Turn the recorded RUN into a scenario file for `oracle trees test`.

    RUN is the run's id, or the first characters of it. The file has what the model and the tools answered, when the
    user cancelled, and what came of it. It contains the texts of the run: read it before it is shared. A note says so
    if the tree of today takes another way.

    \b
    Exit codes:
      0  the scenario was written
      1  there is no such run, or it cannot be played again
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="critical", data_dir=data_dir)
    library = tree_library(settings)

    async def work(archive: Archive) -> str:
        recorded = await read_run(archive, await archive.find(run))
        found = scenario_of(recorded, registry=library.registry)
        await _try(found, library)
        return to_yaml([found], about=f"Recorded as the run {recorded.record.id}.")

    text = with_archive(settings, work)
    if output is None:
        click.echo(text.rstrip("\n"))
    else:
        write_new_file(output, text.encode())
    return 0


async def _try(found: Scenario, library: TreeLibrary) -> None:
    """Play the scenario, and note where it fails: its tree may have been changed since the run."""
    try:
        verdict = judge(found, await Player(library).play_async(found))
    except (PlayError, UserError, TreeFileError) as error:
        click.echo(f"Note: with the trees of today it cannot be played: {error}", err=True)
        return
    what = sorted({str(each.path[0]) if each.path else "the turns" for each in verdict.differences})
    if what:
        click.echo(f"Note: with the trees of today it fails ({', '.join(what)}); see `oracle trees test`", err=True)
