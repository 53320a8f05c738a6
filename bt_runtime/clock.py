"""Time as a run sees it: injected, monotonic, and never slept on in tests."""

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Monotonic time in seconds, and the one way to wait for it."""

    def now(self) -> float:
        """Seconds from an arbitrary start; never goes back."""
        ...

    async def wait(self, event: asyncio.Event, *, until_s: float | None) -> None:
        """Return when the event is set or the time has come, whichever is first; `None` means no time.

        May set the event itself, and may return early: the caller looks at the time again.
        """
        ...


class SystemClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        """Seconds of `time.monotonic`."""
        return time.monotonic()

    async def wait(self, event: asyncio.Event, *, until_s: float | None) -> None:
        """Wait on a timer of the loop, not on a task of its own; may return a clock tick too early."""
        if until_s is None:
            await event.wait()
            return
        timer = asyncio.get_running_loop().call_later(max(0.0, until_s - self.now()), event.set)
        try:
            await event.wait()
        finally:
            timer.cancel()
