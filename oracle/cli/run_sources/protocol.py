"""What a command needs of a place that has runs."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Protocol

from bt_runtime.text.data import dataclass
from oracle.core.chunks import Chunk
from oracle.replay.histories.model import History, RunFacts
from oracle.runs.storage.records import RunSummary
from oracle.runs.storage.run_pages import RunFilter


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run in a list; `summary` is `None` while it is under way."""

    run: RunFacts
    summary: RunSummary | None = None


class RunSource(Protocol):
    """A place that has runs. A `run` may be the beginning of an id that no other run has."""

    async def list(self, wanted: RunFilter, *, limit: int) -> Sequence[ListedRun]:
        """The newest of those runs, newest first.

        Raises:
            OracleError: the source cannot be read.
        """
        ...

    async def pending(self) -> Sequence[dict[str, Any]]:
        """What runs wait for people to decide, as `GET /api/oracle/pending` has it.

        Raises:
            OracleError: the source cannot be read.
        """
        ...

    async def answer(self, run: str, delivery: Mapping[str, Any]) -> None:
        """Answer it, as `POST /api/oracle/runs/RUN/deliveries` does.

        Raises:
            OracleError: the answer is refused, or the source cannot be written.
        """
        ...

    async def history(self, run: str) -> History:
        """Everything that is known of the run.

        Raises:
            UnclearRunError: there is no such run, or more than one.
            OracleError: the source cannot be read.
        """
        ...

    def follow(self, run: str) -> AsyncGenerator[History, None]:
        """The history at once, and again whenever it has grown, until the run has ended.

        It is the same object each time, which grows.

        Raises:
            UnclearRunError: there is no such run, or more than one.
            OracleError: the source cannot be read.
        """
        ...

    def chunks(self, run: str) -> AsyncGenerator[Chunk, None]:
        """What the run's user sees, from its first chunk on, until the run has ended.

        Raises:
            UnclearRunError: there is no such run, or more than one.
            OracleError: the source cannot be read, or does not have the run's texts.
        """
        ...
