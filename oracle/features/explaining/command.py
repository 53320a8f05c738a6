"""`oracle trees explain`: what a tree does, in sentences."""

import json
from typing import Literal

import click

from oracle.cli.setup import settings_for
from oracle.cli.trees import named_tree
from oracle.core.logs import quiet
from oracle.features.explaining.table import DEFAULT_SECONDS, table_of
from oracle.features.explaining.writing import as_markdown, as_text
from oracle.server.wiring.agent import tree_library


@click.command("explain")
@click.argument("name", metavar="NAME or FILE")
@click.option(
    "--format", "format_", type=click.Choice(("text", "markdown", "json")), default="text", show_default=True,
    help="The format of the table.",
)  # fmt: skip
@click.option(
    "--seconds", default=DEFAULT_SECONDS, show_default=True, type=click.FloatRange(0), help="Stop after this time."
)
def explain(*, name: str, format_: Literal["text", "markdown", "json"], seconds: float) -> None:
    """Say what a tree does in each situation.

    The situations are played on the real control with a scripted model: each way in which a turn can end, each signal,
    tools that fail, people who refuse, a provider that is down, each limit, and a cancel. No model is asked and no tool
    is run. Situations with the same outcome share a row, and the shortest rows come first.

    Exits with 1 if there is no such tree, if it has mistakes, or if it is a part of other trees.
    """
    library = tree_library(settings_for(log="critical"))
    tree = named_tree(library, name)
    with quiet():
        table = table_of(tree, library.registry, seconds=seconds)
    if format_ == "json":
        click.echo(json.dumps(table.to_json(), ensure_ascii=False, indent=2))
    else:
        click.echo((as_text if format_ == "text" else as_markdown)(table))
