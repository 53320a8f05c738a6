"""Random commands to runs of the shipped tree: whatever operators do, the record repeats to itself."""

from random import Random
from typing import Any

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.replay.courses import course_of
from oracle.replay.recorded import read_run, repeat
from oracle.runs.debugging.commands import DebugRefusedError
from oracle.runs.live import LiveRun
from oracle.runs.record.ticks import encode_tick
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.store import Store
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.runs.debugging.sessions import Operator
from tests.oracle.runs.debugging.test_sessions import Open
from tests.oracle.runs.running import managed

MORE = '<signal type="need_turn"><reason>more to do</reason></signal>'
TURNS = [says("Looking.", calls("probe")), says(f"Part one. {MORE}"), says(""), *(answers() for _ in range(12))]


async def debugged(olga: Operator, live: LiveRun, dice: Random) -> None:
    """Send commands until the run has ended."""
    definition = await olga.debugger.definition_of(live.record)
    last = -1
    while not live._ended.is_set():
        await olga.it.store.write(lambda _: None)
        state = await olga.debugger.state(live.record)
        if state.standing != "paused" or state.tick == last:
            continue
        last = state.tick
        try:
            for _ in range(dice.choice([0, 0, 1, 2])):
                if dice.random() < 0.3:
                    await olga.does(live, "set", key="hint", value=f"hint {last}")
                else:
                    path, result = dice.choice(definition.paths), dice.choice(["success", "failure"])
                    await olga.does(live, "force", path=path, result=result)
            await olga.does(live, "resume" if last > 40 else "step")
        except DebugRefusedError:  # it has ended
            return


@pytest.mark.parametrize("seed", range(6))
async def test_a_run_that_was_debugged_at_random_replays_to_the_identical_record(
    store: Store, url: str, seed: int
) -> None:
    async with managed(store, TURNS, tools=[made_tool(Open())], debug_lease_s=1000) as it:
        olga = Operator(it)
        await olga.breaks("b1", kind="start")
        live = await it.start()
        await olga.until(live, "paused")
        await debugged(olga, live, Random(seed))
        record = (await it.told(live.record)).record
    async with open_archive(url) as archive:
        run = await read_run(archive, record)
    forced: list[Any] = [key for tick in run.ticks for key, _ in tick.deliveries]
    assert forced
    replayed = repeat(run, registry=REGISTRY)
    assert replayed.diverged_at is None
    assert [encode_tick(each, is_timed=False) for each in replayed.records] == [
        encode_tick(each, is_timed=False) for each in run.ticks
    ]
    assert course_of(run, run.tree(REGISTRY), registry=REGISTRY).steps
