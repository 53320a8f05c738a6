"""Each table says what becomes of its rows, and what is a user's goes with its run or conversation."""

from typing import Any

import pytest
from sqlalchemy import Boolean, Column, Connection, Double, Integer, LargeBinary, Table, delete, insert, select

from oracle.runs.storage import schema
from oracle.runs.storage.features import FEATURES
from oracle.runs.storage.schema import EncodedJson, Json
from oracle.runs.storage.store import Store
from tests.oracle.runs.storage.runs_made import ended
from tests.oracle.runs.storage.test_conversations import rows_with

OF_THE_LOG = {"run", "worker", "event", "conversation", "message"}
"""What erasure and retention themselves are about."""
TABLES = [table for feature in FEATURES for table in feature.tables]
OF_RUNS = [table for table in TABLES if "run_id" in table.c]
OF_CONVERSATIONS = [table for table in TABLES if "context_id" in table.c]


def test_each_table_is_of_one_feature() -> None:
    assert sorted(table.name for table in TABLES) == sorted(set(schema.metadata.tables) - OF_THE_LOG)


def value_of(column: Column[Any], *, run_id: str, context_id: str) -> object:
    match column:
        case Column(name="run_id"):
            return run_id
        case Column(name="context_id"):
            return context_id
        case Column(type=Boolean()):
            return True
        case Column(type=Integer() | Double()):
            return 1
        case Column(type=EncodedJson()):
            return b'"Secret"'
        case Column(type=LargeBinary()):
            return b"Secret"
    return "Secret" if isinstance(column.type, Json) or not column.primary_key else "key"


async def fill(store: Store, table: Table, **ids: str) -> None:
    """One row of a run and a conversation, with a secret wherever there is a text."""
    row = {column.name: value_of(column, **ids) for column in table.c}

    def work(connection: Connection) -> None:
        connection.execute(delete(table))
        connection.execute(insert(table), row)

    await store.write(work)


@pytest.mark.parametrize("table", OF_RUNS, ids=str)
@pytest.mark.parametrize("by", ["its user", "its age"])
async def test_what_a_table_has_of_a_run_goes_with_its_texts(store: Store, table: Table, by: str) -> None:
    run = await ended(store)
    await fill(store, table, run_id=run.id, context_id="another")
    if by == "its user":
        await store.conversations.forget_run("ann", run.id)
    else:
        await store.retention.prune(older_than_s=-1.0, most_bytes=None)
    assert table.name not in await rows_with(store, "Secret")


@pytest.mark.parametrize("table", OF_CONVERSATIONS, ids=str)
async def test_what_a_table_has_of_a_conversation_goes_with_it(store: Store, table: Table) -> None:
    run = await ended(store)
    await fill(store, table, run_id=run.id, context_id=run.context_id)
    await store.conversations.forget("ann", run.context_id)
    assert await store.database.read(lambda connection: connection.execute(select(table)).all()) == []


@pytest.mark.parametrize("table", OF_RUNS, ids=str)
async def test_nothing_of_a_run_that_is_removed_stays(store: Store, table: Table) -> None:
    run = await ended(store)
    await fill(store, table, run_id=run.id, context_id="another")
    await store.runs.abandon(run.id)
    left = await store.database.read(lambda connection: connection.execute(select(table)).all())
    assert [row for row in left if row.run_id is not None] == []  # a file waits for another question then
