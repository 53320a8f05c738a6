"""Waiting on an injected clock, so that tests do not sleep."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any

import structlog

from bt_runtime import Clock
from oracle.core.retry import pause

log = structlog.get_logger(__name__)


async def ended_within(tasks: Collection["asyncio.Future[Any]"], seconds: float, *, clock: Clock) -> bool:
    """Wait until all tasks have ended or the time has passed; returns whether they have ended."""
    until_s, change = clock.now() + seconds, asyncio.Event()

    def wake(_: object) -> None:
        change.set()

    for task in tasks:
        task.add_done_callback(wake)
    try:
        while not all(task.done() for task in tasks) and clock.now() < until_s:
            change.clear()  # before the look at the tasks: the clock may have set it itself
            if not all(task.done() for task in tasks):
                await clock.wait(change, until_s=until_s)
    finally:
        for task in tasks:
            task.remove_done_callback(wake)
    return all(task.done() for task in tasks)


async def repeat(work: Callable[[], Awaitable[object]], *, every_s: float, clock: Clock, name: str) -> None:
    """Run the work at intervals until cancelled; what it raises is logged."""
    while True:
        await pause(every_s, clock=clock)
        try:
            await work()
        except Exception as error:  # noqa: BLE001  upkeep goes on after any failure of one round
            log.warning("upkeep.failed", work=name, problem=f"{type(error).__name__}: {error}")
