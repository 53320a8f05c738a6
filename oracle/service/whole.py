"""A run's answer as one object, folded from its chunks, so that it cannot differ from the stream."""

import asyncio
from typing import Any

from starlette.requests import Request

from oracle.chunks import Answer, read_chunk
from oracle.service.parts import ServiceParts
from oracle.service.reading import attached, chunks_of, is_stalled
from oracle.storage import RunRecord, StoreUnavailableError


def as_one_object(answer: Answer) -> dict[str, Any]:
    """The answer as the body of a response.

    Raises:
        StoreUnavailableError: the end of the run is missing.
    """
    done, failed = answer.done, answer.failed
    if done is None:
        raise StoreUnavailableError("the chunks of the run ended before its end")
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


async def whole_answer(request: Request, parts: ServiceParts, run: RunRecord) -> dict[str, Any] | None:
    """Wait for the end of the run; `None` if the client disconnects first.

    Raises:
        StoreUnavailableError: the end cannot be awaited; the run may go on.
    """
    with attached(parts, run), parts.streams.opened():
        tasks = {
            "gather": asyncio.create_task(_gather(parts, run)),
            "gone": asyncio.create_task(_gone(request)),
            "stalled": asyncio.create_task(_stalled(parts)),
        }
        try:
            await asyncio.wait(tasks.values(), return_when=asyncio.FIRST_COMPLETED)
            if tasks["gather"].done():
                return tasks["gather"].result()
            if tasks["gone"].done():
                return None
            raise StoreUnavailableError("the wait for the answer was given up")
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _gather(parts: ServiceParts, run: RunRecord) -> dict[str, Any] | None:
    answer = Answer()
    async for batch in chunks_of(parts, run):
        for stored in batch:
            answer.add(read_chunk(stored.data))
    return as_one_object(answer)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stalled(parts: ServiceParts) -> None:
    """Return when there is no point in waiting any longer."""
    while not is_stalled(parts):
        try:
            async with asyncio.timeout(parts.timing.heartbeat_s):
                await parts.streams.closing.wait()
                return
        except TimeoutError:
            continue
