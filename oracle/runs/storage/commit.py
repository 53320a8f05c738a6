"""One commit: entries that wait to be written, and a group of them in one transaction. Runs in the writer's thread.

Rules:

- A group is written completely or not at all, in the order of its entries.
- Events of a run that another worker has taken over (a newer epoch) are refused. A worker that commits holds its fence
  shared, one that takes over its runs holds it exclusively, so that no event is written after a take-over.
- New events are announced to the other workers after their commit: PostgreSQL holds a lock of the whole server from the
  first notification of a transaction until its commit is on disk. If the process dies between the two, the next owner
  of the run announces its own events, so nothing is missed. An end has no next owner, so it is announced in its commit.
- If the connection is lost during a commit, the server is asked for the outcome before anything is written again:
  nothing is written twice, and no work is run twice.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any, Protocol

import structlog
from sqlalchemy import Connection

from bt_runtime.text.data import dataclass
from oracle.core.errors import OracleError
from oracle.runs.storage.database import Database, in_words
from oracle.runs.storage.dialect import EventRow, StoreTroubleError
from oracle.runs.storage.errors import RunBrokenError, RunLostError, StorageError
from oracle.runs.storage.records import StoredChunk


class LogSource(Protocol):
    """Appends the events of one run."""

    run_id: str
    epoch: int
    is_refused: bool
    """Set in the writer's thread: nothing more of this run is written, so that its log has no gaps."""

    def committed(self, entries: int, chunks: list[StoredChunk], *, taken_s: float) -> None:
        """So many more events and works are durable, these chunks among them; the others are younger than `taken_s`."""
        ...

    def refused(self, error: StorageError) -> None:
        """Nothing more will be written; called once, after `is_refused` was set."""
        ...


EventEntry = tuple[LogSource, EventRow, StoredChunk | None]
"""An event to be written. A tuple, as there are thousands a second."""


Work = Callable[[Connection], object]
"""Writes to other tables, in the transaction of the events that it follows from."""


@dataclass(frozen=True, slots=True, eq=False)
class TickEntry:
    """The events of one run that are written together, or not at all.

    Args:
        works: run after the events; if one of them fails for good, nothing more is written of the run.
    """

    source: LogSource
    events: Sequence[EventEntry]
    works: Sequence[Work] = ()


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


Entry = EventEntry | TickEntry | WorkEntry


log = structlog.get_logger(__name__)

CHUNKS_CHANNEL = "oracle_chunks"

# By the driver itself: 1 us a pair in place of 15, and SQLAlchemy's own savepoints, compiled each time, take 58.
_SAVE, _UNDO, _KEEP = "SAVEPOINT work", "ROLLBACK TO SAVEPOINT work", "RELEASE SAVEPOINT work"

_LONGEST_NOTICE = 7_500  # PostgreSQL takes 8 000 bytes


@dataclass(slots=True)
class CommittedEvents:
    """The result of one commit for one run."""

    events: int = 0
    works: int = 0
    chunks: list[StoredChunk] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """The result of one commit.

    Args:
        written: what was written of each run.
        refused: runs of which nothing more is written, with the reason.
        works: those that were run, in order.
        wakes: the latest chunk of each run, for the other workers; 0 if only other events were written. Empty once they
            are announced.
    """

    events: int = 0
    written: dict[LogSource, CommittedEvents] = field(default_factory=dict)
    refused: dict[LogSource, StorageError] = field(default_factory=dict)
    works: list[WorkEntry] = field(default_factory=list)
    wakes: dict[str, int] = field(default_factory=dict)


