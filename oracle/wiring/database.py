"""Where the database is."""

import os
from pathlib import Path

from oracle.settings import Settings
from oracle.wiring.agent import DATABASE


def database_url(settings: Settings) -> str:
    """The address of the database: the setting, otherwise a file in the data folder. May contain a password."""
    if settings.database_url is not None:
        return settings.database_url.get_secret_value()
    return f"sqlite:///{Path(os.path.abspath(settings.data_dir)) / DATABASE}"  # noqa: PTH100  keeps links
