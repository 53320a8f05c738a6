"""`oracle runs import`: an exported run of another installation, to look at."""

from pathlib import Path

import click

from oracle.cli.archive import DATA_DIR
from oracle.cli.errors import CommandError
from oracle.cli.run_sources.local import imported_runs
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.replay.exports.imported import read_export
from oracle.replay.histories.foreign import DamagedHistoryError


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@DATA_DIR
def import_(*, file: Path, data_dir: Path | None) -> int:
    """Check FILE, which `oracle runs export` has written, and keep it in the folder `imports` of the data folder.

    The other commands of `oracle runs` then find the run by its id. It is never listed or counted with the runs of the
    database. It has no log, so it cannot be replayed.

    \b
    Exit codes:
      0  the run was imported, or had been before
      1  the file is damaged or no export, or another export of the same run is there
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="critical", data_dir=data_dir)
    try:
        kept = imported_runs(settings).keep(read_export(file))
    except DamagedHistoryError as error:
        raise CommandError(f"{str(file)!r} cannot be imported: {error}") from None
    run = kept.history.run
    what = "imported" if kept.what == "new" else "had been imported already"
    click.echo(f"{run.id}: {what}; see `oracle runs show {run.id[:8]}`")
    if run.question:
        click.echo(f"  {one_line(run.question, longest=100)}")
    return 0
