"""What waits to be written: events of runs, and small transactions."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection

from oracle.storage.dialect import EventRow
from oracle.storage.errors import StorageError
from oracle.storage.records import StoredChunk


class LogSource(Protocol):
    """What appends the events of one run."""

    run_id: str
    epoch: int
    is_refused: bool
    """Set in the writer's thread: nothing more of this run is written, so that its log has no gaps."""

    def committed(self, events: int, chunks: list[StoredChunk], *, taken_s: float) -> None:
        """So many more events are durable, these chunks among them; the others are younger than `taken_s`."""
        ...

    def refused(self, error: StorageError) -> None:
        """Nothing more will be written; called once, after `is_refused` was set."""
        ...


EventEntry = tuple[LogSource, EventRow, StoredChunk | None]
"""An event to be written. A tuple, as there are thousands a second."""


@dataclass(slots=True, eq=False)
class WorkEntry:
    """A small transaction, in order with the events.

    Args:
        work: runs in the writer's thread, again after a transient failure; `None` waits for the entries before.
        future: gets the result, after the commit.
        on_commit: called with the result in the event loop, before the future is set.
        wakes: run and chunk number to announce to the other workers.
        is_alone: gets a transaction of its own, as it may hold locks that other workers wait for.
        is_given_up: its caller has gone; it is not run any more.
    """

    work: Callable[[Connection], Any] | None
    future: "asyncio.Future[Any]"
    on_commit: Callable[[Any], None] | None = None
    wakes: tuple[str, int] | None = None
    is_alone: bool = False
    is_given_up: bool = False
    result: Any = None
    error: Exception | None = None

    def settle(self) -> None:
        """Give the caller its result; in the event loop's thread, after the commit."""
        if self.error is None and self.on_commit is not None:
            self.on_commit(self.result)
        if self.future.done() or self.is_given_up:
            return
        if self.error is None:
            self.future.set_result(self.result)
        else:
            self.future.set_exception(self.error)

    def fail(self, error: StorageError) -> None:
        """Give the caller an error: it will not be run."""
        if not self.future.done() and not self.is_given_up:
            self.future.set_exception(error)


Entry = EventEntry | WorkEntry