class Committer:
    """Writes groups, one after the other.

    Args:
        worker: the name of this worker.
    """

    def __init__(self, database: Database, *, worker: str) -> None:
        self._database = database
        self._dialect = database.dialect
        self._worker = worker
        self._doubt: tuple[int, Group, Sequence[Entry]] | None = None
        self._refused: dict[LogSource, StorageError] = {}  # not announced yet

    def commit(self, entries: Sequence[Entry], *, one_by_one: bool = False) -> Group:
        """Write the entries; after a failure, call it again with the same ones.

        Args:
            entries: the entries of the group, in the order of the queue.
            one_by_one: some of them can never be written: each run gets a savepoint of its own.

        Raises:
            Exception: nothing was written, or the outcome is not known (the next call asks for it).
        """
        self._dialect.check()
        with self._database.writing() as connection:
            if self._doubt is not None and self._doubt[2] is not entries:
                self._doubt = None  # the store is being closed, and their callers have got an error
            if self._doubt is not None and (group := self._resolve(connection, *self._doubt[:2])) is not None:
                return group
            return self._commit(connection, entries, one_by_one=one_by_one)

    def _commit(self, connection: Connection, entries: Sequence[Entry], *, one_by_one: bool) -> Group:
        group = Group()
        self._dialect.begin(connection)
        number = self._dialect.enter_fence(connection, self._worker)
        self._fill(connection, entries, group, one_by_one=one_by_one)
        if any(work.wakes for work in group.works):
            self._notify(connection, group)
        group.refused = dict(self._refused)
        if number is not None:
            self._doubt = (number, group, entries)
        self._dialect.commit(connection)
        return self._done(connection, group)

    def _done(self, connection: Connection, group: Group) -> Group:
        self._notify(connection, group)
        connection.commit()
        self._doubt = None
        self._refused.clear()
        return group

    def _resolve(self, connection: Connection, number: int, group: Group) -> Group | None:
        """The group of a commit whose outcome was not known, if it was done."""
        is_done = self._dialect.has_committed(connection, number)
        connection.rollback()
        if is_done is None:
            raise StoreTroubleError("the database has not decided yet about an earlier commit")
        if is_done:
            return self._done(connection, group)
        self._doubt = None
        return None

    def _fill(self, connection: Connection, entries: Sequence[Entry], group: Group, *, one_by_one: bool) -> None:
        self._check_epochs(connection, entries)
        events: dict[LogSource, list[EventEntry]] = {}
        for entry in entries:
            if isinstance(entry, tuple):
                events.setdefault(entry[0], []).append(entry)
            elif isinstance(entry, TickEntry):
                if entry.works:
                    self._write(connection, events, group, one_by_one=one_by_one)
                    events.clear()
                    self._write_tick(connection, entry, group)
                else:
                    events.setdefault(entry.source, []).extend(entry.events)
            elif not entry.is_given_up:
                if entry.work is not None:  # it may read or delete what was appended before it
                    self._write(connection, events, group, one_by_one=one_by_one)
                    events.clear()
                self._run(connection, entry, group)
        self._write(connection, events, group, one_by_one=one_by_one)
        for source, written in group.written.items():
            last = written.chunks[-1].n if written.chunks else 0
            group.wakes[source.run_id] = max(last, group.wakes.get(source.run_id, 0))

    def _check_epochs(self, connection: Connection, entries: Sequence[Entry]) -> None:
        """Refuse runs that another worker has taken over, or that were removed."""
        sources = {entry[0] for entry in entries if isinstance(entry, tuple)}
        sources |= {entry.source for entry in entries if isinstance(entry, TickEntry)}
        if not sources:
            return
        epochs = self._dialect.epochs(connection, {source.run_id for source in sources})
        for source in sources:
            if epochs.get(source.run_id) != source.epoch:
                self._refuse(source, RunLostError(f"another worker has taken the run {source.run_id!r} over"))

    def _refuse(self, source: LogSource, error: StorageError) -> None:
        if not source.is_refused:
            source.is_refused = True
            self._refused[source] = error

    def _write(
        self, connection: Connection, events: dict[LogSource, list[EventEntry]], group: Group, *, one_by_one: bool
    ) -> None:
        wanted = {source: some for source, some in events.items() if not source.is_refused}
        if one_by_one:
            wanted = {source: some for source, some in wanted.items() if self._can_insert(connection, source, some)}
        else:
            rows = [row for some in wanted.values() for _, row, _ in some]
            if rows:
                self._dialect.insert_events(connection, rows)
        for source, some in wanted.items():
            _note_written(group, source, some)

    def _write_tick(self, connection: Connection, tick: TickEntry, group: Group) -> None:
        """Write a tick with its works; if one of them can never be done, the run is refused."""
        if tick.source.is_refused:
            return
        execute = _executor(connection)
        execute(_SAVE)
        try:
            if tick.events:
                self._dialect.insert_events(connection, [row for _, row, _ in tick.events])
            for work in tick.works:
                work(connection)
        except Exception as error:
            if self._database.is_transient(error):
                raise
            execute(_UNDO)
            problem = f"a tick of the run {tick.source.run_id!r} can never be written: {in_words(error)}"
            self._refuse(tick.source, RunBrokenError(problem))
        else:
            execute(_KEEP)
            _note_written(group, tick.source, tick.events)
            group.written[tick.source].works += len(tick.works)

    def _can_insert(self, connection: Connection, source: LogSource, events: Sequence[EventEntry]) -> bool:
        """Write the events of one run; refuse the run if they can never be written."""
        execute = _executor(connection)
        execute(_SAVE)
        try:
            self._dialect.insert_events(connection, [row for _, row, _ in events])
        except Exception as error:
            if not self._database.is_data_error(error):
                raise
            execute(_UNDO)
            problem = f"something of the run {source.run_id!r} can never be written: {in_words(error)}"
            self._refuse(source, RunBrokenError(problem))
            return False
        execute(_KEEP)
        return True

    def _run(self, connection: Connection, entry: WorkEntry, group: Group) -> None:
        """Run a work in a savepoint: its caller gets what it raises, unless that is a transient failure."""
        entry.result = entry.error = None
        group.works.append(entry)
        if entry.work is None:
            return
        execute = _executor(connection)
        execute(_SAVE)
        try:
            entry.result = entry.work(connection)
            execute(_KEEP)
        except Exception as error:
            if self._database.is_transient(error):
                raise
            execute(_UNDO)
            entry.error = _as_answer(error)
        else:
            if entry.wakes is not None:
                group.wakes[entry.wakes[0]] = entry.wakes[1]

    def _notify(self, connection: Connection, group: Group) -> None:
        """Announce the runs with new events to the other workers."""
        if group.wakes and self._dialect.is_shared:
            notes = _notes(f"{run_id}:{number}" for run_id, number in group.wakes.items())
            self._dialect.notify(connection, CHUNKS_CHANNEL, list(notes))
            group.wakes.clear()


def _note_written(group: Group, source: LogSource, events: Sequence[EventEntry]) -> None:
    written = group.written.setdefault(source, CommittedEvents())
    written.events += len(events)
    written.chunks += [chunk for _, _, chunk in events if chunk is not None]
    group.events += len(events)


def _executor(connection: Connection) -> Callable[[str], object]:
    """Executes a statement past SQLAlchemy."""
    driver: Any = connection.connection.driver_connection
    execute: Callable[[str], object] = driver.execute
    return execute


def _as_answer(error: Exception) -> Exception:
    """The error for the caller of a work.

    Our own refusals (a busy conversation) are frequent. They lose their frames, which refer to the group and so to the
    error itself: a reference cycle.
    """
    if isinstance(error, OracleError):
        error.__context__ = None
        return error.with_traceback(None)
    return error


def _notes(parts: Iterable[str]) -> Iterable[str]:
    """The parts joined by commas, as many in each note as a notification takes."""
    note = ""
    for part in parts:
        if note and len(note) + len(part) >= _LONGEST_NOTICE:
            yield note
            note = ""
        note = f"{note},{part}" if note else part
    if note:
        yield note
