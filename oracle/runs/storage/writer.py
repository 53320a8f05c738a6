"""The one writer: a thread that commits what was appended, in order, in groups.

Rules:

- Appending never waits. An idle writer commits at once; a busy one commits what has accumulated, at most every
  `GROUP_S` seconds, or every `HURRY_S` if a caller waits for a commit.
- Entries are committed in the order in which they were appended; nothing is announced before its commit.
- A tick is one entry, with all that it has sent: it is never cut, however much waits.
- A transient failure (locked, full, gone) is retried as long as the process lives; nothing is dropped.
- If an entry of a run can never be written, nothing more of that run is written, so that its log has no gaps. Other
  runs go on, and the run gets the error.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import structlog
from sqlalchemy import Connection

from bt_runtime.text.data import dataclass
from oracle.core.retry import Retry
from oracle.runs.storage.commit import Committer, Entry, Group, LogSource, TickEntry, WorkEntry
from oracle.runs.storage.database import Database, in_words
from oracle.runs.storage.dialect import Dialect, EventRow
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.records import StoredChunk

log = structlog.get_logger(__name__)

T = TypeVar("T")

GROUP_S = 0.01
"""Least seconds from the start of a commit to the start of the next."""
HURRY_S = 0.002
"""Least seconds between commits while a caller waits: from a cancel to `done` there are three commits in a row."""
PATIENCE_S = 30.0
"""Seconds that a caller waits for a write while nothing can be written."""
ASKER_PATIENCE_S = 2.0
"""Seconds that a caller waits who asks a question, and can ask again."""

_RETRY = Retry(first_s=0.05, longest_s=2.0)
_LAST_TRIES = 2  # once the store is being closed
_LAST_WAIT_S = 10.0  # for the thread to end
_LOOK_S = 1.0  # how often a caller that waits checks the health of the store
_MOST_ENTRIES = 10_000  # in one transaction
_KILL_AFTER = "ORACLE_KILL_AFTER_COMMIT"  # tests of crashes: the process is killed after this many commits of events


@dataclass(frozen=True, slots=True)
class CommitFigures:
    """One commit.

    Args:
        events: entries of the log in it.
        queue_s: age of the oldest entry at its start, in seconds.
        commit_s: its duration in seconds.
    """

    events: int
    queue_s: float
    commit_s: float


@dataclass(frozen=True, slots=True)
class _Taken:
    """Entries to be written in one transaction. Times are of `time.monotonic`.

    Args:
        since_s: when the oldest was appended, or earlier.
        taken_s: when they were taken from the queue.
        is_all: the queue is empty now.
    """

    entries: Sequence[Entry]
    since_s: float
    taken_s: float
    is_all: bool


class Writer:
    """Owns the writing connection. Create and use it in the event loop's thread.

    Args:
        worker: the name of this worker.
        observe: called in the event loop after every commit.
        patience_s: how long a caller waits while nothing can be written.
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
        self._kill_after = int(os.environ.get(_KILL_AFTER, "0"))
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
    def dialect(self) -> Dialect:
        """What the database does in its own way."""
        return self._database.dialect

    @property
    def is_closing(self) -> bool:
        """Whether the store is being closed, so that this process retries no more."""
        return self._closing.is_set()

    def append(self, source: LogSource, row: EventRow, chunk: StoredChunk | None) -> None:
        """Queue an event; never waits."""
        self._put((source, row, chunk))

    def append_tick(self, tick: TickEntry) -> None:
        """Queue events that are committed together, whatever else is in the queue; never waits."""
        self._put(tick)

    async def write(
        self,
        work: Callable[[Connection], T] | None,
        *,
        on_commit: Callable[[T], None] | None = None,
        wakes: tuple[str, int] | None = None,
        is_alone: bool = False,
        patience_s: float | None = None,
    ) -> T:
        """Run a small transaction after all that was appended before; returns after its commit.

        Args:
            work: runs in the writer's thread, again after a transient failure; `None` waits for the entries before.
            on_commit: called with the result, in the event loop, in the order of commits.
            wakes: run and chunk number to announce to the other workers.
            is_alone: in a transaction of its own, as it may wait for locks of other workers.
            patience_s: how long this caller waits while nothing can be written; `None`: as long as others.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience. It is not written later,
                unless its commit had already started.
            Exception: what the work raises; it is rolled back then.
        """
        patience_s = self._patience_s if patience_s is None else patience_s
        entry = WorkEntry(work, self._loop.create_future(), on_commit, wakes, is_alone)
        self._put(entry)
        self._hurry.set()
        try:
            while not entry.future.done():
                since_s = self.health.since_s
                if since_s is not None and time.monotonic() - since_s > patience_s:
                    raise StoreUnavailableError(f"the database cannot be written for now: {self.health.problem}")
                await asyncio.wait({entry.future}, timeout=min(_LOOK_S, patience_s))
            result: T = entry.future.result()
            return result
        finally:
            entry.is_given_up = not entry.future.done()
            del entry  # its exception refers to this frame: a reference cycle

    def post(self, work: Callable[[Connection], object], *, is_alone: bool = False) -> None:
        """Queue a small transaction without waiting for its commit. One that is refused is logged."""
        entry = WorkEntry(work, self._loop.create_future(), is_alone=is_alone)
        entry.future.add_done_callback(_log_refused)
        self._put(entry)

    async def aclose(self) -> None:
        """Write what is queued, and end the thread; what cannot be written is logged."""
        self._closing.set()
        self._hurry.set()
        self._wake.set()
        await self._loop.run_in_executor(None, self._thread.join, _LAST_WAIT_S)
        await asyncio.sleep(0)  # for its last announcements
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
        """Commit the next entries; returns their number, and whether the queue is empty.

        A call of its own, so that an idle writer keeps no reference to the runs that it has written last.
        """
        taken = self._take()
        if taken.entries:
            self._write_all(taken)
        return len(taken.entries), taken.is_all

    def _take(self) -> _Taken:
        """The next entries for one transaction."""
        with self._lock:
            end = _first_group(self._queue)
            entries, self._queue = self._queue[:end], self._queue[end:]
            since_s, now_s = self._queued_since_s, time.monotonic()
            is_all = not self._queue
            if is_all and not self._closing.is_set():
                self._wake.clear()
        return _Taken(entries, since_s, now_s, is_all)

    def _write_all(self, taken: _Taken) -> None:
        """Commit the entries, with as many attempts as it takes."""
        tries, one_by_one = 0, False
        while True:
            began_s = self.health.commit_since_s = time.monotonic()
            try:
                group = self._committer.commit(taken.entries, one_by_one=one_by_one)
            except Exception as error:  # noqa: BLE001  every failure is retried or reported
                self.health.commit_since_s = None
                if not self._database.is_transient(error) and not one_by_one:
                    one_by_one = True
                    continue
                self._post(partial(self.health.fail, in_words(error), since_s=began_s))
                tries += 1
                if self._closing.is_set() and tries >= _LAST_TRIES:
                    self._post(partial(self._give_up, taken.entries))
                    return
                self._closing.wait(_RETRY.wait_s(tries))
            else:
                self.health.commit_since_s = None
                self._kill_after -= group.events > 0
                if self._kill_after == 0 and group.events:
                    os.kill(os.getpid(), signal.SIGKILL)
                figures = CommitFigures(group.events, began_s - taken.since_s, time.monotonic() - began_s)
                self._post(partial(self._announce, group, taken, figures))
                return

    def _post(self, call: Callable[[], None]) -> None:
        """Run a call in the event loop."""
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # the event loop is closed
            self._closing.set()

    # In the event loop's thread:

    def _announce(self, group: Group, taken: _Taken, figures: CommitFigures) -> None:
        self.health.recover()
        for source, written in group.written.items():
            source.committed(written.events + written.works, written.chunks, taken_s=taken.taken_s)
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
        sizes = (len(entry.events) if isinstance(entry, TickEntry) else isinstance(entry, tuple) for entry in entries)
        events = sum(sizes)
        log.error("store.closed_unwritten", events=events, problem=self.health.problem)
        for entry in entries:
            if isinstance(entry, WorkEntry):
                entry.fail(StoreUnavailableError(f"the store is closed; {self.health.problem or 'it came too late'}"))


