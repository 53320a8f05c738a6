"""`oracle trees schema`: the JSON Schema of tree files."""

import json

import click

from bt_runtime import tree_schema
from oracle.cli.setup import settings_for
from oracle.wiring.plugins import plugins_of, registry_of


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
