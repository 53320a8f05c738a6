"""The one writer: a thread that commits what was appended, in order, in groups.

Rules:

- Appending never waits. An idle writer commits at once; a busy one commits what has gathered, every `GROUP_S` at most.
- What was appended first is committed first; nobody hears of anything before its commit.
- A failure that may pass (locked, full, gone) is tried again for as long as the process lives; nothing is dropped.
- An entry that can never be written is dropped alone, and whoever wrote it is told.
- Events of a run that another worker has taken over (a newer epoch) are refused.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import structlog
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError

from oracle.storage import schema
from oracle.storage.database import Database, in_words, is_passing
from oracle.storage.errors import RunLostError, StorageError, StoreUnavailableError

log = structlog.get_logger(__name__)

T = TypeVar("T")

GROUP_S = 0.01
"""From the beginning of a commit to the beginning of the next, at least."""
PATIENCE_S = 30.0
"""How long somebody who waits for a write is kept waiting while nothing can be written."""

Row = tuple[str, int, str, int | None, str | None, str, float]
"""A row of `event`: run_id, seq, kind, chunk_n, step_key, data, at."""

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 2.0
_LAST_TRIES = 3  # once the store is being closed
_IDS_A_QUERY = 500
_LONGEST_NOTICE = 7_500  # PostgreSQL takes 8 000 bytes
_COLUMNS = "run_id, seq, kind, chunk_n, step_key, data, at"
CHUNKS_CHANNEL = "oracle_chunks"


class _FileGoneError(Exception):
    """The file of the database is no longer where it was; what we would write could not be found again."""


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


@dataclass(slots=True)
class StoreHealth:
    """Whether the store can be written.

    Args:
        problem: why it cannot; `None` if it can.
        since_s: when that began, by `time.monotonic`; `None` if there is no problem.
    """

    problem: str | None = None
    since_s: float | None = None


class Source(Protocol):
    """Whoever appends events of one run."""

    run_id: str
    epoch: int

    def committed(self, rows: Sequence[Row]) -> None:
        """These rows are durable."""
        ...

    def refused(self, error: StorageError) -> None:
        """Rows were refused for good."""
        ...


@dataclass(slots=True, eq=False)
class EventEntry:
    """An event to be written."""

    source: Source
    row: Row
    queued_s: float


@dataclass(slots=True, eq=False)
class WorkEntry:
    """A small transaction to be run in its turn.

    Args:
        work: runs in the writer's thread; may be run again after a failure, so it must bear that.
        future: gets the result, after the commit.
        queued_s: since when it waits.
        on_commit: called with the result in the event loop, before the future is set.
        wakes: run and chunk number that followers of other workers are to be told of.
        is_given_up: nobody waits any more; it is not run if it has not been.
    """

    work: Callable[[Connection], Any] | None
    future: "asyncio.Future[Any]"
    queued_s: float
    on_commit: Callable[[Any], None] | None = None
    wakes: tuple[str, int] | None = None
    is_given_up: bool = False
    result: Any = None
    error: BaseException | None = None


Entry = EventEntry | WorkEntry


@dataclass(slots=True)
class _Group:
    """What one commit did."""

    works: list[WorkEntry] = field(default_factory=list)
    written: dict[Source, list[Row]] = field(default_factory=dict)
    lost: set[Source] = field(default_factory=set)
    figures: CommitFigures | None = None


class Writer:
    """Owns the writing connection. Made, started and used in the event loop's thread.

    Args:
        database: where to.
        observe: told of every commit, in the event loop.
    """

    def __init__(self, database: Database, *, observe: Callable[[CommitFigures], None] | None = None) -> None:
        self.health = StoreHealth()
        self._database = database
        self._observe = observe
        self._loop = asyncio.get_running_loop()
        self._queue: deque[Entry] = deque()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._inode = self._file_identity()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def append(self, source: Source, row: Row) -> None:
        """Have an event written; never waits."""
        self._put(EventEntry(source, row, time.monotonic()))

    async def write(
        self,
        work: Callable[[Connection], T] | None,
        *,
        on_commit: Callable[[T], None] | None = None,
        wakes: tuple[str, int] | None = None,
    ) -> T:
        """Run a small transaction after all that was appended before; returns after its commit.

        Raises:
            StoreUnavailableError: it could not be written for longer than the patience, and will not be.
            Exception: whatever the work raises; nothing of it is kept then.
        """
        entry = WorkEntry(work, self._loop.create_future(), time.monotonic(), on_commit, wakes)
        self._put(entry)
        try:
            while not (await asyncio.wait({entry.future}, timeout=self._patience_left_s()))[0]:
                if self._patience_left_s() <= 0:
                    raise StoreUnavailableError(f"the database cannot be written for now: {self.health.problem}")
        finally:
            entry.is_given_up = not entry.future.done()
        result: T = entry.future.result()
        return result

    async def aclose(self) -> None:
        """Write what is there, and end the thread."""
        self._closing.set()
        self._wake.set()
        await self._loop.run_in_executor(None, self._thread.join)
        await asyncio.sleep(0)  # what it has announced last

    def _put(self, entry: Entry) -> None:
        self._queue.append(entry)
        if not self._wake.is_set():
            self._wake.set()

    def _patience_left_s(self) -> float:
        since_s = self.health.since_s
        return PATIENCE_S if since_s is None else max(0.0, PATIENCE_S - (time.monotonic() - since_s))

    # In the writer's thread:

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            began_s = time.monotonic()
            entries = [self._queue.popleft() for _ in range(len(self._queue))]
            if entries:
                self._write_all(entries)
            if self._closing.is_set():
                if not self._queue:
                    return
                self._wake.set()
            else:
                self._closing.wait(began_s + GROUP_S - time.monotonic())

    def _write_all(self, entries: Sequence[Entry]) -> None:
        """Commit the entries, whatever it takes."""
        wait_s, tries = _FIRST_WAIT_S, 0
        while True:
            try:
                group = self._commit(entries, again=tries > 0)
            except Exception as error:  # noqa: BLE001  every one is either waited out or told
                tries += 1
                if not isinstance(error, _FileGoneError) and not is_passing(error):
                    self._separate(entries, error)
                    return
                self._tell(self._have_problem, str(error) if isinstance(error, _FileGoneError) else in_words(error))
                if self._closing.is_set() and tries >= _LAST_TRIES:
                    self._tell(self._give_up, tuple(entries))
                    return
                self._closing.wait(wait_s)
                wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
            else:
                self._tell(self._announce, group)
                return

    def _separate(self, entries: Sequence[Entry], error: Exception) -> None:
        """Find the entry that cannot be written, and drop it alone."""
        if len(entries) == 1:
            self._tell(self._drop, entries[0], error)
            return
        half = len(entries) // 2
        self._write_all(entries[:half])
        self._write_all(entries[half:])

    def _commit(self, entries: Sequence[Entry], *, again: bool) -> _Group:
        began_s = time.monotonic()
        if self._file_identity() != self._inode:
            raise _FileGoneError(f"the database file {self._database.name} is gone, or is another one now")
        group, events, awakened = _Group(), list[EventEntry](), dict[str, int]()
        with self._database.write_engine.connect() as connection, connection.begin():
            for entry in entries:
                if isinstance(entry, EventEntry):
                    events.append(entry)
                    continue
                self._write_events(connection, events, group, again=again)
                events.clear()
                if not entry.is_given_up:
                    _do(connection, entry)
                    group.works.append(entry)
                    if entry.wakes is not None and entry.error is None:
                        awakened[entry.wakes[0]] = entry.wakes[1]
            self._write_events(connection, events, group, again=again)
            self._notify(connection, group, awakened)
        ended_s = time.monotonic()
        count = sum(isinstance(entry, EventEntry) for entry in entries)
        group.figures = CommitFigures(count, began_s - entries[0].queued_s, ended_s - began_s)
        return group

    def _write_events(
        self, connection: Connection, events: Sequence[EventEntry], group: _Group, *, again: bool
    ) -> None:
        if not events:
            return
        sources = {entry.source for entry in events}
        group.lost |= {source for source in sources if source not in group.written} - self._owned(connection, sources)
        rows = [entry.row for entry in events if entry.source not in group.lost]
        if not rows:
            return
        if self._database.is_sqlite:
            ignore = " OR IGNORE" if again else ""
            connection.exec_driver_sql(f"INSERT{ignore} INTO event ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        elif again:  # the last commit may have reached the server: what is there stays
            marks = ", ".join(["%s"] * 7)
            connection.exec_driver_sql(
                f"INSERT INTO event ({_COLUMNS}) VALUES ({marks}) ON CONFLICT DO NOTHING",  # noqa: S608  constants
                rows,
            )
        else:
            _copy(connection, rows)
        for entry in events:
            if entry.source not in group.lost:
                group.written.setdefault(entry.source, []).append(entry.row)

    def _owned(self, connection: Connection, sources: Iterable[Source]) -> set[Source]:
        """The sources whose runs are still this worker's."""
        by_id = {source.run_id: source for source in sources}
        owned: set[Source] = set()
        for ids in _portions(sorted(by_id), _IDS_A_QUERY):
            query = select(schema.run.c.id, schema.run.c.epoch).where(schema.run.c.id.in_(ids))
            if not self._database.is_sqlite:
                query = query.order_by(schema.run.c.id).with_for_update(read=True)
            owned |= {by_id[name] for name, epoch in connection.execute(query) if epoch == by_id[name].epoch}
        return owned

    def _notify(self, connection: Connection, group: _Group, awakened: dict[str, int]) -> None:
        """Tell the other workers which runs have new chunks."""
        if self._database.is_sqlite:
            return
        for source, rows in group.written.items():
            numbers = [row[3] for row in rows if row[3] is not None]
            if numbers:
                awakened[source.run_id] = max(numbers[-1], awakened.get(source.run_id, 0))
        payload, size = list[str](), 0
        for note in (f"{run_id}:{number}" for run_id, number in awakened.items()):
            if size + len(note) > _LONGEST_NOTICE:
                _send(connection, payload)
                payload, size = [], 0
            payload.append(note)
            size += len(note) + 1
        if payload:
            _send(connection, payload)

    def _file_identity(self) -> tuple[int, int] | None:
        file = self._database.file
        if file is None:
            return None
        try:
            found = file.stat()
        except OSError:
            return (-1, -1)
        return found.st_dev, found.st_ino

    def _tell(self, what: Callable[..., None], *args: Any) -> None:  # noqa: ANN401
        try:
            self._loop.call_soon_threadsafe(what, *args)
        except RuntimeError:  # the event loop is gone, and with it everybody who could be told
            self._closing.set()

    # In the event loop's thread:

    def _announce(self, group: _Group) -> None:
        if self.health.problem is not None:
            log.info("store.recovered", after_s=round(time.monotonic() - (self.health.since_s or 0.0), 1))
            self.health.problem = self.health.since_s = None
        for source, rows in group.written.items():
            source.committed(rows)
        for source in group.lost:
            source.refused(RunLostError(f"another worker has taken the run {source.run_id!r} over"))
        for entry in group.works:
            _settle(entry)
        if self._observe is not None and group.figures is not None:
            self._observe(group.figures)

    def _have_problem(self, problem: str) -> None:
        if self.health.since_s is None:
            self.health.since_s = time.monotonic()
        if self.health.problem != problem:
            log.error("store.unwritable", database=self._database.name, problem=problem)
            self.health.problem = problem

    def _drop(self, entry: Entry, error: Exception) -> None:
        log.error(
            "entry.dropped", problem=in_words(error), kind=entry.row[2] if isinstance(entry, EventEntry) else "work"
        )
        failure = StorageError(f"it cannot be written: {in_words(error)}")
        if isinstance(entry, EventEntry):
            entry.source.refused(failure)
        elif not entry.future.done():
            entry.future.set_exception(failure)

    def _give_up(self, entries: Sequence[Entry]) -> None:
        log.error("store.closed_unwritten", entries=len(entries), problem=self.health.problem)
        for entry in entries:
            if isinstance(entry, WorkEntry) and not entry.future.done():
                entry.future.set_exception(StoreUnavailableError(f"nothing could be written: {self.health.problem}"))


def _do(connection: Connection, entry: WorkEntry) -> None:
    """Run a work in a savepoint: what it raises is its own affair, unless the database is in trouble."""
    entry.result = entry.error = None
    if entry.work is None:
        return
    savepoint = connection.begin_nested()
    try:
        entry.result = entry.work(connection)
        savepoint.commit()
    except Exception as error:
        if isinstance(error, DBAPIError) and is_passing(error):
            raise
        savepoint.rollback()
        entry.error = error


def _settle(entry: WorkEntry) -> None:
    if entry.error is None and entry.on_commit is not None:
        entry.on_commit(entry.result)
    if entry.future.done():
        return
    if entry.error is None:
        entry.future.set_result(entry.result)
    else:
        entry.future.set_exception(entry.error)


def _copy(connection: Connection, rows: Iterable[Row]) -> None:
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(f"COPY event ({_COLUMNS}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _send(connection: Connection, notes: Iterable[str]) -> None:
    connection.execute(
        text("SELECT pg_notify(:channel, :payload)"), {"channel": CHUNKS_CHANNEL, "payload": ",".join(notes)}
    )


def _portions(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
