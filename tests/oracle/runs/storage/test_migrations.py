"""The migrations make the tables that the code knows."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect

from oracle.runs.storage import schema
from oracle.runs.storage.store import open_store


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


async def test_an_index_of_some_rows_is_one_in_each_database(empty_store_url: str) -> None:
    def of_some_rows(connection: Connection) -> set[str]:
        found = inspect(connection)
        every = [index for name in schema.metadata.tables for index in found.get_indexes(name)]
        return {
            str(index["name"])
            for index in every
            if {"sqlite_where", "postgresql_where"} & {*index.get("dialect_options", {})}
        }

    async with open_store(empty_store_url, worker="worker-1") as store:
        assert await store.database.read(of_some_rows) == {
            index.name
            for table in schema.metadata.tables.values()
            for index in table.indexes
            if index.dialect_options["sqlite"]["where"] is not None
        }
