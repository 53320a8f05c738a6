"""Prepares a database: the lock that keeps a second server out, and the tables of this version."""

from collections.abc import Callable
from pathlib import Path

import structlog
from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from oracle.storage.database import Database, in_words
from oracle.storage.dialect import Dialect
from oracle.storage.errors import StoreSetupError

log = structlog.get_logger(__name__)

_MIGRATIONS = Path(__file__).parent / "migrations"


def prepare(database: Database) -> Callable[[], None]:
    """Lock and migrate the database.

    Returns:
        What releases the lock.

    Raises:
        StoreSetupError: it cannot be used; the message says what to do.
    """
    dialect = database.dialect
    release = dialect.acquire()
    try:
        with database.write_engine.connect() as connection, connection.begin():
            _migrate(connection, database)
        dialect.protect()
    except DBAPIError as error:
        release()
        raise StoreSetupError(_advice(dialect, in_words(error))) from None
    except BaseException:
        release()
        raise
    return release


def _migrate(connection: Connection, database: Database) -> None:
    database.dialect.begin_migration(connection)
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


def _advice(dialect: Dialect, problem: str) -> str:
    what, remedy = next((known for word, known in dialect.advice.items() if word in problem), dialect.other_advice)
    return f"the database {dialect.name!r} {what} ({problem}); {remedy}"
