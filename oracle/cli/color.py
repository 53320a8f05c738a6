"""The option of commands that write in colours."""

from typing import get_args

import click

from oracle.cli.run_view.screen import ColorChoice

COLOR = click.option(
    "--color",
    type=click.Choice(get_args(ColorChoice)),
    default="auto",
    show_default=True,
    help="Colours; auto: on a terminal, unless NO_COLOR is set.",
)
