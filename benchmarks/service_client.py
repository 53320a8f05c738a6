"""A client with little overhead for measurements of the service: sockets and httptools."""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import urlsplit

import httptools

OnEvent = Callable[[int, bytes], None]


class ServiceClient(asyncio.Protocol):
    """A connection with one response at a time.

    Args:
        on_event: called with the number and the data of each event of a stream, as it arrives.
        on_body: called with the body's bytes instead of `on_event`.
    """

    def __init__(self, *, on_event: OnEvent | None = None, on_body: Callable[[bytes], None] | None = None) -> None:
        self._on_event = on_event
        self._on_body = on_body
        self._rest = b""
        self._is_stream = False
        self._parser = httptools.HttpResponseParser(self)
        self._ended = asyncio.Event()
        self._begun = asyncio.Event()
        self._transport: asyncio.Transport | None = None
        self._body: list[bytes] = []
        self.status = 0
        self.headers: dict[str, str] = {}
        self.is_whole = False
        """Whether the response is complete, and did not end because the connection was lost."""

    @classmethod
    async def connect(cls, address: str, **callbacks: Any) -> Self:
        url = urlsplit(address)
        client = cls(**callbacks)
        await asyncio.get_running_loop().create_connection(lambda: client, url.hostname, url.port)
        return client

    def send(self, method: str, path: str, *, body: Any = None, headers: dict[str, str] | None = None) -> None:
        """Send a request."""
        raw = b"" if body is None else json.dumps(body).encode()
        given = {"host": "127.0.0.1", "content-length": str(len(raw)), **(headers or {})}
        if body is not None:
            given.setdefault("content-type", "application/json")
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self._begin()
        self.transport.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + raw)

    async def headers_came(self) -> int:
        """Wait for the headers; returns the status, or raises ConnectionError."""
        await self._begun.wait()
        if not self.status:
            raise ConnectionError("the connection was closed before an answer came")
        return self.status

    async def ended(self) -> None:
        """Wait for the end of the response, complete or not."""
        await self._ended.wait()

    @property
    def is_over(self) -> bool:
        return self._ended.is_set()

    @property
    def transport(self) -> asyncio.Transport:
        assert self._transport is not None, "not connected"
        return self._transport

    @property
    def body(self) -> bytes:
        """The body of a response that is not a stream of events."""
        return b"".join(self._body)

    def json(self) -> Any:
        return json.loads(self.body)

    def close(self) -> None:
        self.transport.abort()

    def _begin(self) -> None:
        self.status, self.is_whole, self._rest = 0, False, b""
        self.headers.clear()
        self._body.clear()
        self._begun.clear()
        self._ended.clear()

    # asyncio's side

    def connection_made(self, transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        del self._parser, self._on_event, self._on_body  # reference cycles: they refer to this client
        self._begun.set()
        self._ended.set()

    # httptools' side

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.decode().lower()] = value.decode()

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()
        self._is_stream = self.headers.get("content-type", "").startswith("text/event-stream")
        self._begun.set()

    def on_body(self, body: bytes) -> None:
        if self._on_body is not None:
            self._on_body(body)
        elif self._is_stream and self._on_event is not None:
            self._read_events(body)
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        self.is_whole = True
        self._ended.set()

    def _read_events(self, body: bytes) -> None:
        *events, self._rest = (self._rest + body).replace(b"\r\n", b"\n").split(b"\n\n")
        for event in events:
            number, data = 0, b""
            for line in event.split(b"\n"):
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: "):
                    data = line[6:]
            if data:
                self._on_event(number, data)


class Stream:
    """A stream of chunks for tests; it keeps all chunks received.

    Args:
        address: the service's base URL.
        token: a bearer token, if the service requires one.
    """

    def __init__(self, address: str, *, token: str | None = None) -> None:
        self._address = address
        self._token = token
        self._waiting: deque[dict[str, Any]] = deque()
        self._news = asyncio.Event()
        self.client: ServiceClient | None = None
        self.ids: list[int] = []
        self.chunks: list[dict[str, Any]] = []
        """All chunks received, in order."""

    async def ask(self, question: str, **fields: Any) -> Self:
        """Start a query."""
        return await self._open("POST", "/api/oracle/stream", body={"question": question, **fields})

    async def resume(self, run_id: str, *, after: int = 0) -> Self:
        """Read a run's chunks after a number."""
        return await self._open("GET", f"/api/oracle/runs/{run_id}/stream", headers={"last-event-id": str(after)})

    @property
    def status(self) -> int:
        return self._opened.status

    @property
    def run_id(self) -> str:
        return self._opened.headers["x-run-id"]

    @property
    def text(self) -> str:
        """The content chunks joined."""
        return "".join(chunk["content"] for chunk in self.chunks if chunk["type"] == "content")

    @property
    def done(self) -> dict[str, Any] | None:
        return self.chunks[-1] if self.chunks and self.chunks[-1]["type"] == "done" else None

    async def next(self) -> dict[str, Any] | None:
        """The next chunk; `None` at the end of the stream."""
        while not self._waiting:
            if self._opened.is_over:
                return None
            self._news.clear()
            ended = asyncio.ensure_future(self._opened.ended())
            news = asyncio.ensure_future(self._news.wait())
            await asyncio.wait((ended, news), return_when=asyncio.FIRST_COMPLETED)
            for each in (ended, news):
                each.cancel()
        return self._waiting.popleft()

    async def until(self, kind: str, *, count: int = 1) -> dict[str, Any]:
        """The `count`th further chunk of a type; raises if the stream ends before."""
        while (chunk := await self.next()) is not None:
            count -= chunk["type"] == kind
            if count == 0:
                return chunk
        raise AssertionError(f"the stream ended without {kind!r}; it had {self.chunks[-3:]!r}")

    async def read_all(self) -> Self:
        """Read to the end."""
        while await self.next() is not None:
            pass
        return self

    def close(self) -> None:
        self._opened.close()

    async def _open(self, method: str, path: str, **request: Any) -> Self:
        client = await ServiceClient.connect(self._address, on_event=self._take)
        headers = request.pop("headers", {})
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        client.send(method, path, headers=headers, **request)
        await client.headers_came()
        self.client = client
        return self

    @property
    def _opened(self) -> ServiceClient:
        assert self.client is not None, "not opened"
        return self.client

    def _take(self, number: int, data: bytes) -> None:
        chunk = json.loads(data)
        self.ids.append(number)
        self.chunks.append(chunk)
        self._waiting.append(chunk)
        self._news.set()


async def call(
    address: str, method: str, path: str, *, body: Any = None, token: str | None = None
) -> tuple[int, dict[str, str], Any]:
    """A call without a stream: status, headers, and the JSON or text of the response."""
    client = await ServiceClient.connect(address)
    headers = {"connection": "close"} | ({"authorization": f"Bearer {token}"} if token else {})
    client.send(method, path, body=body, headers=headers)
    try:
        await client.headers_came()
        await client.ended()
        raw = client.body
        is_json = client.headers.get("content-type", "").startswith("application/json")
        return client.status, dict(client.headers), json.loads(raw) if is_json and raw else raw.decode()
    finally:
        client.close()
