"""`oracle trees`: check tree files, copy and list them, look at trees, and print their schema."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from bt_runtime import (
    TreeDefinition,
    TreeFileError,
    TreeLibrary,
    TreeNotFoundError,
    format_mistakes,
    render,
)
from bt_runtime.rendering import FORMATS, Format
from oracle.cli.errors import FAILED, CommandError
from oracle.cli.groups import SuggestingGroup
from oracle.cli.tree_folders import init, list_, open_library, schema_text, shortest

_ENDINGS = (".yaml", ".yml")


@click.group("trees", cls=SuggestingGroup, no_args_is_help=True)
def trees() -> None:
    """Check tree files, copy and list them, look at trees, print their schema."""


trees.add_command(init)
trees.add_command(list_)


@trees.command("check")
@click.argument("paths", nargs=-1, metavar="[FILE or DIR]...", type=click.Path(path_type=Path))
def check(*, paths: tuple[Path, ...]) -> int:
    """Check tree files, or all tree files of folders.

    Without a path the shipped trees are checked, and those in ORACLE_TREES_DIR. Prints a line for each tree that is
    right, and every mistake as `file:line:column: message` with the line, a caret and a hint.

    \b
    Exit codes:
      0  all are right
      1  there are mistakes
    """  # noqa: D301  click's mark for lines that stay as they are
    library = open_library()
    report = library.check(paths or [shortest(folder) for folder in library.folders])
    click.echo(str(report))
    missed = [] if paths else _mistakes_in_place(library, already_told=str(report))
    for text in missed:
        click.echo(text)
    return 0 if report.ok and not missed else FAILED


@trees.command("show")
@click.argument("name")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the picture."
)
def show(*, name: str, format_: Format) -> None:
    """Print a picture of the tree NAME, or of a tree file.

    Exits with 1 if there is no such tree, or if it has mistakes.
    """
    click.echo(render(_named(open_library(), name), format_).rstrip("\n"))


@trees.command("schema")
def schema() -> None:
    """Print the JSON Schema of tree files, for editors."""
    click.echo(schema_text().rstrip("\n"))


def _named(library: TreeLibrary, name: str) -> TreeDefinition:
    """The tree of that name or, where it looks like one, of that path.

    Raises:
        CommandError: there is none, or it has mistakes.
    """
    try:
        if os.sep not in name and not name.endswith(_ENDINGS):
            return library.preview(name)
    except TreeNotFoundError as error:
        raise CommandError(str(error)) from None
    except TreeFileError as error:
        raise CommandError(str(error), prefix="") from None
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name!r} is a folder; name a tree, or one tree file")
    report = library.check([path])
    tree = report.files[0].tree
    if tree is None or not report.ok:
        raise CommandError(format_mistakes(report.mistakes, report.sources), prefix="")
    return tree


def _mistakes_in_place(library: TreeLibrary, *, already_told: str) -> Sequence[str]:
    """What is wrong only where the operator's files take the place of shipped ones.

    The check of a file looks for subtrees beside it first; a query looks in the operator's folder first.
    """
    told: list[str] = []
    for name in library.names():
        try:
            library.preview(name)
        except TreeFileError as error:
            new = [mistake for mistake in error.mistakes if mistake.message not in already_told]
            if new:
                told.append(format_mistakes(new, error.sources))
    return list(dict.fromkeys(told))
