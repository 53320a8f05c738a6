"""When a request is made again, and how long is waited before. Pure but for the clock.

- A provider that is overloaded, or whose rate limit is reached, is waited for as long as the query has time: its answer
  a minute later is worth more than an error now. So is a `retry-after` of minutes, if it ends before the deadline.
- Any other failure that may pass is tried again a few times.
- Without a deadline (a request that names no `time_left_s`) a few times is all there is.
"""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from oracle.retry import Retry

LEAST_FOR_ANSWER_S = 1.0
"""A wait that leaves less than this of the query's time is not begun: nothing could be answered after it."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """When and how long to wait before a request is made again.

    Args:
        max_retries: on top of the first attempt, where the query's time is not the bound; 0 turns all retries off.
        base_s: the first wait; each further one is twice as long, less up to a random quarter.
        max_s: the longest wait of our own choosing.
        max_retry_after_s: without a deadline, a provider that asks for more is not waited for.
        sleep: how to wait.
        chance: a number from 0 to 1.
        now: monotonic seconds.
    """

    max_retries: int = 2
    base_s: float = 0.5
    max_s: float = 8.0
    max_retry_after_s: float = 20.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    now: Callable[[], float] = time.monotonic

    def wait_s(
        self, attempt: int, *, retry_after_s: float | None, left_s: float | None = None, is_load: bool = False
    ) -> float | None:
        """How long to wait after failed attempt number `attempt` (from 0); `None` means give up.

        Args:
            attempt: how many have failed before.
            retry_after_s: what the provider asks for.
            left_s: what is left of the query's time; `None` if it has no end.
            is_load: the provider has too much to do.
        """
        is_bounded_by_time = is_load and left_s is not None and self.max_retries > 0
        if attempt >= self.max_retries and not is_bounded_by_time:
            return None
        backoff = Retry(self.base_s, self.max_s, self.chance)
        wait_s = backoff.wait_s(attempt + 1) if retry_after_s is None else retry_after_s
        if left_s is not None:
            return wait_s if wait_s + LEAST_FOR_ANSWER_S <= left_s else None
        return wait_s if retry_after_s is None or retry_after_s <= self.max_retry_after_s else None


@dataclass(slots=True)
class Attempts:
    """The attempts at one turn.

    Args:
        policy: when to try again.
        time_left_s: of the query, when the turn began; `None` if it has no end.
        failed: attempts in a row that have failed.
    """

    policy: RetryPolicy
    time_left_s: float | None
    failed: int = 0
    _waited_s: float = 0.0
    _began_s: float = field(init=False)

    def __post_init__(self) -> None:
        self._began_s = self.policy.now()

    def next_wait_s(self, *, retry_after_s: float | None, is_load: bool) -> float | None:
        """How long to wait before the next one; `None` means give up. Counts the failure, and the wait as waited."""
        wait_s = self.policy.wait_s(self.failed, retry_after_s=retry_after_s, left_s=self._left_s(), is_load=is_load)
        self.failed += 1
        self._waited_s += wait_s or 0.0
        return wait_s

    def succeed(self) -> None:
        """A message came whole: what fails later is a new failure."""
        self.failed = 0

    def _left_s(self) -> float | None:
        if self.time_left_s is None:
            return None
        # Waits count even where the clock of a test stands still.
        return self.time_left_s - max(self._waited_s, self.policy.now() - self._began_s)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that the provider asks for; a date, which it does not send, counts as none."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        if seconds >= 0 and math.isfinite(seconds):
            return seconds
    return None
