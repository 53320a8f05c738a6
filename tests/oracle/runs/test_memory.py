"""What has ended is gone at once, without the cyclic collector: a full collection stops every stream."""

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import pytest

from bt_runtime import LiveTree
from oracle.agent.answering import ActiveQuery, Ask
from oracle.agent.control.tree import TreeControl
from oracle.agent.run import AgentRun
from oracle.llm.protocol import ModelFault
from oracle.runs.live import LiveRun
from oracle.runs.recorder import RunRecorder
from oracle.runs.storage.errors import ConversationBusyError
from oracle.runs.storage.run_log import RunLog
from oracle.runs.storage.store import Store
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.acceptance.harness import answers, harness, says
from tests.oracle.runs.running import CODE_QUESTION, managed, settle

PARTS = (ActiveQuery, AgentRun, LiveRun, LiveTree, RunLog, RunRecorder, TreeControl)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.freeze()  # pytest and hypothesis keep objects of earlier tests of the process
    gc.disable()
    yield
    gc.enable()


def living(*kinds: type) -> list[Any]:
    return [each for each in gc.get_objects() if isinstance(each, kinds)]  # none of those that are frozen


async def until_gone(*kinds: type) -> list[str]:
    """The kinds of what is alive once the loop has done what it still had to."""
    for _ in range(20):
        await settle()
        if not living(*kinds):
            break
    return [type(each).__name__ for each in living(*kinds)]


ENDS = {
    "completed": [answers()],
    "with a tool": [ScriptedTurn("I look.", tool_calls=(ScriptedCall("list_files"),)), answers()],
    "failed": [ScriptedTurn("So far.", fault=ModelFault("provider_failed", "it broke"))],
}


@pytest.mark.parametrize("turns", ENDS.values(), ids=list(ENDS))
async def test_an_ended_run_is_freed_at_once(store: Store, turns: list[ScriptedTurn]) -> None:
    async with managed(store, turns) as it:
        await it.ask()
        assert await until_gone(*PARTS) == []


async def test_a_cancelled_run_is_freed_at_once(store: Store) -> None:
    async with managed(store, [says("Half of the", hang=True)]) as it:
        live = await it.start()
        with it.manager.attach(live.record):
            await it.until_text(live.record, "Half of the")
        live.cancel()
        await it.told(live.record)
        del live
        assert await until_gone(*PARTS) == []


async def test_a_refused_query_is_freed_at_once(store: Store) -> None:
    async with managed(store, [says("Half of the", hang=True)]) as it:
        live = await it.start()
        await it.until_text(live.record, "Half of the")
        before = len(living(asyncio.Future))
        for _ in range(10):
            with pytest.raises(ConversationBusyError):
                await it.start(context_id=live.record.context_id)
        for _ in range(200):  # the store's thread may still be leaving the call that raised
            await asyncio.to_thread(gc.isenabled)
            await settle()
            if not living(ConversationBusyError) and len(living(asyncio.Future)) <= before + 1:
                break
        assert len(living(asyncio.Future)) <= before + 1
        assert living(ConversationBusyError) == []
        live.cancel()
        await it.told(live.record)


@pytest.mark.parametrize("turns", ENDS.values(), ids=list(ENDS))
async def test_an_ended_query_of_an_embedding_program_is_freed_at_once(turns: list[ScriptedTurn]) -> None:
    async with harness(turns, wire=False) as it:
        query = await it.oracle.open(Ask(CODE_QUESTION), emit=lambda _: None)
        await query.run()
        del query
        assert await until_gone(*PARTS) == []
