"""The database behind the store: its address, its connections, its errors.

Rules:

- Everything that writes goes through one connection, in one thread (`writer`), in the order in which it was requested.
- Reads have connections of their own, in a small pool of threads, and never wait for the writer.
- Each thing that SQLite and PostgreSQL do differently is a method of the database's `dialect`.
- No message contains a password.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from oracle.runs.storage.dialect import Dialect, StoreTroubleError
from oracle.runs.storage.errors import StoreSetupError, StoreUnavailableError
from oracle.runs.storage.sqlite import SQLite

T = TypeVar("T")

READERS = 4
"""Reads at a time."""
_LONGEST_ID = 64


def read_url(url: str) -> URL:
    """The address, with the driver that is used for it.

    Raises:
        StoreSetupError: it is no address, or that of an unknown kind of database.
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


def may_be_shared(url: str) -> bool:
    """Whether several processes may have the database at a time; the same as `Dialect.is_shared`, without opening it.

    Raises:
        StoreSetupError: see `read_url`.
    """
    return read_url(url).get_backend_name() != "sqlite"


def _dialect_of(url: URL, *, now: Callable[[], float]) -> Dialect:
    if url.get_backend_name() == "sqlite":
        return SQLite(url, now=now)
    try:
        from oracle.runs.storage.postgresql import PostgreSQL  # noqa: PLC0415  its driver takes a twentieth of a start
    except ImportError as error:
        raise StoreSetupError(f"PostgreSQL needs the extra: pip install 'oracle-bt[postgres]' ({error})") from None
    return PostgreSQL(url, now=now)


def may_be_id(text: str) -> bool:
    """Whether a row could have that id. Others are not looked up: PostgreSQL refuses NUL in a text."""
    return 0 < len(text) <= _LONGEST_ID and text.isascii() and text.isprintable()


def in_words(error: BaseException) -> str:
    """The message of a database error on one line, without statement, values and address."""
    cause = _driver_error(error)
    return " ".join(str(cause).split())[:300] or type(cause).__name__


def _driver_error(error: BaseException) -> BaseException:
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error


class Database:
    """Connections to one database.

    Args:
        now: seconds since the epoch, where the database itself has no clock.

    Raises:
        StoreSetupError: the driver of PostgreSQL is not installed.
    """

    def __init__(self, url: URL, *, now: Callable[[], float] = time.time) -> None:
        self.url = url
        self.dialect = _dialect_of(url, now=now)
        self.write_engine = self.dialect.engine(pool_size=1, writes=True)
        self.read_engine = self.dialect.engine(pool_size=READERS, writes=False)
        self.now = now
        self._writing: Connection | None = None
        self._is_closed = False
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")

    @property
    def name(self) -> str:
        """The database in messages: never with its password."""
        return self.dialect.name

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return self.dialect.file

    def is_transient(self, error: BaseException) -> bool:
        """Whether the error tells of the database's state (locked, full, gone), so that a retry may succeed."""
        if isinstance(error, StoreTroubleError | PoolTimeoutError):
            return True
        if isinstance(error, DBAPIError) and error.connection_invalidated:
            return True
        return self.dialect.is_transient(_driver_error(error))

    def is_data_error(self, error: BaseException) -> bool:
        """Whether the values themselves are wrong, so that they can never be written."""
        cause, driver = _driver_error(error), self.write_engine.dialect.loaded_dbapi
        if isinstance(cause, driver.Error):
            return isinstance(cause, driver.IntegrityError | driver.DataError)
        return isinstance(cause, ValueError | TypeError | OverflowError)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """The connection of the writer's thread; its transaction is over at the end, or rolled back by an exception.

        It is kept between two commits: to take it from its pool costs as much as a small commit without its statements.
        """
        connection, self._writing = self._writing or self.write_engine.connect(), None
        try:
            yield connection
        except Exception:
            self.dialect.discard(connection)
            connection.close()
            raise
        self._writing = connection

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run reads in a thread.

        Raises:
            StoreUnavailableError: the database cannot be read for now.
        """
        if self._is_closed:
            raise StoreUnavailableError("the store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._read, work)

    def _read(self, work: Callable[[Connection], T]) -> T:
        for attempt in (1, 2):  # a pooled connection may have died; the pool gives up all of them then
            try:
                with self.read_engine.connect() as connection:
                    return work(connection)
            except Exception as error:
                if not self.is_transient(error):
                    raise
                has_died = isinstance(error, DBAPIError) and error.connection_invalidated
                if not has_died or attempt == 2:
                    raise StoreUnavailableError(f"the database cannot be read for now: {in_words(error)}") from None
        raise AssertionError("unreachable")

    async def empty_wal(self) -> bool:
        """Empty the log next to the database's file; `False` if deleted texts may still stand in it."""
        if self._is_closed:
            return False
        return await asyncio.get_running_loop().run_in_executor(self._threads, self.dialect.empty_wal)

    def close(self) -> None:
        """Close all connections; no read may follow."""
        self._is_closed = True
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.read_engine.dispose()
        if self._writing is not None:
            self._writing.close()
        self.write_engine.dispose()
