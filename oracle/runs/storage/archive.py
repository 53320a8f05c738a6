"""Reads the runs of a database, also while a service is writing to it.

The service has a `Store`, which only it may open. Reports, replays and judgments have an `Archive`, which takes no lock
and writes nothing but histories that it has made, and only where it can. SQLite has no notifications: the operating
system reports writes to its log file. PostgreSQL notifies of new chunks; a run under way has some with each turn, and
its last one with its end.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from sqlalchemy import ColumnElement, Connection, func, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from bt_runtime.text.data import dataclass
from oracle.runs.storage import schema
from oracle.runs.storage.database import Database, in_words, may_be_id, read_url
from oracle.runs.storage.errors import StoreSetupError, StoreUnavailableError, UnclearRunError
from oracle.runs.storage.histories import find_history, put_history
from oracle.runs.storage.prompts import find_prompt
from oracle.runs.storage.records import EventKind, LogEntry, RunRecord, record_of
from oracle.runs.storage.run_pages import RunFilter, find_run, matching_runs
from oracle.runs.storage.setup import check_version
from oracle.runs.storage.trees import TreeVersion, find_version

_run, _event = schema.run, schema.event
_MOST_LIKE_IT = 5
_ALL = 2**31 - 1
_EVENT_FIELDS = ("run_id", "seq", "kind", "data", "at", "chunk_n", "step_key")


@dataclass(frozen=True, slots=True)
class Archive:
    """The runs of a database; `open_archive` opens it."""

    database: Database

    async def find(self, beginning: str) -> RunRecord:
        """The run with that id, or the only one whose id begins so.

        Raises:
            UnclearRunError: there is none, or more than one.
            StoreUnavailableError: the database cannot be read at present.
        """
        if not may_be_id(beginning):
            raise UnclearRunError(beginning)
        query = select(_run.c.id).where(_run.c.id.startswith(beginning, autoescape=True))
        query = query.order_by(_run.c.n.desc()).limit(_MOST_LIKE_IT + 1)

        def work(connection: Connection) -> RunRecord:
            found = find_run(connection, beginning)
            if found is None:
                ids = [row.id for row in connection.execute(query)]
                found = find_run(connection, ids[0]) if len(ids) == 1 else None
                if found is None:
                    raise UnclearRunError(beginning, ids)
            return found

        return await self.database.read(work)

    async def last_beat(self, worker: str) -> float | None:
        """The last heartbeat of a worker, by the database's clock; `None`: there is none any more.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        query = select(schema.worker.c.beat_at).where(schema.worker.c.name == worker)
        return await self.database.read(lambda connection: connection.execute(query).scalar())

    async def runs(
        self, *, tree: str, limit: int | None = None, since: float | None = None, with_forgotten: bool = False
    ) -> list[RunRecord]:
        """The finished runs of a tree whose texts are still there, newest first; shadow runs are left out.

        Args:
            tree: the name under which they were asked for.
            limit: the greatest number of runs; `None`: all.
            since: only those that began at this time or later, in seconds since the epoch.
            with_forgotten: those whose texts have been deleted as well.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        wanted = (_run.c.tree == tree) & (_run.c.status == "finished") & _run.c.tree_sha.is_not(None)
        wanted &= _run.c.shadow_of.is_(None)
        if not with_forgotten:
            wanted &= _run.c.forgotten_at.is_(None) & _run.c.texts_dropped_at.is_(None)
        if since is not None:
            wanted &= _run.c.created_at >= since
        query = select(_run).where(wanted).order_by(_run.c.n.desc(), _run.c.id.desc()).limit(limit)
        return await self.database.read(lambda connection: [record_of(row) for row in connection.execute(query)])

    async def matching(self, wanted: RunFilter, *, limit: int) -> list[RunRecord]:
        """The newest runs that the filter lets through, newest first; those under way as well.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        now = self.database.now()
        return await self.database.read(partial(matching_runs, wanted=wanted, limit=limit, now=now))

    async def events(
        self, run_id: str, *, kinds: Collection[EventKind] | None = None, after_seq: int = 0, limit: int = _ALL
    ) -> list[LogEntry]:
        """The committed events of a run after number `after_seq`, in order; at most `limit`.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        query = read_events(run_id, kinds=kinds, after_seq=after_seq, limit=limit)
        return await self.database.read(query)

    def changes(self) -> AsyncGenerator[None, None]:
        """Wake up whenever something has been committed by any process, at once, and then again and again.

        Raises:
            StoreUnavailableError: the database cannot be watched.
        """
        return commits(self.database)

    async def prompt(self, sha: str) -> str | None:
        """The system prompt with that digest; `None` if no run needs it any more."""
        return await self.database.read(lambda connection: find_prompt(connection, sha))

    async def history(self, run_id: str, *, made_by: str) -> bytes | None:
        """The history that this version of the program has kept of a run; `None` if it has none.

        Raises:
            StoreUnavailableError: the database cannot be read at present.
        """
        return await self.database.read(partial(find_history, run_id=run_id, made_by=made_by))

    async def keep_history(self, run_id: str, data: bytes, *, made_by: str) -> None:
        """Keep the history of a run. It can be made again: where the database cannot be written, it is not kept."""

        def work() -> None:
            with self.database.write_engine.connect() as connection, connection.begin():
                put_history(connection, run_id, data, made_by=made_by)

        with suppress(SQLAlchemyError):
            await asyncio.to_thread(work)

    async def tree(self, sha: str) -> TreeVersion | None:
        """The version of a tree with that digest, or the only one whose digest begins so; else `None`."""
        return await self.database.read(lambda connection: find_version(connection, sha))


@asynccontextmanager
async def open_archive(url: str, *, now: Callable[[], float] = time.time) -> AsyncIterator[Archive]:
    """Open a database for reading; a service may be using it.

    Args:
        url: the address of the database, as `open_store` takes it.
        now: seconds since the epoch.

    Raises:
        StoreSetupError: there is no such database, or this version of the program cannot read it.
    """
    database = Database(read_url(url), now=now)
    try:
        if database.file is not None and not database.file.is_file():
            raise StoreSetupError(
                f"there is no database {database.name!r}; it is made by `oracle serve` (`oracle ask` records nothing), "
                "or named by --data-dir"
            )
        await asyncio.get_running_loop().run_in_executor(None, _check, database)
        yield Archive(database)
    finally:
        database.close()


def _check(database: Database) -> None:
    try:
        with database.read_engine.connect() as connection:
            check_version(connection, database)
    except DBAPIError as error:
        raise StoreSetupError(f"the database {database.name!r} cannot be read: {in_words(error)}") from None


def read_events(
    run_id: str,
    *,
    kinds: Collection[EventKind] | None = None,
    after_seq: int = 0,
    limit: int,
    size: tuple[int, ColumnElement[int]] | None = None,
) -> Callable[[Connection], list[LogEntry]]:
    """Reads committed events, in order; `size`: the greatest sum of sizes, and the size of an event."""
    wanted = (_event.c.run_id == run_id) & (_event.c.seq > after_seq)
    if kinds is not None:
        wanted &= _event.c.kind.in_(sorted(kinds))
    query = select(*(_event.c[name] for name in _EVENT_FIELDS)).where(wanted)
    query = query.order_by(_event.c.seq).limit(limit)
    if size is not None:
        most, bytes_ = size
        up_to = func.sum(bytes_).over(order_by=_event.c.seq)
        sized = query.add_columns(up_to.label("up_to"), bytes_.label("bytes")).subquery()
        # The sum up to an event is its own size for the first alone.
        fits = (sized.c.up_to <= most) | (sized.c.up_to == sized.c.bytes)
        query = select(*(sized.c[name] for name in _EVENT_FIELDS)).where(fits).order_by(sized.c.seq)
    return lambda connection: [LogEntry(*row) for row in connection.execute(query)]


_DEBOUNCE_MS = 50


def commits(database: Database) -> AsyncGenerator[None, None]:
    """Yields at once, and then whenever something may have been committed; ends with its consumer.

    Raises:
        StoreUnavailableError: the database cannot be watched.
    """
    return _of_server(database) if database.file is None else _of_file(database.file)


async def _of_file(file: Path) -> AsyncGenerator[None, None]:
    import watchfiles  # noqa: PLC0415  loads a library that only watching needs

    stop = asyncio.Event()
    names = {file.name, f"{file.name}-wal"}
    changes = watchfiles.awatch(
        file.parent,
        watch_filter=lambda _, path: Path(path).name in names,
        debounce=_DEBOUNCE_MS,
        step=_DEBOUNCE_MS // 2,
        rust_timeout=0,
        stop_event=stop,
        recursive=False,
    )
    first = asyncio.ensure_future(anext(changes, None))
    await asyncio.sleep(0)  # it watches before the consumer looks for the first time: no change is missed
    try:
        yield
        while await first is not None:
            yield
            first = asyncio.ensure_future(anext(changes, None))
    except OSError as error:
        raise StoreUnavailableError(f"the database {str(file)!r} cannot be watched: {error}") from None
    finally:
        stop.set()
        first.cancel()
        await asyncio.wait({first})
        await changes.aclose()


async def _of_server(database: Database) -> AsyncGenerator[None, None]:
    import psycopg  # noqa: PLC0415  not with SQLite

    from oracle.runs.storage.commit import CHUNKS_CHANNEL  # noqa: PLC0415
    from oracle.runs.storage.postgresql import KEEPALIVE  # noqa: PLC0415

    address = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        connection = await psycopg.AsyncConnection.connect(
            address, autocommit=True, application_name="oracle-watch", **KEEPALIVE
        )
        async with connection, aclosing(connection.notifies()) as notices:
            await connection.execute(f"LISTEN {CHUNKS_CHANNEL}".encode())
            yield
            async for _ in notices:
                yield
    except psycopg.Error as error:
        raise StoreUnavailableError(f"the database cannot be watched: {in_words(error)}") from None
