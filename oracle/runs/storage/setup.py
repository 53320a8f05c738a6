"""Prepares a database: the lock that keeps a second server out, and the tables of this version."""

from collections.abc import Callable
from pathlib import Path

import structlog
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from oracle.runs.storage.database import Database, in_words
from oracle.runs.storage.errors import StoreSetupError
from oracle.runs.storage.schema import metadata

log = structlog.get_logger(__name__)

_MIGRATIONS = Path(__file__).parent / "migrations"
_VERSIONS = _MIGRATIONS / "versions"
_IS_KEPT_IN = "alembic_version"


def prepare(database: Database) -> Callable[[], None]:
    """Lock and migrate the database.

    Returns:
        What releases the lock.

    Raises:
        StoreSetupError: it cannot be used; the message says what to do.
    """
    from oracle.runs.storage.features import OF_FEATURES  # noqa: PLC0415  defines all tables; readers need few

    dialect = database.dialect
    release = dialect.acquire()
    try:
        with database.write_engine.connect() as connection, connection.begin():
            database.dialect.begin_migration(connection)
            current, newest = _versions(connection, database)
            if current != newest:
                _upgrade(connection)
                log.info("store.migrated", before=current, after=newest)
            of_features = [table for each in OF_FEATURES for table in each.tables]
            metadata.create_all(connection, tables=of_features)  # of those that came after the database was made
        dialect.protect()
    except DBAPIError as error:
        release()
        problem = in_words(error)
        what, remedy = next((known for word, known in dialect.advice.items() if word in problem), dialect.other_advice)
        raise StoreSetupError(f"the database {dialect.name!r} {what} ({problem}); {remedy}") from None
    except BaseException:
        release()
        raise
    return release


def check_version(connection: Connection, database: Database) -> None:
    """Check that the tables are those of this version.

    Raises:
        StoreSetupError: they are older or newer; the message says what to do.
    """
    current, newest = _versions(connection, database)
    if current is None:
        raise StoreSetupError(
            f"the database {database.name!r} has no tables of Oracle; name another one, or start `oracle serve` once, "
            "which makes them"
        )
    if current != newest:
        raise StoreSetupError(
            f"the database {database.name!r} was written by an older version of Oracle (its schema is {current!r}, "
            f"this one reads {newest!r}); start `oracle serve` once, which brings it up to date"
        )


def _versions(connection: Connection, database: Database) -> tuple[str | None, str]:
    """The version of the tables, `None` if there are none, and that of this program.

    Raises:
        StoreSetupError: a newer program has written them, or one from before the oldest migration.
    """
    current, known = _current_version(connection), sorted(path.name[:4] for path in _VERSIONS.glob("[0-9]*.py"))
    if current is not None and current < known[0]:
        raise StoreSetupError(
            f"the database {database.name!r} was written by an early version of Oracle, whose runs cannot be read "
            f"(its schema is {current!r}, the oldest that this one reads is {known[0]!r}); start with another "
            "database: `oracle serve --data-dir FOLDER`, or ORACLE_DATABASE_URL"
        )
    if current is not None and current not in known:
        raise StoreSetupError(
            f"the database {database.name!r} was written by a newer version of Oracle (its schema is {current!r}, "
            f"this one knows {known[-1]!r}); install that version, or choose another database"
        )
    return current, known[-1]


def _current_version(connection: Connection) -> str | None:
    if not inspect(connection).has_table(_IS_KEPT_IN):
        return None
    return connection.exec_driver_sql(f"SELECT version_num FROM {_IS_KEPT_IN}").scalar_one_or_none()  # noqa: S608


def _upgrade(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415  nearly every start finds the tables as they should be
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
