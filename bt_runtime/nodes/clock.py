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


class Alarm(Signal):
    """A signal that is also set at a time, which outlasts a wait.

    A run waits again and again for the same deadline, and needs one timer for it.
    """

    __slots__ = ("_at_s", "_timer")

    def __init__(self) -> None:
        super().__init__()
        self._timer: asyncio.TimerHandle | None = None
        self._at_s = 0.0

    def set_at(self, at_s: float, *, now_s: float) -> None:
        """Set it at a time, both in seconds of the same clock; replaces the time of an earlier call."""
        if self._timer is not None and at_s == self._at_s:
            return
        self.forget_time()
        self._at_s = at_s
        self._timer = asyncio.get_running_loop().call_later(max(0.0, at_s - now_s), self._ring)

    def forget_time(self) -> None:
        """Forget the time. Whoever has given one calls this when nothing waits any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        self.set()


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
    """The machine's monotonic clock: `now` is `time.monotonic`."""

    now = staticmethod(time.monotonic)

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Wait on a timer of the loop, not on a task of its own; may return a clock tick too early."""
        if isinstance(event, Alarm):
            if until_s is None:
                event.forget_time()
            else:
                event.set_at(until_s, now_s=self.now())
            await event.wait()
            return
        if until_s is None:
            await event.wait()
            return
        timer = asyncio.get_running_loop().call_later(max(0.0, until_s - self.now()), event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()


class ContinuedClock:
    """The clock of a run that is taken over: it is set while the run is repeated, and runs from then on.

    Args:
        clock: gives the time that passes.
        at_s: the first reading.
    """

    def __init__(self, clock: Clock, at_s: float = 0.0) -> None:
        self._clock = clock
        self._at_s = at_s
        self._ahead_s: float | None = None  # of the clock behind it; `None`: it stands still

    def now(self) -> float:
        """The time that was set, or the time since then added to it."""
        return self._at_s if self._ahead_s is None else self._clock.now() + self._ahead_s

    def show(self, at_s: float) -> None:
        """Stand still at a time."""
        self._at_s, self._ahead_s = at_s, None

    def go_on(self, from_s: float) -> None:
        """Pass from a time on."""
        self._ahead_s = from_s - self._clock.now()

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Wait for the event or the time.

        Raises:
            RuntimeError: it stands still, so the time would never come.
        """
        if self._ahead_s is None:
            raise RuntimeError("this clock stands still; it goes on when the run does")
        await self._clock.wait(event, until_s=None if until_s is None else until_s - self._ahead_s)


class PausableClock:
    """A clock that can be paused: the pause does not count as time, and no wait ends during it.

    Args:
        clock: gives the time.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lost_s = 0.0
        self._stopped_s: float | None = None
        self._waiting: list[Event] = []

    @property
    def is_stopped(self) -> bool:
        """Whether it stands still."""
        return self._stopped_s is not None

    def now(self) -> float:
        """Seconds of the clock behind it, less those for which this one stood still."""
        return (self._clock.now() if self._stopped_s is None else self._stopped_s) - self._lost_s

    def stop(self) -> None:
        """Stand still; does nothing if it does already."""
        if self._stopped_s is None:
            self._stopped_s = self._clock.now()

    def go(self) -> float:
        """Go on; returns for how many seconds it stood still."""
        if self._stopped_s is None:
            return 0.0
        stopped_s, self._stopped_s = self._clock.now() - self._stopped_s, None
        self._lost_s += stopped_s
        for event in self._waiting:  # their time comes later now; they read the clock again
            event.set()
        return stopped_s

    async def wait(self, event: Event, *, until_s: float | None) -> None:
        """Wait for the event or the time; returns early when the clock goes on."""
        if until_s is None:
            await event.wait()
            return
        self._waiting.append(event)
        try:
            await self._clock.wait(event, until_s=None if self.is_stopped else until_s + self._lost_s)
        finally:
            self._waiting.remove(event)
