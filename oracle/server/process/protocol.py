"""HTTP as uvicorn speaks it, with bounds on what comes before anybody could ask whose it is.

uvicorn's own takes a request's head (its address, its headers) of any size, over any time, into memory, and queues as
many requests as a client sends without waiting for answers. Here both are bounded: while `MOST_QUEUED` requests wait,
the connection is not read, and what was read of it before is not parsed. Bodies are bounded by the service, which reads
them; one that is still coming when its answer is complete is bounded by `EarlyAnswers`.

None of this can be had by uvicorn's settings. Its other implementation, on h11, bounds a head by one
(`h11_max_incomplete_event_size`), but not the time that it takes, and needs more than twice the time for each streamed
piece. Granian 2.8, another server, takes 1.0 to 1.2 times as long for a piece, and runs the application in processes of
its own. So uvicorn's classes are overridden, and `tests/oracle/server/process/test_protocol.py` fails where a new
version differs.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST_HEAD_BYTES: Final = 64 * 1024
"""More than any browser or proxy sends; what comes with the last piece is not counted."""
MOST_QUEUED: Final = 16
"""Requests of a connection that wait for the answer of an earlier one."""
_PIECE_BYTES: Final = 4096
"""Parsed at a time, between two looks at the queue; the shortest request has 18 bytes, so at most 227 come on top."""
LINGER_S: Final = 2.0
"""How long the rest of a body is read and dropped whose answer is complete."""
LINGER_BYTES: Final = 8_000_000
"""How much of it is."""
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: application/json\r\ncontent-length: 47\r\nconnection: close\r\n\r\n"
    b'{"detail":"The head of a request is too large"}'
)


class EarlyAnswers:
    """Closes the connection after an answer that comes before the request's body has.

    A refusal (401, 404, 413) is often sent while the client is still sending. Such a connection is not used again: what
    still comes is the body of a request that is over. It is not closed at once either, because a connection that is
    closed on unread bytes is reset, and the client may lose the answer with it. So the answer has `Connection: close`,
    goes out whole, and the connection is closed when the body has ended or after a short time, whichever comes first
    (RFC 9112, section 9.6, calls this a lingering close).

    Args:
        app: the application that answers the request.
        is_whole: whether the request has come to its end.
        linger_s: how long the rest of it is read and dropped.
    """

    def __init__(self, app: ASGIApp, *, is_whole: Callable[[], bool], linger_s: float = LINGER_S) -> None:
        self._app = app
        self._is_whole = is_whole
        self._linger_s = linger_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        is_early = False

        async def marked(message: Message) -> None:
            nonlocal is_early
            if message["type"] == "http.response.start":
                is_early = not self._is_whole()
                if is_early:
                    message = {**message, "headers": [*_without_connection(message), (b"connection", b"close")]}
            elif is_early and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await self._linger(receive)
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        await self._app(scope, receive, marked)

    async def _linger(self, receive: Receive) -> None:
        left = LINGER_BYTES
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._linger_s):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body"):  # the end of the body, or of the connection
                        return


class _Flow(FlowControl):
    """uvicorn's, which resumes reading at every answer, with a condition for that.

    Args:
        transport: what the connection is read from.
        may_read: says whether more may be read.
    """

    def __init__(self, transport: asyncio.Transport, *, may_read: Callable[[], bool]) -> None:
        super().__init__(transport)
        self.may_read = may_read

    def resume_reading(self) -> None:
        """Read on, if there is room for more requests."""
        if self.may_read():
            super().resume_reading()


class BoundedProtocol(HttpToolsProtocol):
    """One connection.

    When it has ended, nothing refers to it. A reference cycle would stay in memory until a full garbage collection,
    which is rare in the service.
    """

    # With more than 30 attributes in its dictionary an object has one of its own, of 1.6 KB.
    __slots__ = ("_answering", "_head_timer", "_held", "_unparsed")

    flow: _Flow
    head_s = 60.0
    """For the whole of a head, from the connection or its first byte on."""
    linger_s = LINGER_S
    """For the rest of a body whose request has been answered."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  uvicorn's
        super().__init__(*args, **options)
        self._held = 0  # bytes that the parser has taken without giving anything of them
        self._unparsed = b""
        self._answering: RequestResponseCycle | None = None
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's
        """A client has connected."""
        super().connection_made(transport)
        self.flow = _Flow(transport, may_read=self._has_room)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._stop_head_timer()
        self._unparsed = b""
        self.pipeline.clear()
        if self._answering is not None:  # uvicorn informs only the newest request, which may be a queued one
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn leaves the timer running if the client has reset the connection
        self.flow.may_read = bool  # never: a request keeps the flow control, which must not keep the connection

    def data_received(self, data: bytes) -> None:
        """Parse what came, as long as there is room for what it may bring."""
        data, at = self._unparsed + data, 0
        while at < len(data) and self._queue_has_room() and not self.transport.is_closing():
            self._parse(data[at : at + _PIECE_BYTES])
            at += _PIECE_BYTES
        self._unparsed = data[at:]
        if self._unparsed:
            self.flow.pause_reading()

    def on_response_complete(self) -> None:
        """A request is answered: the next one's turn, and room for one more."""
        self._answering = None
        super().on_response_complete()
        if self._unparsed and not self.transport.is_closing():
            self.data_received(b"")
            self.flow.resume_reading()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answering = cycle
        early = EarlyAnswers(app, is_whole=lambda: not cycle.more_body, linger_s=self.linger_s)  # type: ignore[arg-type]
        super()._start_asgi_task(cycle, early)  # type: ignore[arg-type]  # Starlette's types of ASGI are wider

    def _queue_has_room(self) -> bool:
        return len(self.pipeline) < MOST_QUEUED

    def _has_room(self) -> bool:
        return self._queue_has_room() and not self._unparsed and not self.transport.is_closing()

    def _parse(self, data: bytes) -> None:
        """Parse it, and see that it leads to something."""
        self._held += len(data)
        super().data_received(data)
        if self._held > MOST_HEAD_BYTES and not self.transport.is_closing():
            # uvicorn's types say that it is never None; it is, before the first request.
            if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
                self.transport.write(_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._start_head_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is complete."""
        self._held = 0
        self._stop_head_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of its body was received."""
        self._held = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """It is complete."""
        self._held = 0
        super().on_message_complete()

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_s, self.transport.close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def _without_connection(message: Message) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in message.get("headers", ()) if name.lower() != b"connection"]
