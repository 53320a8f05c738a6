"""When shadows may work: queries of users come first, and every wait ends."""

import asyncio

import pytest

from bt_runtime.testing import FakeClock
from oracle.features.shadow.rehearsing import Gate, Held
from tests.acceptance.harness import answers, calls, made_tool, says
from tests.oracle.features.shadow.conftest import shadowed, until
from tests.oracle.runs.running import Gate as Held_up
from tests.oracle.runs.running import settle

HANGS = says("Half of it", hang=True)


@pytest.fixture
def clock():
    return FakeClock(jump=False)


@pytest.fixture
def gate(clock):
    return Gate(clock)


def test_the_gate_is_open_while_no_query_is_under_way(gate):
    assert gate.is_open
    gate.note_active(1)
    assert not gate.is_open
    gate.note_active(0)
    assert gate.is_open


def test_a_pause_is_never_shortened_by_a_later_one(clock, gate):
    gate.pause(60)
    gate.pause(1)
    clock.advance(59)
    assert not gate.is_open
    clock.advance(1)
    assert gate.is_open


async def test_a_held_step_begins_when_the_gate_opens_and_the_time_of_the_shadow_has_stood_still(clock, gate):
    held = Held(gate, clock=clock)
    began_s = held.clock.now()
    gate.note_active(1)
    steps = [asyncio.create_task(held()) for _ in range(2)]
    await settle()
    clock.advance(4)
    assert not any(step.done() for step in steps)
    gate.note_active(0)
    await asyncio.gather(*steps)
    assert held.clock.now() == began_s
    clock.advance(1)
    assert held.clock.now() == began_s + 1


async def test_a_pause_ends_by_itself(clock, gate):
    gate.pause(5)
    step = asyncio.create_task(Held(gate, clock=clock)())
    await settle()
    clock.advance(5)
    await step


async def test_a_step_that_is_cancelled_while_it_is_held_lets_the_time_of_the_shadow_go_on(clock, gate):
    held = Held(gate, clock=clock)
    gate.note_active(1)
    steps = [asyncio.create_task(held()) for _ in range(2)]
    await settle()
    for step in steps:
        assert held.clock.is_stopped
        step.cancel()
        await asyncio.wait([step])
    assert not held.clock.is_stopped


async def test_no_shadow_begins_while_a_query_is_under_way(store):
    async with shadowed(store, [answers(), HANGS], [answers()] * 2) as it:
        await it.runs.ask()
        await it.pairs()
        live = await it.runs.start()
        await it.runs.until_text(live.record, "Half of it")
        it.shadows.offer(await store.runs.find(live.record.id), "completed")
        await settle()
        assert (it.shadows.active, len(it.model.requests)) == (1, 1)
        live.cancel()
        await it.runs.told(live.record)
        await until(lambda: len(it.model.requests) == 2)
        assert [pair.state for pair in await it.pairs()] == ["finished", "finished"]


async def test_a_shadow_under_way_makes_no_further_step_while_a_query_is(store):
    tool = Held_up()
    shadow = [says("", calls("probe", at=1)), says("", calls("probe", at=2)), answers()]
    async with shadowed(store, [answers(), HANGS], shadow, tools=[made_tool(tool)]) as it:
        await it.runs.ask()
        await asyncio.wait_for(tool.begun.wait(), 20)
        live = await it.runs.start()
        await it.runs.until_text(live.record, "Half of it")
        tool.open.set()
        await until(lambda: it.shadows._gate._waiting)
        assert len(it.model.requests) == 1
        it.runs.clock.advance(200)
        live.cancel()
        await it.runs.told(live.record)
        (pair,) = await it.pairs()
        record = await store.runs.find(pair.shadow_id)
    assert (pair.state, pair.figures.ran, pair.figures.shadow.model_ms) == ("finished", 2, 0)
    assert record.termination_reason == "completed"  # 200 of its 180 seconds were not its own


@pytest.mark.parametrize(("retry_after_s", "pause_s"), [(None, 60), (5.0, 60), (200.0, 200)])
async def test_a_shadow_under_way_goes_on_when_the_provider_has_been_left_to_users_for_a_while(
    store, retry_after_s, pause_s
):
    tool = Held_up()
    shadow = [says("", calls("probe", at=1)), answers()]
    async with shadowed(store, [answers()], shadow, tools=[made_tool(tool)]) as it:
        await it.runs.ask()
        await asyncio.wait_for(tool.begun.wait(), 20)
        it.shadows.note_load(retry_after_s)
        tool.open.set()
        await until(lambda: it.shadows._gate._waiting)
        it.runs.clock.advance(pause_s - 1)
        await settle()
        assert len(it.model.requests) == 1
        it.runs.clock.advance(1)
        assert (await it.pair()).state == "finished"


async def test_a_query_that_could_not_be_opened_holds_up_no_shadow(store):
    async with shadowed(store, [answers()], [answers()]) as it:
        with pytest.raises(Exception, match="no conversation"):
            await it.runs.start(context_id="none")
        await it.runs.ask()
        assert (await it.pair()).state == "finished"


async def test_the_end_of_the_service_ends_a_shadow_that_is_held(store):
    tool = Held_up()
    shadow = [says("", calls("probe", at=1)), answers()]
    async with shadowed(store, [answers(), HANGS], shadow, tools=[made_tool(tool)]) as it:
        await it.runs.ask()
        await asyncio.wait_for(tool.begun.wait(), 20)
        live = await it.runs.start()
        await it.runs.until_text(live.record, "Half of it")
        tool.open.set()
        await until(lambda: it.shadows._gate._waiting)
        await it.shadows.stop()
        pair = await it.pair()
        live.cancel()
    assert (pair.state, pair.why) == ("failed", "cancelled")
