import asyncio
import time

from bt_runtime import SystemClock


async def test_the_system_clock_is_monotonic_time():
    clock = SystemClock()
    before = time.monotonic()
    assert before <= clock.now() <= time.monotonic()


async def test_a_wait_ends_with_its_event_and_leaves_no_timer():
    clock, event = SystemClock(), asyncio.Event()
    waiting = asyncio.create_task(clock.wait(event, until_s=clock.now() + 3600))
    await asyncio.sleep(0)
    event.set()
    await waiting
    timers = getattr(asyncio.get_running_loop(), "_scheduled", [])
    assert all(timer.cancelled() for timer in timers)


async def test_a_wait_without_a_time_ends_with_its_event():
    event = asyncio.Event()
    waiting = asyncio.create_task(SystemClock().wait(event, until_s=None))
    await asyncio.sleep(0)
    assert not waiting.done()
    event.set()
    await waiting


async def test_a_wait_for_a_time_that_has_passed_returns():
    clock = SystemClock()
    for until_s in (clock.now() - 10, float("-inf")):
        waiting = asyncio.create_task(clock.wait(asyncio.Event(), until_s=until_s))
        done, _ = await asyncio.wait([waiting], timeout=5)
        assert done == {waiting}


async def test_a_cancelled_wait_leaves_no_timer():
    clock = SystemClock()
    waiting = asyncio.create_task(clock.wait(asyncio.Event(), until_s=clock.now() + 3600))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert all(timer.cancelled() for timer in getattr(asyncio.get_running_loop(), "_scheduled", []))
