"""PostgreSQL: a server that any number of workers share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import ColumnElement, Connection, Engine, Insert, Table, create_engine, event, func
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry

from oracle.runs.storage.dialect import CONNECT_S, EVENT_BYTES, EVENT_COLUMNS, PAGE, PAGE_BYTES, Advice, EventRow
from oracle.runs.storage.records import ChunkPage, StoredChunk
from oracle.runs.storage.schema import metadata

KEEPALIVE: dict[str, Any] = {
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""A server that vanished without closing its connections is noticed within seconds."""

# Classes of SQLSTATE: connection, transaction state, rolled back, resources, operator intervention, system error
_TRANSIENT = frozenset({"08", "25", "40", "53", "57", "58"})
# Only a process that was stopped holds a lock for longer, and the server ends such a process's transaction.
_LIMITS = "SET {scope} lock_timeout = '5s'; SET {scope} idle_in_transaction_session_timeout = '10s'"
_LIMITS_OF_SESSION, _LIMITS_OF_TRANSACTION = _LIMITS.format(scope="SESSION"), _LIMITS.format(scope="LOCAL")
_SHARED = "has_session_of_others"

# Advisory locks belong to a database, our tables to a schema: so the schema is part of a lock's name.
_LOCK_KEY = "hashtextextended(concat_ws(' ', 'oracle', current_schema(), CAST(%s AS text)), 0)"
_LOCK = f"SELECT pg_advisory_xact_lock({_LOCK_KEY})"
_TRY_LOCK = f"SELECT pg_try_advisory_xact_lock({_LOCK_KEY})"
HOLD_LOCK = f"SELECT pg_try_advisory_lock({_LOCK_KEY})"
"""Takes a lock for as long as the connection lasts, if it is free."""
_FREE_LOCKS = f"""
    SELECT name FROM unnest(%s::text[]) AS name WHERE pg_try_advisory_xact_lock_shared({_LOCK_KEY % "name"})
"""  # noqa: S608  constants
# The timeout of idle transactions does not end one that waits for the rest of a COPY.
_BREAK_FENCE = f"""
    SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND ((classid::bigint << 32) | objid::bigint) = {_LOCK_KEY}
"""  # noqa: S608  constants
OWN_PID = "SELECT pg_backend_pid()"
_UP_S = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())"
_ENTER_FENCE = f"SELECT pg_advisory_xact_lock_shared({_LOCK_KEY}), txid_current()"

_COPY = f"COPY event ({EVENT_COLUMNS}) FROM STDIN"
_EPOCHS = "SELECT id, epoch FROM run WHERE id = ANY(%s)"
_NOTIFY = "SELECT pg_notify(%s, note) FROM unnest(%s::text[]) AS note"
_RUN = """
    SELECT status, CASE WHEN shadow_of IS NULL THEN user_id END AS reader
    FROM run WHERE id = %s AND forgotten_at IS NULL AND texts_dropped_at IS NULL
"""
# The driver reads all rows of an answer: so the server leaves out those that would not fit into the page.
_PAGE = f"""
    SELECT chunk_n, data FROM (
        SELECT chunk_n, data, sum(length(data)) OVER (ORDER BY seq) - length(data) AS before
        FROM event WHERE run_id = %(run_id)s AND seq > %(after)s AND chunk_n > %(after)s ORDER BY seq LIMIT {PAGE}
    ) AS page WHERE before < {PAGE_BYTES}
"""  # noqa: S608  constants
_EVENT_BYTES = f"SELECT coalesce(sum(pg_column_size(data) + {EVENT_BYTES}), 0)::bigint FROM event"  # noqa: S608  constants

_REFUSED = ("was refused by its server", "check user and password in ORACLE_DATABASE_URL")


@cache
def _insert(table: Table) -> Insert:
    return postgresql.insert(table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)


