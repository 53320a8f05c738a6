"""SQLite: a file for a single server, with one writer and any number of readers."""

import itertools
import math
import os
import sqlite3
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import structlog
from filelock import FileLock, Timeout
from sqlalchemy import ColumnElement, Connection, Engine, Insert, LargeBinary, Table, cast, create_engine, event, func
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL

from oracle.core.encoding import from_json, to_json
from oracle.runs.storage.dialect import (
    CONNECT_S,
    EVENT_COLUMNS,
    PAGE,
    PAGE_BYTES,
    Advice,
    EventRow,
    StoreTroubleError,
)
from oracle.runs.storage.errors import StoreSetupError
from oracle.runs.storage.records import ChunkPage, StoredChunk

log = structlog.get_logger(__name__)

_BUSY_MS = 1000  # how long a connection waits for another one's lock
_WAL_WAIT_S = 0.25  # for readers, while nothing can be written
_WAL_BYTES = 64 * 1024 * 1024  # what is kept of the file next to the database once it was longer
_TRANSIENT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_NOTADB,
    }
)
_WRITER_PRAGMAS = (
    f"busy_timeout={_BUSY_MS}",
    "auto_vacuum=INCREMENTAL",  # takes effect only while the file is empty
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "secure_delete=ON",
    f"journal_size_limit={_WAL_BYTES}",
)
_READER_PRAGMAS = (f"busy_timeout={_BUSY_MS}", "query_only=ON")  # nothing that needs the write lock

_PRIVATE = 0o600
"""The mode of the files: they hold conversations, and other users may be able to look into the folder."""
_BESIDE = ("", "-wal", "-shm", "-journal", ".lock")

_INSERT = f"INSERT INTO event ({EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  constants
_EPOCHS = "SELECT json_group_object(id, epoch) FROM run WHERE id IN (SELECT value FROM json_each(?))"
_NEXT_NUMBER = "SELECT max(coalesce((SELECT max(n) FROM run), 0), coalesce((SELECT max(n) FROM conversation), 0)) + 1"
# A page is read as one row, by one statement, past SQLAlchemy: sqlite3 gives up the interpreter at every step, and gets
# it back from a busy event loop only after a while.
_CHUNKS = f"FROM event WHERE run_id = ?1 AND seq > ?2 AND chunk_n > ?2 ORDER BY seq LIMIT {PAGE}"
_PAGE = f"""
    WITH found AS MATERIALIZED (
        SELECT status, (SELECT coalesce(sum(length(data)), 0) FROM (SELECT data {_CHUNKS})) AS size
        FROM run WHERE id = ?1 AND forgotten_at IS NULL AND texts_dropped_at IS NULL
            AND (?3 IS NULL OR (user_id = ?3 AND shadow_of IS NULL))
    )
    SELECT status, size, CASE WHEN size <= {PAGE_BYTES} THEN (
        SELECT group_concat(data, char(10)) FROM (SELECT data {_CHUNKS})
    ) END
    FROM found
"""  # noqa: S608
_LARGE_PAGE = f"SELECT chunk_n, CAST(data AS BLOB) {_CHUNKS}"

_ANOTHER_FILE = "or choose another folder with --data-dir"


@cache
def _insert(table: Table) -> Insert:
    return sqlite.insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)


