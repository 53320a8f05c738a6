"""`oracle shadow`: the commands for shadow runs."""

from collections.abc import Mapping
from typing import Final

import click

from oracle.cli.groups import LazyGroup

_COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "report": ("oracle.cli.shadow_report:report", "Say whether two controls agree, and what each one needs."),
}


@click.group("shadow", cls=LazyGroup, commands_at=_COMMANDS, no_args_is_help=True)
def shadow() -> None:
    """Compare the control that answers users with the one that runs beside it."""
