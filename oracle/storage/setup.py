"""Makes a database ready: the folder, the lock that keeps a second server out, the tables of this version."""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from filelock import FileLock, Timeout
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from oracle.storage.database import LOCK_KEY, Database, in_words
from oracle.storage.errors import StoreSetupError

log = structlog.get_logger(__name__)

_PRIVATE = 0o600
"""The mode of a database's files: conversations stand in them, also where others may look into the folder."""
_BESIDE = ("", "-wal", "-shm", "-journal", ".lock")
_MIGRATIONS = Path(__file__).parent / "migrations"

# A word of the database's own message, and what it means for the operator: what is wrong, and what to do.
_ANOTHER_FILE = "or choose another folder with --data-dir"
_SQLITE_ADVICE = {
    "locked": ("is being written by another program", f"end that one, {_ANOTHER_FILE}"),
    "not a database": ("cannot be opened", f"move the file away to begin a new one, {_ANOTHER_FILE}"),
    "malformed": ("cannot be opened", f"restore it from a copy, move it away to begin a new one, {_ANOTHER_FILE}"),
    "already exists": ("belongs to another program", f"move the file away, {_ANOTHER_FILE}"),
}
_SQLITE_OTHERWISE = ("cannot be opened", f"see that the file and its folder may be written, {_ANOTHER_FILE}")
_REFUSED = ("was refused by its server", "check user and password in ORACLE_DATABASE_URL")
_POSTGRESQL_ADVICE = {
    "password": _REFUSED,
    "authentication": _REFUSED,
    "role ": _REFUSED,
    "pg_hba": ("was refused by its server", "allow this machine and user in the server's pg_hba.conf"),
    "does not exist": ("is not there", "create it, or correct ORACLE_DATABASE_URL"),
    "permission denied": ("may not be used", "give its user the right to create tables in it"),
    "already exists": ("belongs to another program", "choose another one in ORACLE_DATABASE_URL"),
}
_POSTGRESQL_OTHERWISE = ("cannot be reached", "is the server up, and is ORACLE_DATABASE_URL right?")


def prepare(database: Database) -> Callable[[], None]:
    """Lock and migrate the database.

    Returns:
        What gives the lock back.

    Raises:
        StoreSetupError: it cannot be used; the message says what to do.
    """
    unlock = _lock(database.file) if database.file is not None else _nothing
    try:
        with database.write_engine.connect() as connection, connection.begin():
            _migrate(connection, database)
        if database.file is not None:
            _make_private(database.file)
    except DBAPIError as error:
        unlock()
        raise StoreSetupError(_advice(database, in_words(error))) from None
    except BaseException:
        unlock()
        raise
    return unlock


def _nothing() -> None:
    """There is no lock to give back."""


def _lock(file: Path) -> Callable[[], None]:
    real = Path(os.path.realpath(file))  # whoever comes to the file by a link must find the same lock
    lock = FileLock(real.with_name(f"{real.name}.lock"), mode=_PRIVATE, thread_local=False)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # conversations lie in it
        lock.acquire(timeout=0)
        with suppress(FileExistsError):  # made here, because SQLite would make it for everybody to read
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


def _make_private(file: Path) -> None:
    """Take from others the right to read what is there already; files that SQLite makes later are as the database."""
    real = Path(os.path.realpath(file))
    for end in _BESIDE:
        path = real.with_name(real.name + end)
        try:
            if stat.S_IMODE(path.stat().st_mode) & ~_PRIVATE:
                path.chmod(_PRIVATE)
        except FileNotFoundError:
            continue
        except OSError as error:  # another user's file, or a file system without rights
            log.warning("store.not_private", file=str(path), problem=error.strerror)


def _migrate(connection: Connection, database: Database) -> None:
    if not database.is_sqlite:
        connection.execute(text("SET LOCAL lock_timeout = '5min'"))  # another worker may be migrating
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK_KEY.format(':name')})"), {"name": "migration"})
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    script = ScriptDirectory.from_config(config)
    current, newest = MigrationContext.configure(connection).get_current_revision(), script.get_current_head()
    if current == newest:
        return
    if current is not None and current not in {revision.revision for revision in script.walk_revisions()}:
        raise StoreSetupError(
            f"the database {database.name!r} was written by a newer version of Oracle (its schema is {current!r}, "
            f"this one knows {newest!r}); install that version, or choose another database"
        )
    command.upgrade(config, "head")
    log.info("store.migrated", before=current, after=newest)


def _advice(database: Database, problem: str) -> str:
    known = _SQLITE_ADVICE if database.is_sqlite else _POSTGRESQL_ADVICE
    other = _SQLITE_OTHERWISE if database.is_sqlite else _POSTGRESQL_OTHERWISE
    advice = next((advice for word, advice in known.items() if word in problem), other)
    return f"the database {database.name!r} {advice[0]} ({problem}); {advice[1]}"
