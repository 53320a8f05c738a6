"""The provider's response as server-sent events, with bounded size and without blocking other runs.

Rules:

- Responses must not be compressed: compression is not requested, and refused, because 300 KB can unpack to 300 MB in
  the event loop's thread.
- Reading takes linear time (the SDK's decoder joins lines one by one, which is quadratic for many comments) and yields
  to other runs between pieces, also when all data has already arrived.
- Lines end with LF or CRLF; only the `data` of an event is read (WHATWG HTML, section 9.2.6).
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

import httpx2

from oracle.errors import UpstreamError

IDENTITY: Final = {"accept-encoding": "identity"}
"""Sent with every request."""
MOST_BYTES: Final = 64_000_000
"""The limit for one message, including everything around it; the longest answers of current models have about 10 MB."""

_PIECE_BYTES: Final = 16_384
_LONGEST_S: Final = 0.005  # without yielding to the event loop


class EncodedAnswerError(UpstreamError):
    """The provider, or a proxy in front of it, sent a compressed response."""


async def refuse_encoded(response: httpx2.Response) -> None:
    """Refuse a compressed response; a hook of the HTTP client, called before the body is read.

    Raises:
        EncodedAnswerError: the body is compressed.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise EncodedAnswerError(f"an answer in the encoding {encoding[:40]!r}, which was not asked for")


class EventReader:
    """Reads server-sent events from pieces of any size."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[str]:
        """The data of the events that are complete with this piece.

        Raises:
            ValueError: the data is not UTF-8.
        """
        *ended, rest = piece.split(b"\n")
        events: list[str] = []
        for end in ended:
            line = bytes(self._line) + end if self._line else end
            self._line.clear()
            self._read(line.removesuffix(b"\r"), events)
        self._line += rest
        return events

    def _read(self, line: bytes, events: list[str]) -> None:
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            events.append(b"\n".join(self._data).decode())
            self._data.clear()


async def events_of(body: AsyncIterator[bytes], *, most_bytes: int = MOST_BYTES) -> AsyncGenerator[str, None]:
    """The data of each event of a response body, as it arrives.

    Raises:
        ValueError: the body is larger than `most_bytes`, or not UTF-8.
    """
    reader, read = EventReader(), 0
    clock = asyncio.get_running_loop().time
    began_s = clock()
    async for data in body:
        read += len(data)
        if read > most_bytes:
            raise ValueError(f"more than {most_bytes:,} bytes for one message")
        for at in range(0, len(data), _PIECE_BYTES):
            for event in reader.feed(data[at : at + _PIECE_BYTES]):
                yield event
            if clock() - began_s > _LONGEST_S:
                await asyncio.sleep(0)
                began_s = clock()