class PostgreSQL:
    """The dialect of PostgreSQL.

    Args:
        url: the address of the server, with the password.
        now: not used: the server's clock is the one that all workers share.
    """

    is_shared = True
    file: Path | None = None
    advice: Mapping[str, Advice] = {
        "password": _REFUSED,
        "authentication": _REFUSED,
        "role ": _REFUSED,
        "pg_hba": ("was refused by its server", "allow this machine and user in the server's pg_hba.conf"),
        "does not exist": ("is not there", "create it, or correct ORACLE_DATABASE_URL"),
        "permission denied": ("may not be used", "give its user the right to create tables in it"),
        "already exists": ("belongs to another program", "choose another one in ORACLE_DATABASE_URL"),
    }
    other_advice: Advice = ("cannot be reached", "is the server up, and is ORACLE_DATABASE_URL right?")

    def __init__(self, url: URL, *, now: Callable[[], float]) -> None:  # noqa: ARG002
        self.name = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
        self._url = url

    def engine(self, *, pool_size: int, writes: bool) -> Engine:
        """A pool of connections; readers see one snapshot in a transaction."""
        address = {"connect_timeout": CONNECT_S, "application_name": "oracle", **KEEPALIVE}
        engine = create_engine(
            self._url, connect_args=address, pool_size=pool_size, max_overflow=0, pool_timeout=CONNECT_S
        )
        event.listen(engine, "connect", _note_session)
        if writes:
            event.listen(engine, "connect", _limit_session)
            event.listen(engine, "begin", _limit_transaction)
            return engine
        return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def is_transient(self, error: BaseException) -> bool:
        """Whether the error tells of the server's state (gone, restarting, out of something)."""
        if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            return True
        return isinstance(error, psycopg.Error) and (error.sqlstate or "")[:2] in _TRANSIENT

    def discard(self, connection: Connection) -> None:
        """Close it, in whatever state it is: a new one is cheap."""
        connection.invalidate()

    def begin(self, _connection: Connection) -> None:
        """The first statement begins it."""

    def commit(self, connection: Connection) -> None:
        """Commit what `enter_fence` has begun."""
        connection.commit()

    def acquire(self) -> Callable[[], None]:
        """Other workers are welcome."""
        return _release_nothing

    def begin_migration(self, connection: Connection) -> None:
        """Take the lock of migrations; another worker may be migrating for minutes."""
        connection.exec_driver_sql("SET LOCAL lock_timeout = '5min'")
        self.lock(connection, "migration")
        for index in (index for table in metadata.tables.values() for index in table.indexes):
            # Said here alone: an index loads each dialect that it names, also where there is SQLite.
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]

    def protect(self) -> None:
        """The server guards its files."""

    def check(self) -> None:
        """The connection says itself when the server is gone."""

    def clock(self, connection: Connection) -> float:
        """The server's clock."""
        return float(connection.exec_driver_sql("SELECT extract(epoch FROM clock_timestamp())").scalar_one())

    def up_s(self, connection: Connection) -> float:
        """By the server's clock."""
        return float(connection.exec_driver_sql(_UP_S).scalar_one())

    def next_number(self, connection: Connection) -> int:
        """From a sequence."""
        return int(connection.exec_driver_sql("SELECT nextval('order_of_use')").scalar_one())

    def lock(self, connection: Connection, name: str) -> None:
        """Take an advisory lock."""
        connection.exec_driver_sql(_LOCK, (name,))

    def try_lock(self, connection: Connection, name: str) -> bool:
        """Take an advisory lock, if it is free."""
        return bool(connection.exec_driver_sql(_TRY_LOCK, (name,)).scalar_one())

    def enter_fence(self, connection: Connection, worker: str) -> int:
        """Hold the worker's fence shared: others of its transactions may hold it too."""
        return int(connection.exec_driver_sql(_ENTER_FENCE, (_fence(worker),)).one()[1])

    def free_locks(self, connection: Connection, names: Sequence[str]) -> set[str]:
        """Hold them shared until the end of the transaction: others may look at the same time."""
        return set(connection.exec_driver_sql(_FREE_LOCKS, (list(names),)).scalars()) if names else set()

    def close_fence(self, connection: Connection, worker: str) -> bool:
        """Hold the worker's fence exclusively."""
        return self.try_lock(connection, _fence(worker))

    def break_fence(self, connection: Connection, worker: str) -> None:
        """A worker that lives writes the same again, on another connection."""
        connection.exec_driver_sql(_BREAK_FENCE, (_fence(worker),))

    def has_committed(self, connection: Connection, number: int) -> bool | None:
        """Ask the server, which remembers the outcome of transactions."""
        status = connection.exec_driver_sql("SELECT txid_status(%s)", (number,)).scalar_one()
        return None if status == "in progress" else status == "committed"

    def insert(self, table: Table) -> Insert:
        """An insert that leaves an existing row alone; waits for another worker that is inserting it."""
        return _insert(table)

    def insert_events(self, connection: Connection, rows: Sequence[EventRow]) -> None:
        """Append to the log by COPY."""
        driver: Any = connection.connection.driver_connection
        with driver.cursor() as cursor, cursor.copy(_COPY) as copy:
            for row in rows:
                copy.write_row(row)

    def epochs(self, connection: Connection, run_ids: Collection[str]) -> dict[str, int]:
        """The current epoch of each of these runs."""
        return {row.id: row.epoch for row in connection.exec_driver_sql(_EPOCHS, (list(run_ids),))}

    def notify(self, connection: Connection, channel: str, notes: Sequence[str]) -> None:
        """Send all of them by one statement."""
        connection.exec_driver_sql(_NOTIFY, (channel, list(notes)))

    def page_after(self, connection: Connection, run_id: str, after: int, user_id: str | None) -> ChunkPage | None:
        """The next page of chunks."""
        found = connection.exec_driver_sql(_RUN, (run_id,)).one_or_none()
        if found is None or user_id not in (None, found.reader):
            return None
        rows: Any = connection.exec_driver_sql(_PAGE, {"run_id": run_id, "after": after}).cursor
        chunks = [StoredChunk(n, data.encode()) for n, data in rows]
        is_full = len(chunks) == PAGE or sum(len(chunk.data) for chunk in chunks) >= PAGE_BYTES
        return ChunkPage(chunks, found.status == "finished" and not is_full)

    def text_bytes(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """The size of the text as it is kept, compressed or not."""
        return func.pg_column_size(column)

    def read_bytes(self, column: ColumnElement[Any]) -> ColumnElement[Any]:
        """The size of the text when it is not compressed."""
        return func.octet_length(column)

    def used_bytes(self, connection: Connection, most_bytes: int) -> int:
        """The size of the log: of its table, or, since that does not shrink when rows are deleted, of its rows."""
        whole = int(connection.exec_driver_sql("SELECT pg_total_relation_size('event')").scalar_one())
        if whole <= most_bytes:
            return whole
        return min(whole, int(connection.exec_driver_sql(_EVENT_BYTES).scalar_one()))

    def empty_wal(self) -> bool:
        """The server keeps its log to itself."""
        return True


def _release_nothing() -> None:
    """No lock was taken."""


def _fence(worker: str) -> str:
    """The lock between a worker's commits and those who take its runs over."""
    return f"fence {worker}"


def is_own_session(
    connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], found: tuple[Any, ...] | None
) -> bool:
    """Whether all transactions of the connection are those of one process of the server.

    A pooler gives its clients ids of its own, and may give each transaction another process.

    Args:
        connection: an open connection.
        found: the row that `OWN_PID` has returned on it.
    """
    return found is not None and found[0] == connection.info.backend_pid


def _note_session(connection: psycopg.Connection[Any], record: ConnectionPoolEntry) -> None:
    if not is_own_session(connection, connection.execute(OWN_PID.encode()).fetchone()):
        connection.prepare_threshold = None  # what one process has prepared another one does not know
        record.info[_SHARED] = True
    connection.rollback()


def _limit_session(connection: psycopg.Connection[Any], record: ConnectionPoolEntry) -> None:
    if _SHARED not in record.info:
        connection.execute(_LIMITS_OF_SESSION.encode())
        connection.commit()


def _limit_transaction(connection: Connection) -> None:
    if _SHARED in connection.info:
        connection.exec_driver_sql(_LIMITS_OF_TRANSACTION)
