"""The recorded runs that a command reads: those of the database in the settings, also while a service writes it."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import click

from oracle.runs.storage.archive import Archive, open_archive
from oracle.server.settings.fields import Settings

T = TypeVar("T")

DATA_DIR = click.option(
    "--data-dir", metavar="DIR", type=click.Path(path_type=Path), help="The folder of the database [ORACLE_DATA_DIR]."
)

_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGO = re.compile(rf"(\d{{1,6}})\s*({'|'.join(_UNITS)})")


class Since(click.ParamType):  # type: ignore[type-arg]  # takes no arguments in click 8.1
    """A duration until now (`2h`), or a date and time in UTC (`2026-11-01`); seconds since the epoch."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The time.

        Raises:
            click.BadParameter: it is neither.
        """
        if isinstance(value, float):
            return value
        text = str(value).strip()
        if ago := _AGO.fullmatch(text):
            return time.time() - int(ago[1]) * _UNITS[ago[2]]
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{text!r} is not a time; give a duration (30min, 2h, 7d) or a date (2026-11-01)", param, ctx)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()


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
