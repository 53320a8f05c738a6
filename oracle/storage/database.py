"""The database behind the store: its address, its connections, and what differs between SQLite and PostgreSQL.

Rules:

- Everything that writes goes through one connection, in one thread (`writer`), in the order in which it was asked for.
- Reads have connections of their own, in a small pool of threads, and never wait for the writer.
- No message holds a password.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import structlog
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from oracle.errors import OperatorError
from oracle.storage.errors import StoreSetupError, StoreUnavailableError

log = structlog.get_logger(__name__)

T = TypeVar("T")

READERS = 4
"""Reads at a time."""
_BUSY_MS = 1000  # how long SQLite waits for another connection's lock before it says so
CONNECT_S = 5
_LONGEST_ID = 64
_WAL_WAIT_S = 0.25  # for readers, while nobody can write
_WAL_BYTES = 64 * 1024 * 1024  # what is kept of the file beside an SQLite database once it was longer
# BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB
_SQLITE_TROUBLE = frozenset({5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26})
# connection, transaction state, rolled back, resources, operator intervention, system error
_POSTGRESQL_TROUBLE = frozenset({"08", "25", "40", "53", "57", "58"})
KEEPALIVE: dict[str, Any] = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""So that a server that is gone without a word is found out within seconds."""
_WRITER_SESSION = (
    "SET lock_timeout = '5s'",  # nobody holds one for so long, but a process that has stopped
    "SET idle_in_transaction_session_timeout = '10s'",  # the server ends such a process's transaction
)


_WRITER_PRAGMAS = (
    f"busy_timeout={_BUSY_MS}",
    "auto_vacuum=INCREMENTAL",  # heard only while the file is empty
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "secure_delete=ON",
    f"journal_size_limit={_WAL_BYTES}",
)
_READER_PRAGMAS = (f"busy_timeout={_BUSY_MS}", "query_only=ON")  # nothing that needs the write lock


class StoreTroubleError(OperatorError):
    """The database is in a state in which nothing can be written; that may pass."""


