import asyncio

from bt_runtime.testing import FakeClock
from oracle.runs.live import ended_within
from oracle.runs.upkeep import repeat


async def never() -> None:
    await asyncio.Event().wait()


async def test_tasks_that_end_are_not_waited_for_any_longer():
    clock, gate = FakeClock(jump=False), asyncio.Event()
    task = asyncio.ensure_future(gate.wait())
    waiting = asyncio.ensure_future(ended_within([task], 10.0, clock=clock))
    await asyncio.sleep(0)
    gate.set()
    assert await waiting is True
    assert clock.now() == 0.0


async def test_tasks_that_do_not_end_are_waited_for_until_the_limit():
    clock = FakeClock()
    task = asyncio.ensure_future(never())
    assert await ended_within([task], 10.0, clock=clock) is False
    assert clock.now() == 10.0
    task.cancel()


async def test_nothing_to_wait_for_has_ended():
    assert await ended_within([], 10.0, clock=FakeClock(jump=False)) is True


async def test_work_that_fails_is_done_again():
    clock, rounds = FakeClock(), []
    third = asyncio.Event()

    async def work() -> None:
        rounds.append(clock.now())
        if len(rounds) == 3:
            third.set()
            await never()
        raise RuntimeError("not this time")

    task = asyncio.ensure_future(repeat(work, every_s=2.0, clock=clock, name="work"))
    await third.wait()
    task.cancel()
    assert rounds == [2.0, 4.0, 6.0]
