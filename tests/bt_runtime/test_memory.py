import asyncio
import gc
import tracemalloc
import weakref

import pytest

from bt_runtime import (
    Recording,
    RunLoop,
)
from bt_runtime.testing import FakeClock, action_from
from tests.bt_runtime.running import live


async def _one_run(number):
    clock = FakeClock()
    built = live(
        """
sequence:
  - timeout: {seconds: 5, child: {action: x}}
  - loop: {until: count > 2, child: {set: {count: count + 1}}}
  - retry: {attempts: count, child: {repeat: {times: count, child: {set: {turn: turn - 1}}}}}
  - cooldown: {seconds: turn, child: {wait: 0 * turn}}
  - parallel: {until: first_end, children: [{wait: {until: count > 9, timeout_s: count}}, {wait: {until: hint}}]}
""",
        substitutes={"sequence/timeout/action": action_from(lambda: clock.sleep(number % 9))},
    )
    await RunLoop(built, clock=clock, observers=[Recording(built.paths)]).run()
    return weakref.ref(built.root)


async def test_a_released_tree_is_freed_without_the_garbage_collector():
    await _one_run(0)
    gc.collect()
    gc.disable()
    try:
        roots = [await _one_run(number) for number in range(30)]
        await asyncio.sleep(0)
        assert [root() for root in roots] == [None] * 30
    finally:
        gc.enable()


async def _grown_objects(runs):
    for number in range(50):
        await _one_run(number)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(runs):
        await _one_run(number)
    gc.collect()
    return len(gc.get_objects()) - before


@pytest.mark.long("hundreds of runs, and full collections between them")
async def test_runs_leave_nothing_in_memory():
    assert await _grown_objects(300) < 100


@pytest.mark.soak
async def test_ten_thousand_runs_leave_nothing_in_memory():
    for number in range(200):
        await _one_run(number)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    assert await _grown_objects(10_000) < 100
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 500_000
