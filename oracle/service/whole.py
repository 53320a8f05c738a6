"""A run's answer as one object, gathered from its chunks: so it cannot differ from what was streamed."""

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import Request

from oracle.chunks import Content, Done, Failed, SourceFound, SystemNotice, read_chunk
from oracle.service.parts import ServiceParts
from oracle.service.reading import attached, chunks_of, is_stalled
from oracle.storage import RunRecord, StoredChunk, StoreUnavailableError

_OF_DONE = ("termination_reason", "tokens_used", "tokens_estimated", "model_used", "turns", "context_id", "run_id")


class Gathering:
    """What the chunks of a run add up to."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._sources: list[Any] = []
        self._notices: list[Any] = []
        self._failed: Failed | None = None
        self._done: Done | None = None

    def add(self, batch: Sequence[StoredChunk]) -> None:
        """Take the next chunks."""
        for stored in batch:
            match read_chunk(stored.data):
                case Content(content=content):
                    self._texts.append(content)
                case SourceFound(source=source):
                    self._sources.append(source.to_wire())
                case SystemNotice() as notice:
                    self._notices.append(notice.to_wire())
                case Failed() as failed:
                    self._failed = failed
                case Done() as done:
                    self._done = done

    def answer(self) -> dict[str, Any]:
        """The whole answer.

        Raises:
            StoreUnavailableError: the run's end has not come.
        """
        if self._done is None:
            raise StoreUnavailableError("the chunks of the run ended before its end")
        told = {"answer": "".join(self._texts), "sources": self._sources, "system_messages": self._notices}
        told |= {name: getattr(self._done, name) for name in _OF_DONE}
        if self._done.termination_reason == "error" and self._failed is not None:
            told |= {"error": self._failed.error, "error_type": self._failed.error_type}
        return told


async def whole_answer(request: Request, parts: ServiceParts, run: RunRecord) -> dict[str, Any] | None:
    """Wait for the run's end; `None` if the client has gone before.

    Raises:
        StoreUnavailableError: the end cannot be waited for; the run may go on.
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
            raise StoreUnavailableError("the answer can be waited for no longer")
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)


async def _gather(parts: ServiceParts, run: RunRecord) -> dict[str, Any] | None:
    gathering = Gathering()
    async for batch in chunks_of(parts, run):
        gathering.add(batch)
    return gathering.answer()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _stalled(parts: ServiceParts) -> None:
    """Returns when nobody should wait on."""
    while not is_stalled(parts):
        try:
            async with asyncio.timeout(parts.timing.heartbeat_s):
                await parts.streams.closing.wait()
                return
        except TimeoutError:
            continue
