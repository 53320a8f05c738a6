"""What every command does first: read the settings, set logging up, tell of slips."""

import os
from pathlib import Path
from typing import Any

import click

from oracle.cli.errors import CommandError
from oracle.cli.text import one_line
from oracle.logs import configure_logging
from oracle.settings import Settings, SettingsError, misspelt_variables, read_settings


def settings_for(**given: Any) -> Settings:  # noqa: ANN401  checked by the settings themselves
    """The settings, from the options given, the environment, and `.env` in the working folder.

    Raises:
        CommandError: some cannot be used; it names them all.
    """
    try:
        settings = read_settings(Path(".env"), **given)
    except SettingsError as error:
        raise CommandError(str(error)) from None
    configure_logging(settings.log)
    for slip in misspelt_variables(os.environ):
        click.echo(f"Note: {one_line(slip)}", err=True)
    return settings
