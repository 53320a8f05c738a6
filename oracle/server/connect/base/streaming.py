"""Answers of adapters: a run's chunks as a stream in their protocol's words, or the whole answer.

A client that goes away cancels nothing; the run has the grace time of every run that was read.

A translator is a pure function of the run's row as it was begun and of its chunks: no clock, no random id. Ids are made
from the run's id and the numbers of chunks. So the same run gives the same bytes whenever it is read, by any worker,
and a client that comes back gets the rest of them.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol

from starlette.requests import Request

from oracle.core.chunks import Answer, Answered, ApprovalRequested, Chunk, QuestionAsked, read_chunk
from oracle.runs.storage.records import RunRecord
from oracle.server.api.parts import ServiceParts
from oracle.server.api.reading import chunks_of, is_stalled, reading
from oracle.server.api.sse import EventStreamResponse
from oracle.server.api.waiting import waited_for


class Translator(Protocol):
    """Makes the frames of one stream: whole server-sent events, each with its blank line. Used for one stream only."""

    def opening(self) -> Iterable[bytes]:
        """The frames before the first chunk."""
        ...

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        """The frames of chunk `n`; those of `done` have the end of the protocol's message."""
        ...

    def parked(self) -> Iterable[bytes]:
        """The frames that end the message of a run that waits for people alone; the stream ends after them.

        Without any the stream stays open, and goes on with the run. Called again when it is read again.
        """
        ...


_ASKING = (Answered, ApprovalRequested, QuestionAsked)


def adapted_stream(
    parts: ServiceParts,
    run: RunRecord,
    translator: Translator,
    *,
    after: int = 0,
    is_over: Callable[[], bool] = bool,
    headers: Mapping[str, str] = {},
    interrupted: bytes = b"",
) -> EventStreamResponse[Sequence[bytes]]:
    """The run as a stream of the translator's frames.

    Args:
        parts: the service's parts.
        run: the run; its log is read from the first chunk on.
        translator: makes the frames.
        after: how many frames the client has; they are made again and not sent.
        is_over: whether the translator's message has ended, where one run has several.
        headers: further ones.
        interrupted: the frames where the service stops before the run has ended, for clients that cannot come back.
    """
    return EventStreamResponse(
        _frames(parts, run, translator, after=after, is_over=is_over),
        events=lambda frames: frames,
        headers={"X-Run-Id": run.id, **headers},
        reading=reading(parts, run),
        timing=parts.timing,
        streams=parts.streams,
        is_stalled=lambda: is_stalled(parts, can_return=not interrupted),
        interrupted=interrupted,
    )


async def folded(
    request: Request | None, parts: ServiceParts, run: RunRecord, *, heard: Callable[[int, Chunk], object] | None = None
) -> Answer | None:
    """Wait for the end of the run; one that waits for people alone is answered as it is then, without `done`.

    Args:
        request: its body has been read; `None`: the caller itself notices when the client leaves.
        parts: the service's parts.
        run: the run.
        heard: gets each chunk, with its number.

    Returns:
        What its chunks add up to; `None` if the client disconnects first.

    Raises:
        StoreUnavailableError: the end cannot be awaited; the run may go on.
    """
    return await waited_for(request, parts, run, _folded(parts, run, heard))


async def _frames(
    parts: ServiceParts, run: RunRecord, translator: Translator, *, after: int, is_over: Callable[[], bool]
) -> AsyncGenerator[Sequence[bytes], None]:
    frames = list(translator.opening())
    asked, n = Answer(), 0
    async with aclosing(chunks_of(parts, run, tells_rest=True)) as batches:
        yield frames[after:]
        left = max(0, after - len(frames))
        async for batch in batches:
            if batch:
                frames = []
                for n, data in batch:
                    chunk = read_chunk(data)
                    frames += translator.frames(n, chunk)
                    if isinstance(chunk, _ASKING):
                        asked.add(chunk)
            elif not (asked.pending and await _is_parked(parts, run, n) and (frames := list(translator.parked()))):
                continue
            yield frames[left:]
            left = max(0, left - len(frames))
            if not batch or is_over():
                return


async def _folded(parts: ServiceParts, run: RunRecord, heard: Callable[[int, Chunk], object] | None) -> Answer:
    answer, n = Answer(), 0
    async with aclosing(chunks_of(parts, run, tells_rest=True)) as batches:
        async for batch in batches:
            for n, data in batch:
                answer.add(chunk := read_chunk(data))
                if heard is not None:
                    heard(n, chunk)
            if not batch and answer.pending and await _is_parked(parts, run, n):
                break
    return answer


async def _is_parked(parts: ServiceParts, run: RunRecord, last_n: int) -> bool:
    """Whether it waits for people, with this as its last chunk: it may have gone on, and wait for something else."""
    found = await parts.store.runs.find(run.id)
    return found is not None and found.status == "parked" and await parts.store.log.last_chunk(run.id) == last_n
