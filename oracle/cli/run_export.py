"""`oracle runs export` and `import`: a recorded run as a file, and that of another installation."""

import sys
from pathlib import Path

import click

from oracle.agent.nodes import REGISTRY
from oracle.cli.archive import DATA_DIR
from oracle.cli.errors import CommandError
from oracle.cli.output_file import OUTPUT, write_new_file
from oracle.cli.progress import ProgressLine
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.cli.run_sources.local import imported_runs
from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.replay.exports.formats import EXPORT_FORMATS, ExportFormat, render_run
from oracle.replay.exports.imported import read_export
from oracle.replay.exports.redaction import without_texts
from oracle.replay.histories.foreign import DamagedHistoryError


@click.command("export")
@click.argument("run")
@click.option(
    "--format",
    "format_",
    type=click.Choice(EXPORT_FORMATS),
    default="json",
    show_default=True,
    help="json: the whole run, for `oracle runs import`; html: a page that shows it; the other formats: its tree.",
)
@click.option(
    "--tick", metavar="N", type=click.IntRange(1), help="The tick that a picture shows [the one that decided the end]."
)
@click.option("--without-texts", "no_texts", is_flag=True, help="Leave out what people, the model and tools wrote.")
@OUTPUT
@RUN_SOURCE
def export(
    *,
    run: str,
    format_: ExportFormat,
    tick: int | None,
    no_texts: bool,
    output: Path | None,
    place: SourceOptions,
) -> int:
    """Write the recorded RUN to a file that can be kept, sent or shown.

    RUN is the run's id, or its first characters. An HTML page needs no network and no other file. Unless you give
    --without-texts, the file contains the texts of the run: read it before you share it.

    \b
    Exit codes:
      0  the file was written
      1  there is no such run or tick, or it cannot be drawn or written
    """  # noqa: D301  click's mark for lines that are not rewrapped
    progress = ProgressLine()
    try:
        progress.show("explaining the run, tick by tick")
        history = with_source(place, lambda source: source.history(run))
        progress.show(f"writing it as {format_}")
        shown = without_texts(history) if no_texts else history
        data = render_run(shown, format_, tick=tick, registry=REGISTRY)
    finally:
        progress.clear()
    if output is not None:
        write_new_file(output, data)
        return 0
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    return 0


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@DATA_DIR
def import_(*, file: Path, data_dir: Path | None) -> int:
    """Import FILE, which `oracle runs export` has written.

    FILE is checked, and kept in the folder `imports` of the data folder. `oracle runs show`, `export` and `diff` then
    find the run by its id. It is not listed or counted with the runs of the database. It has no log, so it cannot be
    replayed.

    \b
    Exit codes:
      0  the run was imported, or had been before
      1  the file is damaged or not an export, or a different export of the same run exists
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for(log="critical", data_dir=data_dir)
    try:
        kept = imported_runs(settings).keep(read_export(file))
    except DamagedHistoryError as error:
        raise CommandError(f"{str(file)!r} cannot be imported: {error}") from None
    run = kept.history.run
    what = "imported" if kept.what == "new" else "was already imported"
    click.echo(f"{run.id}: {what}; see `oracle runs show {run.id[:8]}`")
    if run.question:
        click.echo(f"  {one_line(run.question, longest=100)}")
    return 0
