"""Time as a run sees it: injected, monotonic, and never slept on in tests."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Protocol


class Signal:
    """An `asyncio.Event` for one waiter; it takes 100 bytes instead of 900, and every parked run has one."""

    __slots__ = ("_is_set", "_waiter")

    def __init__(self) -> None:
        self._is_set = False
        self._waiter: asyncio.Future[None] | None = None

    def is_set(self) -> bool:
        """Whether it has happened since the last `clear`."""
        return self._is_set

    def set(self) -> None:
        """Wake the waiter; further waits return at once."""
        self._is_set = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def clear(self) -> None:
        """Make the next wait block again."""
        self._is_set = False

    def wait(self) -> Awaitable[None]:
        """Return when it is set."""
        self._waiter = asyncio.get_running_loop().create_future()
        if self._is_set:
            self._waiter.set_result(None)
        return self._waiter


Event = asyncio.Event | Signal


class Clock(Protocol):
    """Monotonic time in seconds, and the one way to wait for it."""

    def now(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Return when the event is set or the time has come, whichever is first; `None` means no time.

        May set the event itself, and may return early: the caller reads the time again.
        """
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Seconds of `time.monotonic`."""
        return time.monotonic()

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Wait on a timer of the loop, not on a task of its own; may return a clock tick too early."""
        if until_s is None:
            await event.wait()
            return
        timer = asyncio.get_running_loop().call_later(max(0.0, until_s - self.now()), event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()
