"""`oracle trees check`: what is wrong with tree files, and what their control can hardly mean."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from bt_runtime import TreeFileError, TreeLibrary, format_mistakes
from bt_runtime.analysis.files import check_files
from bt_runtime.text import Mistake, in_order
from oracle.cli.errors import FAILED
from oracle.cli.setup import settings_for
from oracle.cli.tree_folders import shortest
from oracle.server.settings.fields import Settings
from oracle.server.wiring.agent import tree_library


@click.command("check")
@click.argument("paths", nargs=-1, metavar="[FILE or DIR]...", type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Exit with 1 for a warning too.")
def check(*, paths: tuple[Path, ...], strict: bool) -> int:
    """Check tree files, or all tree files of folders.

    Without a path the shipped trees are checked, and those in ORACLE_TREES_DIR. Prints a line for each valid tree, and
    every mistake as `file:line:column: message` with the line, a caret and a hint; a warning is
    `file:line:column: warning CODE: message`.

    \b
    Exit codes:
      0  all are valid
      1  there are mistakes, or with --strict warnings
    """  # noqa: D301  click's mark for lines that are not rewrapped
    settings = settings_for()
    library = tree_library(settings)
    report = check_files(
        library, paths or [shortest(folder) for folder in library.folders if not _is_unused(folder, settings)]
    )
    click.echo(str(report))
    further = "" if paths else _mistakes_in_place(library, report.mistakes)
    if further:
        click.echo(further)
    return FAILED if not report.ok or further or (strict and report.warnings) else 0


def _is_unused(folder: Path, settings: Settings) -> bool:
    """Whether nothing was ever saved in the folder that a service makes for saved trees."""
    return folder != settings.trees_dir and folder == settings.trees_folder and not any(folder.glob("*.y*ml"))


def _mistakes_in_place(library: TreeLibrary, checked: Iterable[Mistake]) -> str:
    """The mistakes that only arise where the operator's files replace shipped ones, formatted; empty if there are none.

    The check of a file looks for subtrees beside it first; a query looks in the operator's folder first.
    """
    known = set(map(_identity, checked))
    found: list[Mistake] = []
    sources: dict[str, str] = {}
    for name in library.names():
        try:
            library.preview(name)
        except TreeFileError as error:
            found += [mistake for mistake in error.mistakes if _identity(mistake) not in known]
            sources |= error.sources
    return format_mistakes(in_order(found), sources)


def _identity(mistake: Mistake) -> tuple[str, int, int, str]:
    """Equal for one mistake whose file is named by different paths."""
    place = mistake.place
    return os.path.realpath(place.file), place.line, place.column, mistake.message
