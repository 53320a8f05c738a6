"""The interface between the store and its database: a method for each difference between SQLite and PostgreSQL.

`sqlite.SQLite` and `postgresql.PostgreSQL` are its two adapters; nothing else in `storage` asks which database it has.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import ColumnElement, Connection, Engine, Insert, Table
from sqlalchemy.engine import URL

from oracle.core.errors import OperatorError
from oracle.runs.storage.records import ChunkPage

CONNECT_S = 5
"""Seconds that a new connection may take."""

PAGE = 1000
"""Chunks read at a time at most."""

PAGE_BYTES = 1_000_000
"""And their text, except for the last one of a page."""

EVENT_BYTES = 200
"""What an event takes in addition to its text, in the table and its indexes."""

EventRow = tuple[str, int, str, int | None, str | None, str, float]
"""A row of `event`: run_id, seq, kind, chunk_n, step_key, data, at."""

EVENT_COLUMNS = "run_id, seq, kind, chunk_n, step_key, data, at"

Advice = tuple[str, str]
"""A problem with the database and its remedy, for an operator."""


class StoreTroubleError(OperatorError):
    """The database is in a state in which nothing can be written; it may recover."""


class Dialect(Protocol):
    """The operations of one kind of database."""

    name: str
    """The database in messages, without its password."""
    is_shared: bool
    """Several workers may use it at a time, and notify each other."""
    file: Path | None
    """The file of the database, if it is one."""
    advice: Mapping[str, Advice]
    """What to do about an error at the start, by a word of its message."""
    other_advice: Advice
    """The same for all other errors."""

    def __init__(self, url: URL, *, now: Callable[[], float]) -> None: ...

    # Connections

    def engine(self, *, pool_size: int, writes: bool) -> Engine:
        """A pool of connections, for writing or for reading consistent snapshots."""
        ...

    def is_transient(self, error: BaseException, /) -> bool:
        """Whether the driver's error is about the database's state (locked, full, gone): a retry may succeed."""
        ...

    def discard(self, connection: Connection, /) -> None:
        """Discard a connection whose transaction has failed."""
        ...

    # Transactions of the writer

    def begin(self, connection: Connection, /) -> None:
        """Begin a group: a transaction that `enter_fence` follows. It is rolled back when the connection is closed."""
        ...

    def commit(self, connection: Connection, /) -> None:
        """Commit the group."""
        ...

    # Opening

    def acquire(self) -> Callable[[], None]:
        """Lock out other servers, if the database allows only one; returns a function that releases the lock.

        Raises:
            StoreSetupError: another server uses the database, or its folder cannot be used.
        """
        ...

    def begin_migration(self, connection: Connection, /) -> None:
        """Wait until no other worker is migrating."""
        ...

    def protect(self) -> None:
        """Take from other users of the machine the right to read the database's files."""
        ...

    def check(self) -> None:
        """Check, before a commit, that the database is still the one that was opened.

        Raises:
            StoreTroubleError: it is not.
        """
        ...

    # Values

    def clock(self, connection: Connection, /) -> float:
        """Seconds since the epoch by the clock that all workers share."""
        ...

    def up_s(self, connection: Connection, /) -> float:
        """For how many seconds the server has been running."""
        ...

    def next_number(self, connection: Connection, /) -> int:
        """The next number in the order of runs and conversations: greater than all before, whatever clocks say.

        Runs that begin on several workers at the same moment may be numbered either way round.
        """
        ...

    # Locks, held until the end of the transaction

    def lock(self, connection: Connection, name: str, /) -> None:
        """Take the lock of this name among all workers; waits for it."""
        ...

    def try_lock(self, connection: Connection, name: str, /) -> bool:
        """Take the lock of this name unless another worker has it."""
        ...

    def enter_fence(self, connection: Connection, worker: str, /) -> int | None:
        """Keep other workers from taking over the runs of this one until its commit.

        Returns:
            The number of the transaction, for `has_committed`; `None` if the outcome of a commit is always known.
        """
        ...

    def free_locks(self, connection: Connection, names: Sequence[str], /) -> set[str]:
        """Which of these locks nobody holds, not even a connection that keeps it beyond its transactions."""
        ...

    def close_fence(self, connection: Connection, worker: str, /) -> bool:
        """Keep that worker from committing until this transaction has ended; `False` if it is committing now."""
        ...

    def break_fence(self, connection: Connection, worker: str, /) -> None:
        """End the connection with which that worker is committing: its process may have been stopped."""
        ...

    def has_committed(self, connection: Connection, number: int, /) -> bool | None:
        """Whether that transaction was committed; `None` if that is not decided yet."""
        ...

    # Writing

    def insert(self, table: Table, /) -> Insert:
        """An insert that leaves a row alone that is there already: its `rowcount` is 0 then."""
        ...

    def insert_events(self, connection: Connection, rows: Sequence[EventRow], /) -> None:
        """Append to the log, in bulk."""
        ...

    def epochs(self, connection: Connection, run_ids: Collection[str], /) -> dict[str, int]:
        """The current epoch of each of these runs."""
        ...

    def notify(self, connection: Connection, channel: str, notes: Sequence[str], /) -> None:
        """Tell the other workers, with the commit."""
        ...

    # Reading

    def page_after(self, connection: Connection, run_id: str, after: int, user_id: str | None, /) -> ChunkPage | None:
        """The committed chunks of a run after that number, at most `PAGE` and about `PAGE_BYTES` of them.

        Returns:
            `None` if the user (`None`: any user, and shadows of others' runs as well) has no such run, or its texts
            were deleted.
        """
        ...

    def text_bytes(self, column: ColumnElement[Any], /) -> ColumnElement[Any]:
        """SQL for the bytes that a text takes in the database."""
        ...

    def read_bytes(self, column: ColumnElement[Any], /) -> ColumnElement[Any]:
        """SQL for the bytes of a text in UTF-8, as it is read."""
        ...

    def used_bytes(self, connection: Connection, most_bytes: int, /) -> int:
        """About how many bytes are in use; counted closely only where that may be more than `most_bytes`."""
        ...

    def empty_wal(self) -> bool:
        """Empty the log next to the database's file, which keeps deleted texts until they are overwritten.

        Returns:
            Whether nothing of them is left; `False` while other programs use the file.
        """
        ...
