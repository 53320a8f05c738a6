"""What every command does first: read the settings, set logging up, tell of slips."""

import os
from pathlib import Path
from typing import Any

import click

from oracle.cli.errors import CommandError
from oracle.cli.text import one_line
from oracle.logs import configure_logging
from oracle.settings import Settings, SettingsError, misspelt_variables, read_settings


def settings_for(*, log: str | None = None, **given: Any) -> Settings:  # noqa: ANN401  checked by the settings
    """The settings, from the options given, the environment, and `.env` in the working folder.

    Args:
        log: the level to log from where the operator has set none; `None`: the settings' default.
        given: by field; `None` means not given.

    Raises:
        CommandError: some cannot be used; it names them all.
    """
    try:
        settings = read_settings(Path(".env"), **given)
    except SettingsError as error:
        raise CommandError(str(error)) from None
    configure_logging(settings.log if log is None or "log" in settings.model_fields_set else log)
    for slip in misspelt_variables(os.environ):
        click.echo(f"Note: {one_line(slip)}", err=True)
    return settings
