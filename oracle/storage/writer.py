"""The one writer: a thread that commits what was appended, in order, in groups.

Rules:

- Appending never waits. An idle writer commits at once; a busy one commits what has gathered, every `GROUP_S` at most,
  or every `HURRY_S` if somebody waits for it.
- What was appended first is committed first; nobody hears of anything before its commit.
- A failure that may pass (locked, full, gone) is tried again for as long as the process lives; nothing is dropped.
- Of a run with an entry that can never be written nothing more is written, so that what is there has no gaps; the
  other runs go on, and whoever wrote it is told.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog
from sqlalchemy import Connection

from oracle.retry import Retry
from oracle.storage.commit import Committer, Group
from oracle.storage.database import Database, in_words
from oracle.storage.dialect import EventRow
from oracle.storage.entries import Entry, Source, WorkEntry
from oracle.storage.errors import StoreUnavailableError
from oracle.storage.health import StoreHealth
from oracle.storage.records import StoredChunk

log = structlog.get_logger(__name__)

T = TypeVar("T")

GROUP_S = 0.01
"""From the beginning of a commit to the beginning of the next, at least."""
HURRY_S = 0.002
"""The same where somebody waits: a limit or a cancel takes three commits in a row to its `done`."""
PATIENCE_S = 30.0
"""How long somebody who waits for a write is kept waiting while nothing can be written."""

_RETRY = Retry(first_s=0.05, longest_s=2.0)
_LAST_TRIES = 2  # once the store is being closed
_LAST_WAIT_S = 10.0  # for the thread to end
_LOOK_S = 1.0  # how often somebody who waits looks whether there is still hope
_MOST_ENTRIES = 10_000  # in one transaction


@dataclass(frozen=True, slots=True)
class CommitFigures:
    """One commit.

    Args:
        events: entries of the log in it.
        queue_s: age of the oldest entry when it began.
        commit_s: how long it took.
    """

    events: int
    queue_s: float
    commit_s: float


@dataclass(frozen=True, slots=True)
class _Taken:
    """Entries to be written in one transaction.

    Args:
        entries: in order.
        since_s: since when the oldest waits, or earlier.
        taken_s: when they were taken from the queue.
        is_all: none was left in it.
    """

    entries: Sequence[Entry]
    since_s: float
    taken_s: float
    is_all: bool


class Writer:
    """Owns the writing connection. Made and used in the event loop's thread.

    Args:
        database: where to.
        worker: the name of this one.
        observe: told of every commit, in the event loop.
        patience_s: how long somebody who waits is kept waiting while nothing can be written.
    """

    def __init__(
        self,
        database: Database,
        *,
        worker: str,
        observe: Callable[[CommitFigures], None] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.health = StoreHealth(database.name)
        self._database = database
        self._committer = Committer(database, worker=worker)
        self._observe = observe
        self._patience_s = patience_s
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()  # of the next three
        self._queue: list[Entry] = []
        self._queued_since_s = 0.0
        self._is_closed = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        database.dialect.check()
        self._thread.start()

    @property
    def is_closing(self) -> bool:
        """Whether what cannot be written now never will be by this process."""
        return self._closing.is_set()

    def append(self, source: Source, row: EventRow, chunk: StoredChunk | None) -> None:
        """Have an event written; never waits."""
        self._put((source, row, chunk))

    async def write(
        self,
        work: Callable[[Connection], T] | None,
        *,
        on_commit: Callable[[T], None] | None = None,
        wakes: tuple[str, int] | None = None,
        is_alone: bool = False,
    ) -> T:
        """Run a small transaction after all that was appended before; returns after its commit.

        Args:
            work: in the writer's thread; run again if the database was in trouble. `None` only waits.
            on_commit: called with the result, in the event loop, in order with what else is committed.
            wakes: run and chunk number that followers of other workers are to be told of.
            is_alone: in a transaction of its own, as it may wait for locks of other workers.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience. It is not written later,
                unless it was under way just then.
            Exception: whatever the work raises; nothing of it is kept then.
        """
        entry = WorkEntry(work, self._loop.create_future(), on_commit, wakes, is_alone)
        self._put(entry)
        self._hurry.set()
        try:
            while not (await asyncio.wait({entry.future}, timeout=_LOOK_S))[0]:
                since_s = self.health.since_s
                if since_s is not None and time.monotonic() - since_s > self._patience_s:
                    raise StoreUnavailableError(f"the database cannot be written for now: {self.health.problem}")
            result: T = entry.future.result()
            return result
        finally:
            entry.is_given_up = not entry.future.done()
            del entry  # what it raised would hold it by the frame of this call, and be held by it

    async def aclose(self) -> None:
        """Write what is there, and end the thread; what cannot be written now is told in the log."""
        self._closing.set()
        self._hurry.set()
        self._wake.set()
        await self._loop.run_in_executor(None, self._thread.join, _LAST_WAIT_S)
        await asyncio.sleep(0)  # what it has announced last
        with self._lock:
            self._is_closed = True
            left, self._queue = self._queue, []
        self._give_up(left)

    def _put(self, entry: Entry) -> None:
        with self._lock:
            if not self._is_closed:
                if not self._queue:
                    self._queued_since_s = time.monotonic()
                    self._wake.set()
                self._queue.append(entry)
                return
        self._give_up([entry])

    # In the writer's thread:

    def _run(self) -> None:
        while True:
            self._wake.wait()
            began_s = time.monotonic()
            self._hurry.clear()
            count, is_all = self._write_next()
            if not count and self._closing.is_set():
                return
            if is_all and not self._closing.is_set():
                self._closing.wait(began_s + HURRY_S - time.monotonic())
                self._hurry.wait(began_s + GROUP_S - time.monotonic())

    def _write_next(self) -> tuple[int, bool]:
        """Commit what is next: how many entries that were, and whether none is left.

        A call of its own, so that an idle writer holds nothing of the runs that it has written last.
        """
        taken = self._take()
        if taken.entries:
            self._write_all(taken)
        return len(taken.entries), taken.is_all

    def _take(self) -> _Taken:
        """The next entries; those that want to be alone are."""
        with self._lock:
            end = _first_group(self._queue)
            entries, self._queue = self._queue[:end], self._queue[end:]
            since_s, now_s = self._queued_since_s, time.monotonic()
            is_all = not self._queue
            if is_all and not self._closing.is_set():
                self._wake.clear()
        return _Taken(entries, since_s, now_s, is_all)

    def _write_all(self, taken: _Taken) -> None:
        """Commit the entries, whatever it takes."""
        tries, one_by_one = 0, False
        while True:
            began_s = self.health.commit_since_s = time.monotonic()
            try:
                group = self._committer.commit(taken.entries, one_by_one=one_by_one)
            except Exception as error:  # noqa: BLE001  every one is either waited out or told
                self.health.commit_since_s = None
                if not self._database.is_transient(error) and not one_by_one:
                    one_by_one = True
                    continue
                self._tell(partial(self.health.have, in_words(error), since_s=began_s))
                tries += 1
                if self._closing.is_set() and tries >= _LAST_TRIES:
                    self._tell(partial(self._give_up, taken.entries))
                    return
                self._closing.wait(_RETRY.wait_s(tries))
            else:
                self.health.commit_since_s = None
                figures = CommitFigures(group.events, began_s - taken.since_s, time.monotonic() - began_s)
                self._tell(partial(self._announce, group, taken, figures))
                return

    def _tell(self, what: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(what)
        except RuntimeError:  # the event loop is gone, and with it everybody who could be told
            self._closing.set()

    # In the event loop's thread:

    def _announce(self, group: Group, taken: _Taken, figures: CommitFigures) -> None:
        self.health.recover()
        for source, written in group.written.items():
            source.committed(written.events, written.chunks, taken_s=taken.taken_s)
        for source, error in group.refused.items():
            log.error("run.refused", run_id=source.run_id, problem=str(error))
            source.refused(error)
        for work in group.works:
            work.settle()
        if self._observe is not None:
            self._observe(figures)

    def _give_up(self, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        events = sum(isinstance(entry, tuple) for entry in entries)
        log.error("store.closed_unwritten", events=events, problem=self.health.problem)
        for entry in entries:
            if isinstance(entry, WorkEntry):
                entry.fail(StoreUnavailableError(f"the store is closed; {self.health.problem or 'it came too late'}"))


def _first_group(queue: Sequence[Entry]) -> int:
    """How many of the entries go into the next transaction."""
    end = min(len(queue), _MOST_ENTRIES)
    for at in range(end):
        entry = queue[at]
        if isinstance(entry, WorkEntry) and entry.is_alone:
            return max(at, 1)
    return end