def read_url(url: str) -> URL:
    """The address, with the driver that we use.

    Raises:
        StoreSetupError: it is none, or of a database that we do not know.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        parsed = None
    backend = parsed.get_backend_name() if parsed is not None else ""
    if parsed is not None and backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed.set(drivername="sqlite+pysqlite")
    if parsed is not None and backend in ("postgresql", "postgres"):
        return parsed.set(drivername="postgresql+psycopg")
    raise StoreSetupError(
        "ORACLE_DATABASE_URL must be postgresql://user:password@host:port/name, or sqlite:////path/to/oracle.db"
    )


def is_passing(error: BaseException) -> bool:
    """Whether the failure is the database's state (locked, full, gone), so that the same may work later."""
    if isinstance(error, StoreTroubleError | PoolTimeoutError):
        return True
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    cause = _driver_error(error)
    if isinstance(cause, sqlite3.Error):
        return (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in _SQLITE_TROUBLE
    if isinstance(cause, psycopg.Error):
        lost = isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
        return lost or (cause.sqlstate or "")[:2] in _POSTGRESQL_TROUBLE
    return False


def is_entrys_fault(error: BaseException) -> bool:
    """Whether it is what was to be written that is wrong, so that it can never be written."""
    cause = _driver_error(error)
    if isinstance(cause, sqlite3.Error | psycopg.Error):
        faults = (sqlite3.IntegrityError, sqlite3.DataError, psycopg.IntegrityError, psycopg.DataError)
        return isinstance(cause, faults)
    return isinstance(cause, ValueError | TypeError | OverflowError)


def _driver_error(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


def may_be_id(text: str) -> bool:
    """Whether a row could have that name; no question for the database otherwise (PostgreSQL chokes on NUL)."""
    return 0 < len(text) <= _LONGEST_ID and text.isascii() and text.isprintable()


LOCK_KEY = "hashtextextended(concat_ws(' ', 'oracle', current_schema(), CAST({0} AS text)), 0)"
"""SQL for the number of an advisory lock: these are of a database, our tables of a schema. {0} is its name."""


def fence_name(worker: str) -> str:
    """The lock that stands between a worker's commits and those who take its runs over."""
    return f"fence {worker}"


def in_words(error: BaseException) -> str:
    """What a database error says, on one line, without statement, values and address."""
    cause = _driver_error(error)
    return " ".join(str(cause).split())[:300] or type(cause).__name__


class Database:
    """Connections to one database.

    Args:
        url: as `read_url` gives it.
        now: seconds since the epoch, where the database itself has no clock.
    """

    def __init__(self, url: URL, *, now: Callable[[], float] = time.time) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self.write_engine = _engine(url, pool_size=1, writes=True)
        self.read_engine = _engine(url, pool_size=READERS, writes=False)
        self.now = now
        self._identity: tuple[int, int] | None = None
        self._is_closed = False
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")

    @property
    def name(self) -> str:
        """What it is called in messages: never with its password."""
        if self.is_sqlite:
            return str(self.url.database)
        return self.url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(str(self.url.database)) if self.is_sqlite else None

    def check_file(self) -> None:
        """See that an SQLite file is still where it was; what is written to one that is not could not be found again.

        Raises:
            StoreTroubleError: it is not.
        """
        file = self.file
        if file is None:
            return
        try:
            found = file.stat()
            identity = (found.st_dev, found.st_ino)
        except OSError:
            identity = None
        self._identity = self._identity or identity
        if identity is None or identity != self._identity:
            raise StoreTroubleError(f"the database file {self.name!r} is gone, or is another one now; put it back")

    def clock(self, connection: Connection) -> float:
        """Seconds since the epoch by the one clock that all workers share."""
        if self.is_sqlite:
            return self.now()
        return float(connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run reads in a thread.

        Raises:
            StoreUnavailableError: the database cannot be read for now.
        """
        if self._is_closed:
            raise StoreUnavailableError("the store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        for attempt in (1, 2):  # a pooled connection may have died meanwhile
            try:
                with self.read_engine.connect() as connection:
                    return work(connection)
            except (DBAPIError, PoolTimeoutError) as error:
                if not is_passing(error):
                    raise
                died = isinstance(error, DBAPIError) and error.connection_invalidated
                if not died or attempt == 2:
                    raise StoreUnavailableError(f"the database cannot be read for now: {in_words(error)}") from None
        raise AssertionError("unreachable")

    async def empty_wal(self) -> bool:
        """Empty the log beside an SQLite file, where texts that were deleted stand until it is written over.

        Returns:
            Whether nothing of them is left; not where others have the file in use just now, until the next time.
        """
        if self.file is None or self._is_closed:
            return self.file is None
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._empty_wal, self.file)

    def _empty_wal(self, file: Path) -> bool:
        try:
            address = f"{file.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=_WAL_WAIT_S)) as connection:
                is_busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            log.warning("wal.not_emptied", problem=in_words(error))
            return False
        return not is_busy

    def close(self) -> None:
        """Close all connections; no read may follow."""
        self._is_closed = True
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.read_engine.dispose()
        self.write_engine.dispose()


def _engine(url: URL, *, pool_size: int, writes: bool) -> Engine:
    pool: dict[str, Any] = {"pool_size": pool_size, "max_overflow": 0, "pool_timeout": CONNECT_S}
    if url.get_backend_name() == "sqlite":
        timeout = {"check_same_thread": False, "timeout": _BUSY_MS / 1000}
        engine = create_engine(url, connect_args=timeout, **pool)
        _prepare_sqlite(engine, writes=writes)
        return engine
    address = {"connect_timeout": CONNECT_S, "application_name": "oracle", **KEEPALIVE}
    engine = create_engine(url, connect_args=address, **pool)
    if writes:
        event.listen(engine, "connect", _set_session)
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def _lower(value: str | None) -> str | None:
    return None if value is None else value.lower()


def _prepare_sqlite(engine: Engine, *, writes: bool) -> None:
    begin, pragmas = ("BEGIN IMMEDIATE", _WRITER_PRAGMAS) if writes else ("BEGIN", _READER_PRAGMAS)

    def connected(connection: Any, _record: object) -> None:  # noqa: ANN401  sqlite3's
        connection.isolation_level = None  # so that it is we who begin transactions
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows ASCII alone

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _set_session(connection: Any, _record: object) -> None:  # noqa: ANN401  psycopg's
    for setting in _WRITER_SESSION:
        connection.execute(setting)
    connection.commit()
