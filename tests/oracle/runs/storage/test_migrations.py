"""The migrations make the tables that the code knows."""

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect, text

import oracle.runs.storage.migrations
from oracle.runs.storage import schema
from oracle.runs.storage.database import Database, read_url
from oracle.runs.storage.store import open_store
from tests.oracle.runs.storage.making import beats

FIRST_RUNS = """
    INSERT INTO run (id, user_id, context_id, worker, heartbeat_at, epoch, tree, input, limits, status, created_at,
                     deadline_at, finished_at)
    VALUES ('old', 'ann', 'c-old', 'w', 1, 1, 'oracle', '{}', '{}', 'finished', 10, 20, 15),
           ('new', 'ann', 'c-new', 'w', 1, 1, 'oracle', '{}', '{}', 'finished', 30, 40, 35)
"""
FIRST_CONVERSATIONS = """
    INSERT INTO conversation (id, user_id, state, created_at, updated_at)
    VALUES ('c-new', 'ann', '{}', 30, 35), ('c-old', 'ann', '{}', 10, 15), ('c-none', 'ann', '{}', 1, 1)
"""

FIRST_MESSAGES = """
    INSERT INTO message (conversation_id, n, role, content, metadata, run_id, at)
    VALUES ('c-old', 1, 'user', '"Why is\\nit so?"', '{}', 'old', 't'),
           ('c-old', 2, 'assistant', '"So."', '{}', 'old', 't')
"""


CHUNKS = """
    INSERT INTO event (run_id, seq, kind, chunk_n, data, at)
    VALUES ('old', 1, 'tick', NULL, '{}', 1), ('old', 2, 'chunk', 1, '"a"', 1), ('old', 3, 'chunk', 2, '"b"', 1),
           ('old', 4, 'tick', NULL, '{}', 1), ('old', 5, 'chunk', 3, '"c"', 1), ('old', 6, 'final', NULL, '{}', 1)
"""


def migrate(url: str, revision: str, *statements: str) -> None:
    """What an older version would have left."""
    database = Database(read_url(url))
    if database.file is not None:
        database.file.parent.mkdir(parents=True, exist_ok=True)
    config = Config()
    config.set_main_option("script_location", str(Path(oracle.runs.storage.migrations.__file__).parent))
    try:
        with database.write_engine.connect() as connection, connection.begin():
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            for statement in statements:
                connection.execute(text(statement))
    finally:
        database.close()


def differences(connection: Connection) -> object:
    return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), schema.metadata)


def indexes(connection: Connection) -> dict[str, dict[str, list[str | None]]]:
    found = inspect(connection)
    names = schema.metadata.tables
    return {name: {str(each["name"]): each["column_names"] for each in found.get_indexes(name)} for name in names}


async def test_a_migrated_database_is_what_the_tables_say(empty_store_url: str) -> None:
    async with open_store(empty_store_url, worker="worker-1") as store:
        assert await store.database.read(differences) == []
        assert await store.database.read(indexes) == {
            name: {str(index.name): [column.name for column in index.columns] for index in table.indexes}
            for name, table in schema.metadata.tables.items()
        }


async def test_opening_again_changes_nothing(empty_store_url: str) -> None:
    for worker in ("first", "second"):
        async with open_store(empty_store_url, worker=worker) as store:
            assert await store.database.read(differences) == []


async def test_what_the_first_version_kept_is_ordered_by_its_times(empty_store_url: str) -> None:
    migrate(empty_store_url, "0001", FIRST_RUNS, FIRST_CONVERSATIONS)
    async with open_store(empty_store_url, worker="worker-1") as store:
        assert await store.database.read(differences) == []
        await store.conversations.create("ann")
        assert [run.id for run in await store.runs.latest(user_id="ann", limit=9)] == ["new", "old"]
        listed = [each.context_id for each in await store.conversations.list("ann")]
    assert listed[1:] == ["c-new", "c-old", "c-none"]


async def test_conversations_that_were_there_get_titles_from_their_first_questions(empty_store_url: str) -> None:
    migrate(empty_store_url, "0001", FIRST_CONVERSATIONS, FIRST_MESSAGES)
    async with open_store(empty_store_url, worker="worker-1") as store:
        titles = {each.context_id: each.title for each in await store.conversations.list("ann")}
    assert titles == {"c-new": "", "c-old": "Why is it so?", "c-none": ""}


async def test_a_run_that_was_under_way_is_still_so_and_has_not_been_claimed_yet(empty_store_url: str) -> None:
    under_way = FIRST_RUNS.replace("'finished', 30, 40, 35", "'running', 30, 40, NULL")
    migrate(empty_store_url, "0001", under_way, FIRST_CONVERSATIONS)
    async with open_store(empty_store_url, worker="worker-1") as store:
        assert await beats(store) == {"w": 0.0}
        (taken,) = await store.claims.take_over({"w": 0.0})
        assert (taken.id, taken.epoch, taken.attempts) == ("new", 2, 1)


async def test_the_chunks_of_an_earlier_version_are_read_by_their_numbers(empty_store_url: str) -> None:
    migrate(empty_store_url, "0001", FIRST_RUNS, CHUNKS)
    migrate(empty_store_url, "0004")
    async with open_store(empty_store_url, worker="worker-1") as store:
        assert await store.database.read(differences) == []
        assert "chunk_of_run" not in (await store.database.read(indexes))["event"]
        pages = [await store.log.page("old", after=after) for after in range(4)]
        assert await store.log.last_chunk("old") == 3
    assert [[chunk.data for chunk in page.chunks] for page in pages if page] == [
        [b'"a"', b'"b"', b'"c"'],
        [b'"b"', b'"c"'],
        [b'"c"'],
        [],
    ]
