"""The provider's response as server-sent events, with bounded size and without blocking other runs.

Rules:

- Responses must not be compressed: compression is not requested, and refused, because 300 KB can unpack to 300 MB in
  the event loop's thread.
- Reading takes linear time (the SDK's decoder joins lines one by one, which is quadratic for many comments) and yields
  to other runs between pieces, also when all data has already arrived.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

import httpx2

from oracle.core.errors import UpstreamError
from oracle.core.server_sent_events import EventReader

IDENTITY: Final = {"accept-encoding": "identity"}
"""Sent with every request."""
MOST_BYTES: Final = 64_000_000
"""The limit for one message, including everything around it; the longest answers of current models have about 10 MB."""

_PIECE_BYTES: Final = 16_384
_LONGEST_S: Final = 0.005  # without yielding to the event loop


async def refuse_encoded(response: httpx2.Response) -> None:
    """Refuse a compressed response; a hook of the HTTP client, called before the body is read.

    Raises:
        UpstreamError: the body is compressed.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        raise UpstreamError(f"an answer in the encoding {encoding[:40]!r}, which was not asked for")


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
