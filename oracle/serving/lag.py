"""The lag of the event loop: the figure that shows whether one process is enough."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import structlog

log = structlog.get_logger(__name__)

INTERVAL_S: Final = 0.25
LONG_S: Final = 1.0


@asynccontextmanager
async def measured_lag(
    observe: Callable[[float], None], *, interval_s: float = INTERVAL_S, long_s: float = LONG_S
) -> AsyncIterator[None]:
    """Measure while this is entered.

    Args:
        observe: gets the lag in seconds, four times a second.
        interval_s: between two measurements.
        long_s: a lag of at least this is logged as well.
    """
    task = asyncio.create_task(_measure(observe, interval_s, long_s), name="loop lag")
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _measure(observe: Callable[[float], None], interval_s: float, long_s: float) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due_s = loop.time() + interval_s
        await asyncio.sleep(interval_s)
        lag_s = max(0.0, loop.time() - due_s)
        observe(lag_s)
        if lag_s >= long_s:
            log.warning("loop.lagged", ms=round(lag_s * 1000))