class SQLite:
    """The dialect of SQLite. There is one writer, so locks, fences and notifications have nothing to do.

    Args:
        url: `sqlite:///` and the path.
        now: seconds since the epoch: the database has no clock of its own.
    """

    is_shared = False
    advice: Mapping[str, Advice] = {
        "locked": ("is being written by another program", f"end that one, {_ANOTHER_FILE}"),
        "not a database": ("cannot be opened", f"move the file away to begin a new one, {_ANOTHER_FILE}"),
        "malformed": ("cannot be opened", f"restore it from a copy, move it away to begin a new one, {_ANOTHER_FILE}"),
        "already exists": ("belongs to another program", f"move the file away, {_ANOTHER_FILE}"),
    }
    other_advice: Advice = ("cannot be opened", f"see that the file and its folder may be written, {_ANOTHER_FILE}")

    def __init__(self, url: URL, *, now: Callable[[], float]) -> None:
        self.name = str(url.database)
        self.file: Path | None = Path(self.name)
        self._file = Path(self.name)
        self._url = url
        self._now = now
        self._identity: tuple[int, int] | None = None

    def engine(self, *, pool_size: int, writes: bool) -> Engine:
        """A pool of connections; a writing transaction takes the write lock when it begins."""
        options = {"check_same_thread": False, "timeout": _BUSY_MS / 1000}
        engine = create_engine(
            self._url, connect_args=options, pool_size=pool_size, max_overflow=0, pool_timeout=CONNECT_S
        )
        begin, pragmas = ("BEGIN IMMEDIATE", _WRITER_PRAGMAS) if writes else ("BEGIN", _READER_PRAGMAS)

        def connected(connection: sqlite3.Connection, _record: object) -> None:
            connection.isolation_level = None  # transactions are begun by `begun`
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
            connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows ASCII only

        def begun(connection: Connection) -> None:
            if not _driver(connection).in_transaction:  # `begin` has not done it
                connection.exec_driver_sql(begin)

        event.listen(engine, "connect", connected)
        event.listen(engine, "begin", begun)
        return engine

    def is_transient(self, error: BaseException) -> bool:
        """Whether the error tells of the file's state (locked, full, gone)."""
        return isinstance(error, sqlite3.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _TRANSIENT

    def discard(self, connection: Connection) -> None:
        """A connection to a file stays as good as it was."""

    def begin(self, connection: Connection) -> None:
        """Take the write lock; past SQLAlchemy, as for most groups of events it would have nothing else to do."""
        _driver(connection).execute("BEGIN IMMEDIATE")

    def commit(self, connection: Connection) -> None:
        """Commit, also where SQLAlchemy has not seen that there is something to commit."""
        if connection.in_transaction():
            connection.commit()
        else:
            _driver(connection).commit()

    def acquire(self) -> Callable[[], None]:
        """Take the lock file next to the database, and make the folder and an empty database where there is none."""
        file = self._file
        real = Path(os.path.realpath(file))  # a link to the file must lead to the same lock
        lock = FileLock(real.with_name(f"{real.name}.lock"), mode=_PRIVATE, thread_local=False)
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # conversations lie in it
            lock.acquire(timeout=0)
            with suppress(FileExistsError):  # made here, because SQLite would let every user read it
                os.close(os.open(real, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _PRIVATE))
        except Timeout:
            raise StoreSetupError(
                f"the database {str(file)!r} is in use by another 'oracle serve'; stop that one, choose another folder "
                "with --data-dir, or set ORACLE_DATABASE_URL to a PostgreSQL server, which several may share"
            ) from None
        except OSError as error:
            lock.release()
            raise StoreSetupError(
                f"{str(file.parent)!r} cannot be used as a folder for the database ({error.strerror}); "
                "choose another one with --data-dir or ORACLE_DATA_DIR"
            ) from None
        return lock.release

    def begin_migration(self, connection: Connection) -> None:
        """The lock file keeps other servers out."""

    def protect(self) -> None:
        """Make the existing files private; SQLite gives later ones the mode of the database."""
        real = Path(os.path.realpath(self._file))
        for suffix in _BESIDE:
            path = real.with_name(real.name + suffix)
            try:
                if stat.S_IMODE(path.stat().st_mode) & ~_PRIVATE:
                    path.chmod(_PRIVATE)
            except FileNotFoundError:
                continue
            except OSError as error:  # another user's file, or a file system without modes
                log.warning("store.not_private", file=str(path), problem=error.strerror)

    def check(self) -> None:
        """See that the file is still where it was: what is written to one that was moved could not be found again."""
        try:
            found = self._file.stat()
            identity = (found.st_dev, found.st_ino)
        except OSError:
            identity = None
        self._identity = self._identity or identity
        if identity is None or identity != self._identity:
            raise StoreTroubleError(f"the database file {self.name!r} is gone, or is another one now; put it back")

    def clock(self, _connection: Connection) -> float:
        """The clock of the only worker."""
        return self._now()

    def up_s(self, _connection: Connection) -> float:
        """There is no server that could have been restarted."""
        return math.inf

    def next_number(self, connection: Connection) -> int:
        """One more than the greatest; there is no other writer."""
        return int(_driver(connection).execute(_NEXT_NUMBER).fetchone()[0])

    def lock(self, connection: Connection, name: str) -> None:
        """The transaction has the write lock."""

    def try_lock(self, _connection: Connection, _name: str) -> bool:
        """The transaction has the write lock."""
        return True

    def enter_fence(self, _connection: Connection, _worker: str) -> None:
        """No other worker takes anything over, and a commit to a file always says what became of it."""

    def free_locks(self, _connection: Connection, _names: Sequence[str]) -> set[str]:
        """No other worker holds one."""
        return set()

    def close_fence(self, _connection: Connection, _worker: str) -> bool:
        """No other worker commits."""
        return True

    def break_fence(self, _connection: Connection, _worker: str) -> None:
        """No other worker commits."""

    def has_committed(self, _connection: Connection, _number: int) -> None:
        """Never in doubt: `enter_fence` gives no number."""

    def insert(self, table: Table) -> Insert:
        """An insert that leaves an existing row alone."""
        return _insert(table)

    def insert_events(self, connection: Connection, rows: Sequence[EventRow]) -> None:
        """Append to the log by one prepared statement."""
        _driver(connection).executemany(_INSERT, rows)

    def epochs(self, connection: Connection, run_ids: Collection[str]) -> dict[str, int]:
        """The current epoch of each of these runs, as one row, for the reason that a page has."""
        row = _driver(connection).execute(_EPOCHS, (to_json(list(run_ids)).decode(),)).fetchone()
        found: dict[str, int] = from_json(row[0])
        return found

    def notify(self, connection: Connection, channel: str, notes: Sequence[str]) -> None:
        """There is no other worker."""

    def page_after(self, connection: Connection, run_id: str, after: int, user_id: str | None) -> ChunkPage | None:
        """The next page of chunks; each is one line of JSON, so they come as lines of one text."""
        driver = _driver(connection)
        found = driver.execute(_PAGE, (run_id, after, user_id)).fetchone()
        if found is None:
            return None
        status, size, lines = found
        if size > PAGE_BYTES:
            return ChunkPage(_chunks_that_fit(driver.execute(_LARGE_PAGE, (run_id, after))), is_last=False)
        data = [] if lines is None else lines.encode().split(b"\n")
        chunks = list(map(StoredChunk, itertools.count(after + 1), data))
        return ChunkPage(chunks, status == "finished" and len(chunks) < PAGE)

    def text_bytes(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """The length of the text as a blob; that of a text is counted in characters."""
        return func.length(cast(column, LargeBinary))

    def read_bytes(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """The same: a file keeps texts as they are."""
        return self.text_bytes(column)

    def used_bytes(self, connection: Connection, _most_bytes: int) -> int:
        """The pages of the file that are not free."""
        pages, free, page_bytes = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("page_count", "freelist_count", "page_size")
        )
        return int((pages - free) * page_bytes)

    def empty_wal(self) -> bool:
        """Write the log back into the file, and truncate it."""
        try:
            address = f"{self._file.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=_WAL_WAIT_S)) as connection:
                is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            log.warning("wal.not_emptied", problem=str(error))
            return False
        return not is_busy


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)  # noqa: S101  the engine's driver
    return driver


def _lower(value: str | None) -> str | None:
    return None if value is None else value.lower()


def _chunks_that_fit(rows: Iterable[tuple[int, bytes]]) -> list[StoredChunk]:
    """The first rows, read one by one and no further than a page goes."""
    chunks: list[StoredChunk] = []
    room = PAGE_BYTES
    for row in rows:
        chunks.append(StoredChunk(*row))
        room -= len(row[1])
        if room <= 0:
            break
    return chunks
