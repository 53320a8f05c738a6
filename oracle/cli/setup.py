"""What every command does first: read the settings, set logging up, tell of slips."""

import os
from pathlib import Path
from typing import Any

import click

from oracle.cli.errors import CommandError
from oracle.cli.text import one_line
from oracle.logs import configure_logging
from oracle.settings import Settings, SettingsError, misspelt_variables, read_env_file, read_settings

_ENV_FILE = Path(".env")


def settings_for(*, log: str | None = None, strict: bool = False, **given: Any) -> Settings:  # noqa: ANN401  checked by the settings
    """The settings, from the options given, the environment, and `.env` in the working folder.

    Args:
        log: the level to log from where the operator has set none; `None`: the settings' default.
        strict: a variable that is most likely a misspelt setting is an error, and not only noted.
        given: by field; `None` means not given.

    Raises:
        CommandError: some cannot be used, or are misspelt; it names them all.
    """
    try:
        settings = read_settings(_ENV_FILE, **given)
        names = {**read_env_file(_ENV_FILE), **os.environ}
    except SettingsError as error:
        raise CommandError(str(error)) from None
    configure_logging(settings.log if log is None or "log" in settings.model_fields_set else log)
    slips = [one_line(slip) for slip in misspelt_variables(names)]
    if slips and strict:
        raise CommandError("\n".join(slips))
    for slip in slips:
        click.echo(f"Note: {slip}", err=True)
    return settings
