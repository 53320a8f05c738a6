"""Imported runs, found where the source itself has no such run."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from oracle.cli.run_sources.protocol import ListedRun, RunSource
from oracle.histories.model import History
from oracle.settings import Settings
from oracle.storage import RunFilter, StoreSetupError, UnclearRunError

if TYPE_CHECKING:  # a list of runs has no imported ones
    from oracle.exports import ImportedRuns

FOLDER: Final = "imports"


def imported_runs(settings: Settings) -> "ImportedRuns":
    """The imported runs of the data folder."""
    from oracle.exports import ImportedRuns  # noqa: PLC0415  slow to load

    return ImportedRuns(Path(settings.data_dir) / FOLDER)


@dataclass(frozen=True, slots=True)
class WithImports:
    """A source, and the imported runs beside it; lists are the source's alone.

    Args:
        source: is asked first.
        imported: opens what has the runs that the source does not have.
    """

    source: RunSource
    imported: "Callable[[], ImportedRuns]"

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:
        """The newest of those runs of the source."""
        return await self.source.list(wanted, limit=limit)

    async def history(self, run: str) -> History:
        """Everything that is known of the run."""
        try:
            return await self.source.history(run)
        except UnclearRunError as error:
            return self._imported(run, error)

    async def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The history as it grows; an imported one is there at once."""
        try:
            async with aclosing(self.source.follow(run)) as grown:
                async for history in grown:
                    yield history
        except UnclearRunError as error:
            yield self._imported(run, error)

    def _imported(self, run: str, error: UnclearRunError) -> History:
        found = None if error.alike else self.imported().find(run)
        if found is None:
            raise error
        return found


@dataclass(frozen=True, slots=True)
class NoDatabase:
    """The source where there is no database: every call says so, unless an imported run is asked for.

    Args:
        error: why there is none.
        imported: opens the runs that there are nevertheless.
    """

    error: StoreSetupError
    imported: "Callable[[], ImportedRuns]"

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:  # noqa: ARG002  the protocol
        """Raise the error."""
        raise self.error

    async def history(self, run: str) -> History:
        """The imported run."""
        found = self.imported().find(run)
        if found is None:
            raise self.error
        return found

    async def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The imported run."""
        yield await self.history(run)
