"""Wakes readers in other processes when something has been committed.

SQLite has no notifications: the system says when the file of its log is written. PostgreSQL notifies of new chunks; a
run under way has some with each turn, and its last one with its end.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from oracle.storage.database import Database, in_words
from oracle.storage.errors import StoreUnavailableError

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

    from oracle.storage.commit import CHUNKS_CHANNEL  # noqa: PLC0415
    from oracle.storage.postgresql import KEEPALIVE  # noqa: PLC0415

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
