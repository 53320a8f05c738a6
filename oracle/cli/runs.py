"""`oracle runs`: the commands for recorded runs, each in a module of its own."""

from collections.abc import Mapping
from typing import Final

import click

from oracle.cli.groups import LazyGroup

_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "list": ("oracle.cli.run_list:list_", "List recorded runs, newest first."),
    "show": ("oracle.cli.run_show:show", "Show what happened in a run, tick by tick, and why."),
    "watch": ("oracle.cli.run_watch:watch", "Watch a run until it ends."),
    "replay": ("oracle.cli.run_replay:replay", "Play a recorded run again, on its own tree or on another one."),
    "diff": ("oracle.cli.run_diff:diff", "Compare two recorded runs: where they part, and why."),
    "export": ("oracle.cli.run_export:export", "Write a recorded run as JSON, a picture, or a page."),
    "import": ("oracle.cli.run_import:import_", "Keep an exported run of another installation, to look at."),
    "scenario": ("oracle.cli.run_scenario:scenario", "Turn a recorded run into a scenario file."),
}


@click.group("runs", cls=LazyGroup, commands_at=_COMMANDS, no_args_is_help=True)
def runs() -> None:
    """Look at recorded runs, also while a service is running."""
