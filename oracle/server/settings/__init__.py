"""The operator's settings, from the environment and a `.env` file; all mistakes are reported at once.

Rules:

- A setting is a field of `Settings`; its variable is `ORACLE_` and the field's name in capitals.
- A secret is a `SecretStr` or in `Tokens`: no representation, message or log shows it. The provider's SDK reads its key
  itself, so nothing here can print that one.
- The tables of help and documentation come from the fields, so it cannot lie.
"""

from oracle.server.settings.fields import (
    LOCAL_USER,
    PREFIX,
    Settings,
    ceiling_name,
    variable_of,
)
from oracle.server.settings.reading import (
    SettingsError,
    misspelt_variables,
    read_env_file,
    read_settings,
    refused_variables,
)
from oracle.server.settings.table import SettingRow, settings_table
from oracle.server.settings.tokens import MIN_SECRET_BYTES, STRONG_TOKEN_CHARACTERS, Tokens

__all__ = [
    "LOCAL_USER",
    "MIN_SECRET_BYTES",
    "PREFIX",
    "STRONG_TOKEN_CHARACTERS",
    "SettingRow",
    "Settings",
    "SettingsError",
    "Tokens",
    "ceiling_name",
    "misspelt_variables",
    "read_env_file",
    "read_settings",
    "refused_variables",
    "settings_table",
    "variable_of",
]
