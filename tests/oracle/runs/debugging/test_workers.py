"""Two workers on one PostgreSQL database: each debugs the runs of the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from oracle.runs.debugging.commands import DebugRefusedError, WrongCommandError
from oracle.runs.options import RunOptions
from oracle.runs.storage.store import open_store
from tests.acceptance.harness import answers
from tests.oracle.runs.debugging.sessions import LLM_TURN, Operator, notices
from tests.oracle.runs.running import Managed, managed, settle

Workers = tuple[Managed, Managed]


@pytest.fixture
async def workers(postgresql_url: str) -> AsyncIterator[Workers]:
    """Two of them; time stands still for both but in the database."""
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two"):
            store = await stack.enter_async_context(open_store(postgresql_url, worker=name))
            options = RunOptions(silent_s=0)
            made.append(
                await stack.enter_async_context(managed(store, [answers()] * 4, options=options, debug_lease_s=120))
            )
        yield made[0], made[1]


async def test_a_run_is_paused_changed_and_resumed_on_another_worker(workers: Workers) -> None:
    one, two = workers
    olga = Operator(two)
    await olga.breaks("b1", tree="oracle", path=LLM_TURN)
    live = await one.start()
    state = await olga.until(live, "paused")
    assert state.hit is not None
    assert state.hit.breakpoint == "b1"
    with pytest.raises(WrongCommandError, match="cannot be changed"):
        await olga.does(live, "set", key="turn", value=1)
    with pytest.raises(DebugRefusedError, match="is paused already"):
        await olga.does(live, "pause")
    await olga.does(live, "set", key="hint", value="From afar.")
    while not (await olga.until(live, "paused")).values:
        pass
    await olga.does(live, "resume")
    told = await two.told(live.record)
    assert told.record.termination_reason == "completed"
    assert one.harness.scripted is not None
    assert "From afar." in str(one.harness.scripted.requests[0].messages)
    assert notices(told.chunks)[-1].startswith("Resumed after")
    with pytest.raises(DebugRefusedError, match="the run has ended"):
        await olga.does(live, "resume")


async def test_a_breakpoint_that_one_worker_sets_holds_for_a_run_of_the_other(workers: Workers) -> None:
    one, two = workers
    olga = Operator(two)
    await Operator(one).breaks("first", kind="start")
    live = await one.start()
    await olga.until(live, "paused")
    await olga.breaks("second", run_id=live.record.id, path=LLM_TURN)
    await olga.does(live, "resume")  # commands come in their order, and the breakpoints are read before
    state = await olga.until(live, "paused", after=0)
    assert state.hit is not None
    assert state.hit.breakpoint == "second"
    await olga.does(live, "resume")
    await two.told(live.record)


async def test_a_paused_run_whose_worker_is_silent_stays_held_by_another(workers: Workers) -> None:
    one, two = workers
    olga = Operator(two)
    await olga.breaks("b1", tree="oracle", path=LLM_TURN)
    live = await one.start()
    await olga.until(live, "paused")
    await two.manager._upkeep.look()
    await two.manager._upkeep.look()
    async with asyncio.timeout(20):
        while two.manager.debugger is None or live.record.id not in two.manager.debugger._sessions:
            await settle()
        while two.manager.debugger._sessions[live.record.id].standing != "paused":
            await settle()
    await olga.does(live, "resume")
    told = await two.told(live.record)
    assert told.record.termination_reason == "completed"
    assert told.record.worker == "two"
    assert [each.id for each in await two.store.breakpoints.all()] == ["b1"]
