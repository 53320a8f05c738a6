import asyncio
import time

from bt_runtime import SystemClock
from bt_runtime.nodes.clock import Alarm


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


async def test_an_alarm_keeps_its_timer_from_one_wait_to_the_next():
    clock, alarm, loop = SystemClock(), Alarm(), asyncio.get_running_loop()
    until_s = clock.now() + 3600

    def timers():
        return [timer for timer in getattr(loop, "_scheduled", []) if not timer.cancelled()]

    before = timers()
    for _ in range(3):
        alarm.clear()
        waiting = asyncio.create_task(clock.wait(alarm, until_s=until_s))
        await asyncio.sleep(0)
        assert not waiting.done()
        assert len(timers()) == len(before) + 1
        alarm.set()
        await waiting
    alarm.clear()
    waiting = asyncio.create_task(clock.wait(alarm, until_s=until_s + 1))
    await asyncio.sleep(0)
    assert len(timers()) == len(before) + 1  # for the new time
    alarm.set()
    await waiting
    alarm.forget_time()
    assert timers() == before


async def test_an_alarm_rings_at_each_of_its_times():
    clock, alarm = SystemClock(), Alarm()
    for until_s in (clock.now() - 10, clock.now() - 5, float("-inf")):
        alarm.clear()
        await asyncio.wait_for(clock.wait(alarm, until_s=until_s), 5)
        assert alarm.is_set()


async def test_an_alarm_without_a_time_forgets_the_last_one():
    clock, alarm = SystemClock(), Alarm()
    waiting = asyncio.create_task(clock.wait(alarm, until_s=clock.now() + 3600))
    await asyncio.sleep(0)
    alarm.set()
    await waiting
    waiting = asyncio.create_task(clock.wait(alarm, until_s=None))
    await asyncio.sleep(0)
    assert all(timer.cancelled() for timer in getattr(asyncio.get_running_loop(), "_scheduled", []))
    alarm.set()
    await waiting
