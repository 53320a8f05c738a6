"""`oracle runs export`: a recorded run as a file."""

import sys
from pathlib import Path

import click

from oracle.agent.nodes import REGISTRY
from oracle.cli.output_file import OUTPUT, write_new_file
from oracle.cli.progress import ProgressLine
from oracle.cli.run_sources import RUN_SOURCE, SourceOptions, with_source
from oracle.replay.exports.formats import EXPORT_FORMATS, ExportFormat, render_run
from oracle.replay.exports.redaction import without_texts


@click.command("export")
@click.argument("run")
@click.option(
    "--format",
    "format_",
    type=click.Choice(EXPORT_FORMATS),
    default="json",
    show_default=True,
    help="json: all of it, for `oracle runs import`; html: a page that shows it; the others: its tree.",
)
@click.option(
    "--tick", metavar="N", type=click.IntRange(1), help="That a picture shows [the one that decided the end]."
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
    """Write the recorded RUN as a file that can be kept, sent or shown.

    RUN is the run's id, or the first characters of it. A page needs no network and no other file. Without
    --without-texts the file has the texts of the run in it: read it before it is shared.

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
