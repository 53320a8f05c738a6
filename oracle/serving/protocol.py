"""HTTP as uvicorn speaks it, with bounds on what comes before anybody could ask whose it is.

uvicorn's own takes a request's head (its address, its headers) of any size, over any time, into memory. Bodies are
bounded by the service, which reads them.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD_BYTES: Final = 64 * 1024
"""More than any browser or proxy sends; what comes with the last piece is not counted."""
_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"content-type: application/json\r\ncontent-length: 47\r\nconnection: close\r\n\r\n"
    b'{"detail":"The head of a request is too large"}'
)


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    head_s = 60.0
    """For the whole of a head, from the connection or its first byte on."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401  uvicorn's
        super().__init__(*args, **options)
        self._held = 0  # bytes that the parser has taken without giving anything of them
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's
        """Somebody has connected."""
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._stop_head_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, and see that it leads to something."""
        self._held += len(data)
        super().data_received(data)
        if self._held > MOST_HEAD_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._start_head_timer()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is there."""
        self._held = 0
        self._stop_head_timer()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of its body is there."""
        self._held = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is there."""
        self._held = 0
        super().on_message_complete()

    def _refuse(self) -> None:
        # uvicorn says that there always is one; there is none before the first request.
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
            self.transport.write(_TOO_LARGE)
        self.transport.close()

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_s, self.transport.close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