def _log_refused(future: "asyncio.Future[object]") -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        log.warning("write.refused", problem=f"{type(error).__name__}: {error}")


def _first_group(queue: Sequence[Entry]) -> int:
    """How many entries go into the next transaction."""
    end = min(len(queue), _MOST_ENTRIES)
    for at in range(end):
        entry = queue[at]
        if isinstance(entry, WorkEntry) and entry.is_alone:
            return max(at, 1)
    return end


class Part:
    """A part of the store: read from the database, and written by the process's one writer."""

    def __init__(self, database: Database, *, writer: Writer) -> None:
        self._database = database
        self._writer = writer


HANGS_S = 5.0
"""A commit that takes longer is a problem."""


class StoreHealth:
    """Whether the store can be written. Used in the event loop's thread, except for `commit_since_s`.

    Args:
        name: of the database, in the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._failure: str | None = None
        self._failing_since_s: float | None = None
        self.commit_since_s: float | None = None
        """When the current commit has started, by `time.monotonic`; set in the writer's thread."""

    @property
    def problem(self) -> str | None:
        """Why it cannot be written; `None` if it can."""
        if self._failure is not None:
            return self._failure
        return None if self._hangs_since_s() is None else "the database does not answer"

    @property
    def since_s(self) -> float | None:
        """When the problem has started, by `time.monotonic`; `None` if there is none."""
        return self._failing_since_s if self._failure is not None else self._hangs_since_s()

    def fail(self, problem: str, *, since_s: float) -> None:
        """Note that a commit that started at `since_s` has failed."""
        if problem != self._failure:
            log.error("store.became_unwritable", database=self._name, problem=problem)
        self._failing_since_s = since_s if self._failing_since_s is None else self._failing_since_s
        self._failure = problem

    def recover(self) -> None:
        """Note that a commit has succeeded."""
        if self._failure is not None and self._failing_since_s is not None:
            after_s = round(time.monotonic() - self._failing_since_s, 1)
            log.info("store.became_writable", database=self._name, after_s=after_s)
            self._failure = self._failing_since_s = None

    def _hangs_since_s(self) -> float | None:
        since_s = self.commit_since_s
        return since_s if since_s is not None and time.monotonic() - since_s > HANGS_S else None
