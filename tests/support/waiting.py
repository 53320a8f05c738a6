"""Waiting for what wakes nobody: the state of a thread or of another process, a row of a database, a line of a log."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

GUARD_S = 20.0
_BETWEEN_S = 0.01


async def until(ask: Callable[[], Any | Awaitable[Any]], *, guard_s: float = GUARD_S) -> Any:
    """Call `ask` every 10 ms until its result is true, and return that. Where there is an event, await it instead.

    Args:
        ask: returns a value, or an awaitable of one.

    Raises:
        TimeoutError: no result was true within `guard_s`.
    """
    async with asyncio.timeout(guard_s):
        while True:
            found = ask()
            if isinstance(found, Awaitable):
                found = await found
            if found:
                return found
            await asyncio.sleep(_BETWEEN_S)
