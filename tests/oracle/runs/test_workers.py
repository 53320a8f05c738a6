"""Two workers on one PostgreSQL database: a run is had by one of them, and served by both."""

import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bt_runtime.text import iso
from oracle.agent.conversations.protocol import Exchange
from oracle.runs.options import RunOptions
from oracle.runs.storage.errors import RunLostError
from oracle.runs.storage.store import open_store
from oracle.tools import ToolResult, vault_tools
from tests.acceptance.harness import ACTION_QUESTION, answers, calls, says
from tests.oracle.runs.running import Gate, Managed, managed, settle

OPTIONS = RunOptions(reader_grace_s=60, silent_s=0)
"""Any silence is too long; but nobody looks for silent workers before the clock says so."""

Workers = tuple[Managed, Managed]


@pytest.fixture
async def workers(postgresql_url: str) -> AsyncIterator[Workers]:
    """Two of them, each with a hanging model; time stands still for both but in the database."""
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two"):
            store = await stack.enter_async_context(open_store(postgresql_url, worker=name))
            turns = [says("Half of the", hang=True)] * 4
            made.append(await stack.enter_async_context(managed(store, turns, options=OPTIONS, goes_on=False)))
        yield made[0], made[1]


async def test_a_run_is_read_and_cancelled_on_another_worker(workers: Workers) -> None:
    one, two = workers
    live = await one.start()
    await two.until_text(live.record, "Half of the")
    await two.manager.cancel(live.record)
    told = await two.told(live.record)
    assert (told.text, told.record.termination_reason) == ("Half of the", "user_cancelled")
    assert told.record.worker == "one"
    assert (await one.told(live.record)).chunks == told.chunks


async def test_a_reader_on_another_worker_counts(workers: Workers) -> None:
    one, two = workers
    live = await one.start(limits={"timeout_seconds": 600})
    with one.manager.attach(live.record):
        await one.until_text(live.record, "Half of the")
        reading = two.manager.attach(live.record)
        reading.__enter__()
        await until_told(one, two)
    await settle()
    one.clock.advance(61)
    await until_told(one, two)  # in that time a cancelled run would have ended
    assert (await one.store.runs.find(live.record.id)).status == "running"  # type: ignore[union-attr]
    reading.__exit__(None, None, None)
    await until_told(one, two)
    await settle()
    one.clock.advance(60)
    assert (await two.told(live.record)).record.termination_reason == "user_cancelled"


async def until_told(one: Managed, two: Managed) -> None:
    """Wait until the first worker has heard what the second had to tell it: commands come in their order."""
    last = await one.start()
    await two.manager.cancel(last.record)
    await one.told(last.record)


async def test_a_conversation_is_forgotten_whichever_worker_answers_in_it(workers: Workers) -> None:
    one, two = workers
    live = await one.start()
    await two.until_text(live.record, "Half of the")
    assert await two.manager.forget("local", live.record.context_id) is True
    record = await one.store.runs.find(live.record.id)
    assert record is not None
    assert (record.status, record.answer) == ("finished", None)


async def test_the_runs_of_a_silent_worker_are_ended_by_another_and_it_says_nothing_more(workers: Workers) -> None:
    one, two = workers
    live = await one.start()
    await two.until_text(live.record, "Half of the")
    await settle()
    two.clock.advance(OPTIONS.look_s)
    told = await two.told(live.record)
    assert told.record.worker == "two"
    assert told.record.error is not None
    assert told.record.error["error_type"] == "interrupted"
    live.cancel()  # the first worker does not know yet; whatever it says is refused
    ended = await live.wait()
    assert live.left_as == "lost"
    assert ended == told.record
    assert (await one.told(live.record)).chunks == told.chunks


async def test_what_a_worker_still_wants_to_keep_of_a_run_that_it_has_lost_is_refused(workers: Workers) -> None:
    one, two = workers
    live = await one.start()
    await two.until_text(live.record, "Half of the")
    seen = await two.store.claims.sightings()
    (taken,) = await two.store.claims.take_over({name: each.beat_at for name, each in seen.workers.items()})
    exchange = Exchange("Where?", "Something else.", "", "", "completed", live.record.id)
    with pytest.raises(RunLostError):
        await one.store.conversations.append("local", live.record.context_id, exchange)
    await two.store.conversations.append("local", live.record.context_id, exchange)
    live.cancel()
    assert (await live.wait()).epoch == taken.epoch
    assert live.left_as == "lost"


@pytest.mark.parametrize(
    ("name", "arguments", "file"),
    [
        ("thread_push", {"thread": "log", "content": "Released."}, "threads/log.md"),
        ("vault_write", {"path": "plan.md", "body": "Ours.", "overwrite": True}, "plan.md"),
    ],
)
async def test_a_worker_that_was_held_up_before_its_write_does_not_write_after_another_one_has(
    postgresql_url: str, tmp_path: Path, name: str, arguments: dict[str, Any], file: str
) -> None:
    """It has committed what it intends, and goes on when the other worker has the run, and has written."""
    (tmp_path / "plan.md").write_text("Before.")
    made = next(tool for tool in vault_tools(tmp_path, now=lambda: datetime.now(UTC)) if tool.name == name)
    write = replace(made, name="write_shared")
    held = Gate()

    async def late(given: Mapping[str, Any]) -> ToolResult:
        await held(given)
        return await write.call(given)

    async with AsyncExitStack() as stack:
        workers = []
        turns = [[says("", calls("write_shared", **arguments)), answers("One.")], [answers("Two.")]]
        for worker, said, tool in zip(("one", "two"), turns, (replace(write, call=late), write), strict=True):
            store = await stack.enter_async_context(open_store(postgresql_url, worker=worker))
            it = managed(store, said, options=OPTIONS, tools=[tool], timestamp=lambda: iso(time.time()))
            workers.append(await stack.enter_async_context(it))
        one, two = workers
        live = await one.start(ACTION_QUESTION)
        await held.begun.wait()
        await settle()
        two.clock.advance(OPTIONS.look_s)
        told = await two.told(live.record)
        assert (told.text, told.record.worker) == ("Two.", "two")
        written = (tmp_path / file).read_text()
        assert written.count(arguments.get("content", "Ours.")) == 1
        (tmp_path / file).write_text(f"{written}And what somebody has added.")
        held.open.set()
        await live.wait()
        assert live.left_as == "lost"
    assert (tmp_path / file).read_text() == f"{written}And what somebody has added."
