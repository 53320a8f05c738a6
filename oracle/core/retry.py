"""Retries: how long is waited between attempts, and the loop that makes them, on an injected clock."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from bt_runtime import Clock
from bt_runtime.text.data import dataclass

T = TypeVar("T")

_JITTER = 0.25
_MOST_DOUBLINGS = 30


@dataclass(frozen=True, slots=True)
class Retry:
    """How long to wait between attempts: twice as long each time, less up to a random quarter.

    Args:
        first_s: the wait after the first failure.
        longest_s: the longest wait.
        chance: a random number from 0 to 1; keeps clients that failed together from coming back together.
    """

    first_s: float
    longest_s: float
    chance: Callable[[], float] = random.random

    def wait_s(self, failures: int) -> float:
        """How long to wait after this many failures in a row (1, 2, 3, …)."""
        longest_s = min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))
        return longest_s * (1 - _JITTER * self.chance())

    async def call(
        self,
        work: Callable[[], Awaitable[T]],
        *,
        clock: Clock,
        when: type[Exception],
        on_failure: Callable[[Exception], None] | None = None,
        unless: Callable[[], bool] = lambda: False,
        for_s: float | None = None,
    ) -> T:
        """Run the work until it succeeds; returns its result.

        Args:
            work: starts one attempt, and is called again for the next one.
            clock: times the waits between attempts, in seconds.
            when: failures after which it is tried again.
            on_failure: called with each of them, before the wait.
            unless: a failure is the last one if this is true by then.
            for_s: a failure later than this is the last one; `None`: there is no limit.

        Raises:
            Exception: the last failure, or any other exception of the work.
        """
        until_s = None if for_s is None else clock.now() + for_s
        for failures in itertools.count(1):
            try:
                return await work()
            except when as error:
                if unless() or (until_s is not None and clock.now() > until_s):
                    raise
                if on_failure is not None:
                    on_failure(error)
            await pause(self.wait_s(failures), clock=clock)
        raise AssertionError("unreachable")


async def pause(seconds: float, *, clock: Clock) -> None:
    """Return when the time has passed."""
    until_s = clock.now() + seconds
    while clock.now() < until_s:
        await clock.wait(asyncio.Event(), until_s=until_s)
