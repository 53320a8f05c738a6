"""The database behind the store: its address, its connections, and what differs between SQLite and PostgreSQL.

Rules:

- Everything that writes goes through one connection, in one thread (`writer`), in the order in which it was asked for.
- Reads have connections of their own, in a small pool of threads, and never wait for the writer.
- No message holds a password.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from oracle.storage.errors import StoreSetupError, StoreUnavailableError

T = TypeVar("T")

READERS = 4
"""Reads at a time."""
_BUSY_MS = 5000  # how long SQLite waits for another connection's lock before it says so
_CONNECT_S = 5


def read_url(url: str) -> URL:
    """The address, with the driver that we use.

    Raises:
        StoreSetupError: it is none, or of a database that we do not know.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
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
    if isinstance(error, PoolTimeoutError):
        return True
    if not isinstance(error, DBAPIError):
        return False
    if error.connection_invalidated or isinstance(error, OperationalError | InterfaceError):
        return True
    code = getattr(error.orig, "sqlstate", None) or ""
    return code[:2] in ("08", "25", "40", "53", "57", "58")


def in_words(error: BaseException) -> str:
    """What a database error says, on one line, without statement, values and address."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
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
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")

    @property
    def name(self) -> str:
        """What it is called in messages: never with its password."""
        return str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=True)

    @property
    def file(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(str(self.url.database)) if self.is_sqlite else None

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

    def close(self) -> None:
        """Close all connections; no read may follow."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.read_engine.dispose()
        self.write_engine.dispose()


def _engine(url: URL, *, pool_size: int, writes: bool) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(
            url,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=_CONNECT_S,
            connect_args={"connect_timeout": _CONNECT_S, "application_name": "oracle"},
        )
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=_CONNECT_S,
        connect_args={"check_same_thread": False, "timeout": _BUSY_MS / 1000},
    )
    begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    def connected(connection: Any, _record: object) -> None:  # noqa: ANN401  sqlite3's
        connection.isolation_level = None  # so that it is we who begin transactions
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={_BUSY_MS}", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}")

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)
    return engine
