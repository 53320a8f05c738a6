"""When shadows may work: queries of users come first, and every wait ends."""

import asyncio

import pytest

from bt_runtime.testing import FakeClock
from oracle.features.shadow.running import Gate
from tests.acceptance.harness import answers, says
from tests.oracle.features.shadow.conftest import shadowed
from tests.oracle.runs.running import settle
from tests.support.waiting import until

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


async def test_a_pause_ends_by_itself(clock, gate):
    gate.pause(5)
    step = asyncio.create_task(gate.opened())
    await settle()
    clock.advance(4)
    await settle()
    assert not step.done()
    clock.advance(1)
    await step
    assert gate.is_open


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


async def test_a_query_that_could_not_be_opened_holds_up_no_shadow(store):
    async with shadowed(store, [answers()], [answers()]) as it:
        with pytest.raises(Exception, match="no conversation"):
            await it.runs.start(context_id="none")
        await it.runs.ask()
        assert (await it.pair()).state == "finished"
