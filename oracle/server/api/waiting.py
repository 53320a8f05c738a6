"""Answers that are waited for as a whole, such as that of a run: folded from its chunks, so that it cannot differ."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from starlette.requests import Request

from oracle.core.chunks import Answer, read_chunk
from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.records import RunRecord
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import attached, chunks_of, is_stalled
from oracle.server.api.sse import disconnected

T = TypeVar("T")


def as_one_object(answer: Answer) -> dict[str, Any]:
    """The answer as the body of a response.

    Raises:
        StoreUnavailableError: the end of the run is missing.
    """
    done, failed = answer.done, answer.failed
    if done is None:
        raise StoreUnavailableError("the stream of the run ended before the run did")
    body = {
        "answer": answer.text,
        "sources": [source.to_wire() for source in answer.sources],
        "system_messages": [notice.to_wire() for notice in answer.notices],
        **done.to_wire(),
    }
    if done.termination_reason == "error" and failed is not None:
        body |= failed.to_wire()
    del body["type"]  # of the chunks
    return body


async def while_present(request: Request, work: Coroutine[Any, Any, T]) -> T | None:
    """Do some work; `None` if the client disconnects before its end, which cancels it.

    Args:
        request: its body has been read.
        work: cancelled when the client disconnects.
    """
    doing, gone = asyncio.create_task(work), asyncio.create_task(disconnected(request.receive))
    try:
        await asyncio.wait((doing, gone), return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        doing.cancel()
        gone.cancel()
        await asyncio.gather(doing, gone, return_exceptions=True)


async def whole_answer(request: Request, parts: ServiceParts, run: RunRecord) -> dict[str, Any] | None:
    """Wait for the end of the run; `None` if the client disconnects first.

    Raises:
        StoreUnavailableError: the end cannot be awaited; the run may go on.
    """
    return await waited_for(request, parts, run, _gather(parts, run))


async def waited_for(
    request: Request | None, parts: ServiceParts, run: RunRecord, work: Coroutine[Any, Any, T]
) -> T | None:
    """Read a run along as a whole; `None` if the client disconnects before the end of that.

    Args:
        request: its body has been read; `None`: the caller itself notices when the client leaves.
        parts: the service's parts, whose streams count the reader.
        run: counts a reader meanwhile.
        work: reads it.

    Raises:
        StoreUnavailableError: the end cannot be awaited; the run may go on.
    """
    with attached(parts, run), parts.streams.opened():
        reading = _gathered(parts, work)
        return await (reading if request is None else while_present(request, reading))


async def _gathered(parts: ServiceParts, work: Coroutine[Any, Any, T]) -> T:
    gathering, stalled = asyncio.create_task(work), asyncio.create_task(_stalled(parts))
    try:
        await asyncio.wait((gathering, stalled), return_when=asyncio.FIRST_COMPLETED)
        if not gathering.done():
            raise StoreUnavailableError("the wait for the answer was abandoned")
        return gathering.result()
    finally:
        gathering.cancel()
        stalled.cancel()
        await asyncio.gather(gathering, stalled, return_exceptions=True)


async def _gather(parts: ServiceParts, run: RunRecord) -> dict[str, Any]:
    answer = Answer()
    async for batch in chunks_of(parts, run):
        for stored in batch:
            answer.add(read_chunk(stored.data))
    return as_one_object(answer)


async def _stalled(parts: ServiceParts) -> None:
    """Return when there is no point in waiting any longer."""
    while not (is_stalled(parts) or parts.streams.closing.is_set()):
        with suppress(TimeoutError):
            async with asyncio.timeout(parts.timing.heartbeat_s):
                await parts.streams.closing.wait()
