"""Reading a run along: as a stream, or whole.

A stream that was accepted ends with `done`, also where its run has been forgotten while it was read, or could not be
begun after all: the missing end is then made from the run's row.
"""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from typing import Annotated, cast

from fastapi import Header, Query
from starlette.responses import Response

from oracle.core.chunks import Chunk, Done, Failed, TerminationReason, read_chunk, write_chunk
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.runs.storage.records import ChunkPage, RunRecord, StoredChunk
from oracle.server.api.access import own_run, with_texts
from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.api.sse import EventStreamResponse, chunk_events, whole_stream

GREATEST_ID = 2**31 - 1
"""Numbers of chunks are kept in 32 bits; what is greater is beyond every `done`."""

LastEventId = Annotated[
    str | None,
    Header(alias="Last-Event-ID", description="The id of the last event seen; takes precedence over `after`."),
]
AfterId = Annotated[str | None, Query(description="The same, for clients that cannot set headers.")]

_NEVER_BEGAN = Failed("The question could not be accepted. Ask it again.", "interrupted")


def run_path(run_id: str) -> str:
    """The address of a run."""
    return f"/api/oracle/runs/{run_id}"


def run_headers(run_id: str) -> dict[str, str]:
    """Headers that name the run, sent before the first chunk."""
    return {"X-Run-Id": run_id, "Location": run_path(run_id)}


def last_seen(header: str | None, after: str | None) -> int:
    """The number of the last chunk that a client has, from `Last-Event-ID` or, if that is not there, `after`.

    Raises:
        UserError: it is no number.
    """
    # An empty header is what a browser's EventSource holds before its first id: there is none.
    text, loc = (header, ("header", "Last-Event-ID")) if header else (after, ("query", "after"))
    if text is None:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise UserError("the last id must be a whole number from 0", loc=loc, value=text)
    return GREATEST_ID if len(text) > 10 else min(int(text), GREATEST_ID)


async def resume_stream(parts: ServiceParts, run_id: str, *, caller: Caller, after: int) -> Response:
    """The run's chunks after a number, however long ago the run was; 204 if there are none and will be none.

    Raises:
        NotFoundError: the user has no such run.
        ForgottenRunError: its texts were deleted.
    """
    # What has ended needs nothing but its chunks: one read, and often one write.
    first = await parts.store.log.page(run_id, user_id=caller.user_id, after=after)
    if first is not None and first.is_last:
        if after > 0 and not first.chunks:
            return Response(status_code=204, headers=run_headers(run_id))
        if first.chunks and (whole := whole_stream(first.chunks, headers=run_headers(run_id))):
            parts.metrics.stream_opened()
            parts.metrics.stream_closed()
            return whole
    run = with_texts(await own_run(run_id, parts, caller))
    return open_stream(parts, run, after=after, first=first)


def open_stream(
    parts: ServiceParts, run: RunRecord, *, after: int = 0, first: ChunkPage | None = None
) -> EventStreamResponse[Sequence[StoredChunk]]:
    """The run's chunks after a number, and those to come.

    Args:
        parts: the parts of the service.
        run: the run.
        after: the number.
        first: the chunks after it as they were read before.
    """
    return EventStreamResponse(
        chunks_of(parts, run, after=after, first=first),
        events=chunk_events,
        headers=run_headers(run.id),
        reading=reading(parts, run),
        timing=parts.timing,
        streams=parts.streams,
        is_stalled=lambda: is_stalled(parts, can_return=True),
    )


async def chunks_of(
    parts: ServiceParts, run: RunRecord, *, after: int = 0, first: ChunkPage | None = None, tells_rest: bool = False
) -> AsyncGenerator[Sequence[StoredChunk], None]:
    """The run's chunks after a number, in batches, up to `done`; with `tells_rest` as `EventLog.follow` says.

    Raises:
        StoreUnavailableError: they cannot be read any more; the run may go on.
    """
    last = None
    following = parts.store.log.follow(run.id, after=after, first=first, tells_rest=tells_rest)
    async with aclosing(following) as batches:
        async for batch in batches:
            if batch:
                last = batch[-1]
            yield batch
    if last is not None and from_json(last.data)["type"] == "done":
        return
    ended = await parts.store.runs.find(run.id)
    if ended is None or ended.kept != "whole":
        rest = enumerate(_rest(ended or run), start=1 + (after if last is None else last.n))
        yield [StoredChunk(n, write_chunk(chunk)) for n, chunk in rest]


async def logged(parts: ServiceParts, run_id: str) -> AsyncIterator[tuple[int, Chunk]]:
    """What the log of a run has by now, without chunks that are damaged."""
    n = 0
    while (page := await parts.store.log.page(run_id, after=n)) is not None and page.chunks:
        for n, data in page.chunks:
            try:
                chunk = read_chunk(data)
            except ValueError:
                continue
            yield n, chunk


def _rest(run: RunRecord) -> Sequence[Chunk]:
    """The last chunks of a run whose chunks are gone."""
    never_began = run.kept == "whole"
    done = Done(
        termination_reason=cast("TerminationReason", "error" if never_began else run.termination_reason),
        tokens_used=run.tokens_used or 0,
        tokens_estimated=bool(run.tokens_estimated),
        model_used=run.model_used or "",
        context_id=run.context_id,
        run_id=run.id,
        turns=run.turns or 0,
    )
    return (_NEVER_BEGAN, done) if never_began else (done,)


@contextmanager
def attached(parts: ServiceParts, run: RunRecord) -> Iterator[None]:
    """Count a reader of the run while this is entered, unless the run has ended."""
    if run.status in ("running", "queued"):
        with parts.runs.attach(run):
            yield
    else:
        yield


def is_stalled(parts: ServiceParts, *, can_return: bool = False) -> bool:
    """Whether the store has been unavailable for longer than a reader should wait.

    Args:
        parts: the service's parts.
        can_return: the reader can go on where it was, on another worker if there is one.
    """
    health, timing = parts.store.health, parts.timing
    patience_s = timing.return_s if can_return and parts.store.is_shared else timing.patience_s
    return health.since_s is not None and time.monotonic() - health.since_s > patience_s


@contextmanager
def reading(parts: ServiceParts, run: RunRecord) -> Iterator[None]:
    """Count a stream, and its reader, while this is entered."""
    parts.metrics.stream_opened()
    try:
        with attached(parts, run):
            yield
    finally:
        parts.metrics.stream_closed()
