"""The first steps of every command: read the settings, configure logging, report misspelt settings."""

import os
from pathlib import Path
from typing import Any

import click

from oracle.cli.errors import CommandError
from oracle.cli.text import one_line
from oracle.core.logs import configure_logging
from oracle.server.settings.fields import Settings
from oracle.server.settings.reading import misspelt_variables, read_env_file, read_settings, refused_variables

_ENV_FILE = Path(".env")


def settings_for(*, log: str | None = None, strict: bool = False, **given: Any) -> Settings:  # noqa: ANN401  checked by the settings
    """The settings, from the options given, the environment, and `.env` in the working folder.

    Args:
        log: the log level unless the operator has set one; `None`: the default of the settings.
        strict: whether a variable without an effect (misspelt, or not for `.env`) is an error instead of a note.
        given: options by field of the settings; `None` means not given.

    Raises:
        SettingsError: settings are invalid; the message names all of them.
        CommandError: settings have no effect, and `strict`.
    """
    settings = read_settings(_ENV_FILE, **given)
    filed = read_env_file(_ENV_FILE)
    configure_logging(settings.log if log is None or "log" in settings.model_fields_set else log)
    found = (*misspelt_variables(filed | os.environ), *refused_variables(filed, os.environ))
    slips = [one_line(slip) for slip in found]
    if slips and strict:
        raise CommandError("\n".join(slips))
    for slip in slips:
        click.echo(f"Note: {slip}", err=True)
    return settings
