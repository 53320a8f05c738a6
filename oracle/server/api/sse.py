"""Server-sent events: a run's committed chunks, as they come, to one client.

Rules:

- An event is `id: N` and `data:` with one JSON object; a line `:` is a heartbeat.
- All committed chunks go out in one write. Nothing is queued here: a slow client reads later from the log.
- A stream ends after the run's last chunk; it also ends, with the run going on, when the client is gone, when it has
  not read for `send_timeout_s`, when the store has been out of order for too long, and when the process closes its
  streams. The client comes back with the last id that it has seen.

Why not sse-starlette's `EventSourceResponse`: on import it replaces `uvicorn.Server.handle_exit` for the whole process;
with its automatic drain disabled it still polls every half second in each event loop, and it makes one write of each
event, a sixth of what coalesced writes carry.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bt_runtime.text.data import dataclass
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.records import StoredChunk

_MEDIA_TYPE = "text/event-stream"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_HEARTBEAT = b":\n\n"
_LARGEST_WRITE = 256 * 1024
"""Bytes; a client that catches up on a long run and reads slowly must not hold all of it in memory."""

BatchT = TypeVar("BatchT")


@dataclass(frozen=True, slots=True)
class StreamTiming:
    """Times of a stream.

    Args:
        heartbeat_s: after this long without a chunk a comment is sent, so that proxies keep the connection.
        send_timeout_s: how long a client may leave what was sent unread.
        patience_s: how long the store may be out of order before streams of unfinished runs end.
        return_s: the same where other workers may share the store, for clients that take streams up again: another one
            has the run after `RunOptions.silent_s`, and a moment later it goes on there.
    """

    heartbeat_s: float = 10.0
    send_timeout_s: float = 30.0
    patience_s: float = 30.0
    return_s: float = 8.0


class _ClientStalledError(Exception):
    """The client does not read; the server closes the connection."""


def whole_stream(chunks: Sequence[StoredChunk], *, headers: Mapping[str, str]) -> Response | None:
    """The rest of an ended run as one answer in one write; `None` if that would be too large for one."""
    writes = list(_writes(chunk_events(chunks))) or [b""]
    if len(writes) > 1:
        return None
    return Response(writes[0], media_type=_MEDIA_TYPE, headers={**_HEADERS, **headers})


class OpenStreams:
    """The streams that are open in this process; `close` ends them all, and those that would open later."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        """Set when streams are to end."""
        self.open = 0
        """How many there are now."""

    def close(self) -> None:
        """End the streams; their clients come back, to another worker or after the restart."""
        self.closing.set()

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """A stream is open."""
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1


class EventStreamResponse(Response, Generic[BatchT]):
    """Sends batches of events until they end.

    Args:
        batches: of what has come; closed when the stream ends.
        events: makes the events of a batch, each with its blank line.
        headers: further ones.
        reading: entered while the client is connected.
        timing: the heartbeats and timeouts of the stream.
        streams: where it counts as open, and who may close it.
        is_stalled: asked at each heartbeat; a true answer ends the stream.
        interrupted: the last words where the stream ends before the batches do.
    """

    media_type = _MEDIA_TYPE

    def __init__(
        self,
        batches: AsyncGenerator[BatchT, None],
        *,
        events: Callable[[BatchT], Sequence[bytes]],
        headers: Mapping[str, str],
        reading: AbstractContextManager[None],
        timing: StreamTiming,
        streams: OpenStreams,
        is_stalled: Callable[[], bool],
        interrupted: bytes = b"",
    ) -> None:
        super().__init__(headers={**_HEADERS, **headers})
        del self.headers["content-length"]
        self._batches = batches
        self._events = events
        self._reading = reading
        self._timing = timing
        self._streams = streams
        self._is_stalled = is_stalled
        self._interrupted = interrupted
        self._sent_at = 0.0
        self._sending_since: float | None = None  # of a batch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  ASGI
        """Answer the request."""
        with self._reading, self._streams.opened(), contextlib.suppress(_ClientStalledError):
            await self._send(send, {"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            tasks = [
                asyncio.create_task(self._pump(send)),
                asyncio.create_task(self._beat(send)),
                asyncio.create_task(disconnected(receive)),
            ]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                pumped, beaten, gone = await asyncio.gather(*tasks, return_exceptions=True)
            for outcome in (pumped, beaten):
                if isinstance(outcome, Exception) and not isinstance(outcome, StorageError):
                    raise outcome
            if gone is not None:  # otherwise the client has disconnected
                last = b"" if pumped is None else self._interrupted
                await self._send(send, {"type": "http.response.body", "body": last, "more_body": False})

    async def _pump(self, send: Send) -> None:
        """Send the batches; `_beat` looks how long each takes, as a timeout for each would cost a tenth of it all."""
        clock = asyncio.get_running_loop().time
        async with contextlib.aclosing(self._batches) as batches:
            async for batch in batches:
                for body in _writes(self._events(batch)):
                    self._sending_since = clock()
                    await send({"type": "http.response.body", "body": body, "more_body": True})
                    self._sent_at, self._sending_since = clock(), None

    async def _beat(self, send: Send) -> None:
        """Send heartbeats, and check that the client reads; returns when the stream is to end."""
        timing, clock = self._timing, asyncio.get_running_loop().time
        while True:
            if self._sending_since is not None:
                next_look_at = self._sending_since + timing.send_timeout_s
                if next_look_at <= clock():
                    raise _ClientStalledError
            else:
                if self._sent_at + timing.heartbeat_s <= clock():
                    await self._send(send, {"type": "http.response.body", "body": _HEARTBEAT, "more_body": True})
                next_look_at = self._sent_at + timing.heartbeat_s
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min(next_look_at, clock() + timing.heartbeat_s)):
                    await self._streams.closing.wait()
            if self._streams.closing.is_set() or self._is_stalled():
                return

    async def _send(self, send: Send, message: Mapping[str, object]) -> None:
        try:
            async with asyncio.timeout(self._timing.send_timeout_s):
                await send(dict(message))
        except TimeoutError:
            raise _ClientStalledError from None
        self._sent_at = asyncio.get_running_loop().time()


def chunk_events(batch: Sequence[StoredChunk]) -> Sequence[bytes]:
    """Chunks as events, as the service's own streams have them."""
    return [b"id: %d\ndata: %b\n\n" % chunk for chunk in batch]


def _writes(events: Sequence[bytes]) -> Iterator[bytes]:
    """The events as few writes of bounded size; one is never cut."""
    joined = b"".join(events)
    if len(joined) <= _LARGEST_WRITE:  # nearly always
        if joined:
            yield joined
        return
    begin, size = 0, 0
    for at, event in enumerate(events):
        if size and size + len(event) > _LARGEST_WRITE:
            yield b"".join(events[begin:at])
            begin, size = at, 0
        size += len(event)
    yield b"".join(events[begin:])


async def disconnected(receive: Receive) -> None:
    """Return when the client has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass
