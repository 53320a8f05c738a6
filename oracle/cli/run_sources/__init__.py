"""Where `oracle runs` reads runs: the database of the settings, or a running service.

history = with_source(place, lambda source: source.history(run))
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bt_runtime.text.data import dataclass
from oracle.cli.archive import DATA_DIR
from oracle.cli.run_sources.local import LocalSource, imported_runs
from oracle.cli.run_sources.protocol import RunSource
from oracle.cli.setup import settings_for
from oracle.core.logs import configure_logging
from oracle.runs.storage.archive import Archive, open_archive
from oracle.runs.storage.errors import StoreSetupError

if TYPE_CHECKING:  # not loaded for a list of runs
    from bt_runtime import Registry

__all__ = ["RUN_SOURCE", "SourceOptions", "with_source"]

T = TypeVar("T")
Command = Callable[..., Any]

_URL = click.option(
    "--url",
    metavar="URL",
    help="Read from a running service instead of the database; its token is ORACLE_TOKEN. [default: ORACLE_URL, if "
    "it is set]",
)


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options that name the place.

    Args:
        data_dir: the folder of the database; `None`: as the settings say.
        url: of a service; `None`: the one that ORACLE_URL names. The database is read where it names none, and with
            `data_dir`.
    """

    data_dir: Path | None = None
    url: str | None = None


def RUN_SOURCE(command: Command) -> Command:  # noqa: N802  like the options beside it, which are objects
    """Give a command the options that name the place; it gets them as `place`, which are `SourceOptions`."""

    @wraps(command)
    def with_place(*, data_dir: Path | None, url: str | None, **given: Any) -> Any:  # noqa: ANN401  of any command
        if url is not None and data_dir is not None:
            raise click.UsageError("--url and --data-dir exclude each other; give one of them")
        return command(place=SourceOptions(data_dir, url), **given)

    return DATA_DIR(_URL(with_place))


def with_source(options: SourceOptions, work: Callable[[RunSource], Awaitable[T]]) -> T:
    """Open the place, and do the work.

    Raises:
        SettingsError: settings are invalid.
        StoreSetupError: there is no database, or this version cannot read it.
        StoreUnavailableError: it cannot be read at present.
    """
    url = options.url
    if url is None and options.data_dir is None:
        url = os.environ.get("ORACLE_URL", "").strip() or None
    work_on = _served(url, work) if url is not None else _local(options.data_dir, work)
    return asyncio.run(work_on)


async def _served(url: str, work: Callable[[RunSource], Awaitable[T]]) -> T:
    from oracle.cli.run_sources.served import open_service  # noqa: PLC0415  its HTTP client is slow to load

    configure_logging("critical")  # its settings are the service's: those of this machine do not matter
    async with open_service(url) as source:
        return await work(source)


async def _local(data_dir: Path | None, work: Callable[[RunSource], Awaitable[T]]) -> T:
    settings = settings_for(log="critical", data_dir=data_dir)

    def registry() -> "Registry":
        from oracle.server.wiring.agent import tree_library  # noqa: PLC0415  slow to load

        return tree_library(settings).registry

    async with AsyncExitStack() as stack:
        archive: Archive | StoreSetupError
        try:
            archive = await stack.enter_async_context(open_archive(settings.database_address))
        except StoreSetupError as error:
            archive = error
        return await work(LocalSource(archive, registry, partial(imported_runs, settings)))
