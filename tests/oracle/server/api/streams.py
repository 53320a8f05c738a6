"""Reads server-sent events as a client would, and holds them against the rules that hold for every stream."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import httpx2


@dataclass(slots=True)
class Streamed:
    """A stream under way, or its end.

    Args:
        response: status and headers.
        events: ids and chunks so far.
        comments: heartbeats so far.
        raw: every byte so far.
    """

    response: httpx2.Response
    events: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    comments: int = 0
    raw: bytes = b""
    _left: bytes = b""
    _incoming: AsyncIterator[bytes] | None = None

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def run_id(self) -> str:
        return self.response.headers["x-run-id"]

    @property
    def ids(self) -> list[int]:
        return [number for number, _ in self.events]

    @property
    def chunks(self) -> list[dict[str, Any]]:
        return [chunk for _, chunk in self.events]

    @property
    def types(self) -> list[str]:
        return [chunk["type"] for chunk in self.chunks]

    @property
    def text(self) -> str:
        return "".join(chunk["content"] for chunk in self.chunks if chunk["type"] == "content")

    @property
    def done(self) -> dict[str, Any]:
        assert self.types.count("done") == 1
        assert self.types[-1] == "done"
        return self.chunks[-1]

    async def until(self, text: str) -> None:
        """Read until so much of the answer has come."""
        while text not in self.text:
            assert await self._more(), f"the stream ended before {text!r}: {self.types}"

    async def until_type(self, wanted: str) -> dict[str, Any]:
        """Read until there is a chunk of this type; returns it."""
        while wanted not in self.types:
            assert await self._more(), f"the stream ended before {wanted!r}: {self.types}"
        return self.chunks[self.types.index(wanted)]

    async def until_comment(self) -> None:
        """Read until the next heartbeat."""
        before = self.comments
        while self.comments == before:
            assert await self._more(), "the stream ended before a heartbeat"

    async def rest(self) -> None:
        """Read to the end."""
        while await self._more():
            pass

    async def _more(self) -> bool:
        assert self._incoming is not None
        data = await anext(self._incoming, b"")
        self.raw += data
        self._left += data
        *events, self._left = self._left.split(b"\n\n")
        for event in events:
            self._take(event)
        return bool(data)

    def _take(self, event: bytes) -> None:
        if event.startswith(b":"):
            self.comments += 1
            return
        first, second = event.split(b"\n")
        assert first.startswith(b"id: ")
        assert second.startswith(b"data: ")
        self.events.append((int(first[4:]), json.loads(second[6:])))


async def read_stream(response: httpx2.Response) -> Streamed:
    """Begin to read; an answer that is no stream is read whole."""
    streamed = Streamed(response)
    if response.headers.get("content-type", "").startswith("text/event-stream"):
        streamed._incoming = response.aiter_raw()
    else:
        await response.aread()
        streamed._incoming = _nothing()
    return streamed


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
