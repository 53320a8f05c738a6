"""`oracle trees show`: pictures of trees."""

import click

from bt_runtime import render
from bt_runtime.rendering import FORMATS, Format
from oracle.cli.named_trees import named_tree
from oracle.cli.setup import settings_for
from oracle.wiring import tree_library


@click.command("show")
@click.argument("name")
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the picture."
)
def show(*, name: str, format_: Format) -> None:
    """Print a picture of the tree NAME, or of a tree file.

    Exits with 1 if there is no such tree, or if it has mistakes.
    """
    click.echo(render(named_tree(tree_library(settings_for()), name, samples=True), format_).rstrip("\n"))
