"""Work for a client that is of no use once the client has gone."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")


async def while_present(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """Do some work; `None` if the client disconnects before its end, which cancels it.

    Args:
        request: its body has been read.
        work: what is done.
    """
    doing, gone = asyncio.create_task(work), asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((doing, gone), return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        doing.cancel()
        gone.cancel()
        await asyncio.gather(doing, gone, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
