"""`oracle plugins`: what other packages have added."""

import json

import click

from oracle.cli.setup import settings_for
from oracle.cli.text import one_line
from oracle.server.plugins import GROUPS
from oracle.server.wiring.plugins import plugins_of


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plugins(*, as_json: bool) -> int:
    """Print what other packages add: tools, node kinds, trees, prompts, decision trees, classifiers.

    Packages add them by entry points; ORACLE_PLUGINS names further modules.

    \b
    Exit codes:
      0  everything can be used
      1  something cannot be loaded, or a name exists twice
    """  # noqa: D301  click's mark for lines that are not rewrapped
    loaded = plugins_of(settings_for()).loaded
    if as_json:
        listed = [{"group": each.group, "package": each.package, "names": list(each.names)} for each in loaded]
        click.echo(json.dumps({"plugins": listed}, ensure_ascii=False, indent=2))
        return 0
    for each in loaded:
        names = one_line(", ".join(each.names), longest=400) or "nothing"
        click.echo(f"{each.group}  {one_line(each.package)}: {names}")
    if not loaded:
        click.echo(f"No package adds anything. Searched entry points: {', '.join(GROUPS)}.")
    return 0
