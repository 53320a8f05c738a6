"""The recorded runs that a command reads: those of the database in the settings, also while a service writes it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click

from oracle.settings import Settings
from oracle.storage import Archive, open_archive

T = TypeVar("T")

DATA_DIR = click.option(
    "--data-dir", metavar="DIR", type=click.Path(path_type=Path), help="The folder of the database [ORACLE_DATA_DIR]."
)


def with_archive(settings: Settings, work: Callable[[Archive], Awaitable[T]]) -> T:
    """Open the recorded runs, and do the work.

    Raises:
        StoreSetupError: there is no database, or this version cannot read it.
        StoreUnavailableError: it cannot be read at present.
    """

    async def reading() -> T:
        async with open_archive(settings.database_address) as archive:
            return await work(archive)

    return asyncio.run(reading())
