import asyncio

import pytest

from bt_runtime.testing import FakeClock
from oracle.runs.readers import Readers


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(jump=False)


@pytest.fixture
def deserted() -> list[str]:
    return []


@pytest.fixture
def readers(clock: FakeClock, deserted: list[str]) -> Readers:
    return Readers(grace_s=60.0, clock=clock, on_deserted=deserted.append)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def pass_time(clock: FakeClock, seconds: float) -> None:
    await settle()
    clock.advance(seconds)
    await settle()


async def test_a_run_is_deserted_when_its_last_reader_stays_away(readers, clock, deserted):
    readers.join("run", "a")
    readers.join("run", "b")
    readers.leave("run", "a")
    await pass_time(clock, 1000)
    assert deserted == []
    readers.leave("run", "b")
    await pass_time(clock, 59.9)
    assert deserted == []
    await pass_time(clock, 0.1)
    assert deserted == ["run"]


async def test_a_reader_that_comes_back_stops_the_timer(readers, clock, deserted):
    readers.join("run", "a")
    readers.leave("run", "a")
    await pass_time(clock, 59)
    readers.join("run", "b")
    await pass_time(clock, 1000)
    assert deserted == []
    readers.leave("run", "b")
    await pass_time(clock, 59)
    assert deserted == []
    await pass_time(clock, 1)
    assert deserted == ["run"]


async def test_each_run_has_readers_of_its_own(readers, clock, deserted):
    readers.join("one", "a")
    readers.join("two", "b")
    readers.leave("one", "a")
    await pass_time(clock, 60)
    assert deserted == ["one"]


async def test_of_a_run_that_ended_nothing_is_left(readers, clock, deserted):
    readers.join("run", "a")
    readers.leave("run", "a")
    await settle()
    readers.forget("run")
    await pass_time(clock, 1000)
    assert deserted == []
    assert len(readers) == 0


async def test_what_comes_twice_counts_once(readers, clock, deserted):
    readers.join("run", "a")
    readers.join("run", "a")
    readers.leave("run", "a")
    readers.leave("run", "a")
    await pass_time(clock, 60)
    assert deserted == ["run"]
