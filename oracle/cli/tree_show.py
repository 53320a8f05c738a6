"""`oracle trees show` and `oracle trees schema`: pictures of trees, and the JSON Schema of their files."""

import json

import click

from bt_runtime import render, tree_schema
from bt_runtime.drawing.rendering import FORMATS, Format
from oracle.cli.named_trees import named_tree
from oracle.cli.setup import settings_for
from oracle.server.wiring.agent import tree_library
from oracle.server.wiring.plugins import plugins_of, registry_of


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


@click.command("schema")
def schema() -> None:
    """Print the JSON Schema of tree files, for editors."""
    click.echo(schema_text().rstrip("\n"))


def schema_text() -> str:
    """The JSON Schema of tree files, with all node kinds of this process.

    Raises:
        SettingsError: settings are invalid.
        PluginError: what other packages add cannot be used.
    """
    registry = registry_of(plugins_of(settings_for()))
    return json.dumps(tree_schema(registry), indent=2, ensure_ascii=False) + "\n"
