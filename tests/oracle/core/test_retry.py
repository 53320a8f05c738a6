"""Retries: how long they wait, and when they end."""

import pytest

from bt_runtime.testing import FakeClock
from oracle.core.retry import Retry, pause

EXACT = Retry(first_s=1.0, longest_s=8.0, chance=lambda: 0.0)


class Work:
    """Fails a given number of times, and records when it was called."""

    def __init__(self, clock: FakeClock, *failures: Exception):
        self.clock = clock
        self.failures = list(failures)
        self.called_s: list[float] = []

    async def __call__(self) -> str:
        self.called_s.append(self.clock.now())
        if self.failures:
            raise self.failures.pop(0)
        return "done"


async def test_a_pause_lasts_as_long_as_it_says():
    clock = FakeClock()
    await pause(5.0, clock=clock)
    assert clock.now() == 5.0


def test_waits_double_up_to_the_longest():
    assert [EXACT.wait_s(failures) for failures in range(1, 7)] == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]
    assert EXACT.wait_s(100_000) == 8.0


def test_up_to_a_quarter_of_a_wait_is_random():
    assert Retry(first_s=1.0, longest_s=8.0, chance=lambda: 1.0).wait_s(2) == 1.5
    assert all(0.75 <= Retry(first_s=1.0, longest_s=1.0).wait_s(3) <= 1.0 for _ in range(100))


async def test_work_that_fails_is_tried_again_after_each_wait():
    clock, noted = FakeClock(), []
    work = Work(clock, KeyError("a"), KeyError("b"), KeyError("c"))
    assert await EXACT.call(work, clock=clock, when=LookupError, on_failure=noted.append) == "done"
    assert work.called_s == [0.0, 1.0, 3.0, 7.0]
    assert [str(error) for error in noted] == ["'a'", "'b'", "'c'"]


async def test_a_failure_of_another_kind_is_the_last_one():
    clock = FakeClock()
    with pytest.raises(ValueError, match="wrong"):
        await EXACT.call(Work(clock, KeyError(), ValueError("wrong")), clock=clock, when=KeyError)
    assert clock.now() == 1.0


async def test_a_failure_beyond_the_time_is_the_last_one():
    clock = FakeClock()
    work = Work(clock, *[KeyError(number) for number in range(9)])
    with pytest.raises(KeyError, match="3"):
        await EXACT.call(work, clock=clock, when=KeyError, for_s=5.0)
    assert work.called_s == [0.0, 1.0, 3.0, 7.0]


async def test_a_failure_after_which_nothing_can_succeed_is_the_last_one():
    clock, noted = FakeClock(), []
    work = Work(clock, KeyError(1), KeyError(2), KeyError(3))
    with pytest.raises(KeyError, match="2"):
        await EXACT.call(
            work, clock=clock, when=KeyError, on_failure=noted.append, unless=lambda: len(work.called_s) == 2
        )
    assert len(noted) == 1
