"""Commands to the worker of a run."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select
from structlog.testing import capture_logs

from oracle.runs.storage import schema
from oracle.runs.storage.records import RunCommand
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import DONE, END, begun
from tests.support.waiting import until


async def received(queue: "asyncio.Queue[RunCommand]") -> RunCommand:
    async with asyncio.timeout(20):
        return await queue.get()


async def rows(store: Store) -> int:
    query = select(func.count()).select_from(schema.command)
    return await store.database.read(lambda connection: connection.execute(query).scalar_one())


async def test_a_command_is_delivered_once_and_deleted(store: Store) -> None:
    queue: asyncio.Queue[RunCommand] = asyncio.Queue()
    store.commands.subscribe(queue.put_nowait)
    await begun(store)
    await store.commands.send(RunCommand("run-1", "cancel", {"by": "ann"}))
    assert await received(queue) == RunCommand("run-1", "cancel", {"by": "ann"})
    assert queue.empty()
    assert await rows(store) == 0


async def test_commands_come_in_order(store: Store) -> None:
    queue: asyncio.Queue[RunCommand] = asyncio.Queue()
    store.commands.subscribe(queue.put_nowait)
    await begun(store)
    for number in range(20):
        await store.commands.send(RunCommand("run-1", "step", {"n": number}))
    assert [(await received(queue)).data["n"] for _ in range(20)] == list(range(20))


async def test_a_command_waits_for_who_listens(store: Store) -> None:
    await begun(store)
    await store.commands.send(RunCommand("run-1", "cancel"))
    assert await rows(store) == 1
    queue: asyncio.Queue[RunCommand] = asyncio.Queue()
    store.commands.subscribe(queue.put_nowait)
    assert (await received(queue)).kind == "cancel"


async def test_a_command_for_a_run_that_is_not_under_way_is_none(store: Store) -> None:
    log = await begun(store)
    await log.finish(DONE, END)
    for run_id in ("run-1", "nobody", "a\x00b", "\ud800"):
        await store.commands.send(RunCommand(run_id, "cancel"))
    assert await rows(store) == 0


@pytest.mark.long("waits for the store's patience")
async def test_a_command_that_cannot_be_read_for_now_comes_later(tmp_path: Path) -> None:
    file = tmp_path / "oracle.db"
    async with open_store(f"sqlite:///{file}", worker="worker-1", patience_s=0.1) as store:
        await begun(store)
        await store.commands.send(RunCommand("run-1", "cancel"))
        queue: asyncio.Queue[RunCommand] = asyncio.Queue()
        with capture_logs() as logs, closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            store.commands.subscribe(queue.put_nowait)
            await until(lambda: any(each["event"] == "commands.not_read" for each in logs))
        assert (await received(queue)).kind == "cancel"
