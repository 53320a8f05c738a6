"""A stand-in for the model provider: a loopback server that implements the Anthropic Messages API and plays a script.

For tests with the real SDK, real HTTP and real faults, without the provider:

    async with StandInProvider([ScriptedTurn(text="Hello")]) as provider:
        model = AnthropicModel(api_key="test", base_url=provider.url)

Rules:

- Each valid request gets the next reply of the script; an invalid one gets a 400 with the reason, and no reply.
- Replies wait for events, never for time, unless a turn has a `delay_s`.
- Every request is recorded, and whether the client disconnected before the end of the response.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from oracle.llm.scripted import ScriptedTurn
from tests.support.provider.cache import CacheUse, PromptCache
from tests.support.provider.diagnostics import Diagnostics
from tests.support.provider.rules import KNOWN_BETAS, MAX_REQUEST_BYTES, complaint
from tests.support.provider.signatures import Signer
from tests.support.provider.wire import Disturbed, HttpError, Reply, as_disturbed, message_events, message_id, sse

__all__ = ["Disturbed", "HttpError", "RecordedRequest", "Reply", "StandInProvider"]

_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(slots=True)
class RecordedRequest:
    """A received request.

    Args:
        path: with its query string, such as `/v1/messages`.
        headers: by lower-case name.
        body: the JSON object.
        id: the value of the response's header `request-id`.
        complaint: why it was rejected; `None` if it was valid.
        cached: its input by cache use, if the provider has a cache and has answered.
        disconnected: set when the client disconnected before the end of the response.
        finished: set when the response was sent completely, or the connection was lost.
    """

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    id: str = ""
    complaint: str | None = None
    cached: CacheUse | None = None
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    finished: asyncio.Event = field(default_factory=asyncio.Event)


class StandInProvider:
    """The server; use it as an async context manager.

    Args:
        turns: the replies to the requests, in order; may be endless.
        api_key: the only valid key; `None` accepts every key.
        betas: the accepted values of the `anthropic-beta` header; a gateway may know none.
        has_web_search: whether the organisation has enabled the provider's web search.
        has_system_messages: whether system messages are known within a conversation; a gateway may know none.
        has_diagnostics: whether it says why its cache was missed; a gateway may not know the question.
        cache: the prompt cache; with it, turns without a usage report their cache use.
    """

    path = "/v1/messages"

    def __init__(
        self,
        turns: Iterable[Reply] = (),
        *,
        api_key: str | None = None,
        betas: Collection[str] = KNOWN_BETAS,
        has_web_search: bool = True,
        has_system_messages: bool = True,
        has_diagnostics: bool = True,
        cache: PromptCache | None = None,
    ) -> None:
        self._turns: Iterator[Reply] = iter(turns)
        self._api_key = api_key
        self._betas = frozenset(betas)
        self._has_web_search = has_web_search
        self._has_system_messages = has_system_messages
        self._has_diagnostics = has_diagnostics
        self._diagnostics = Diagnostics()
        self._cache = cache
        self._played = 0
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._arrived = asyncio.Condition()
        self.requests: list[RecordedRequest] = []
        """Every request to the Messages API, including rejected ones, oldest first."""

    @property
    def url(self) -> str:
        """The base URL for the SDK."""
        if self._server is None:
            raise RuntimeError("the stand-in provider is not running; use it with `async with`")
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    def play(self, turns: Iterable[Reply]) -> None:
        """Replace the remaining replies; an iterator can read `bodies`, whose last item is the current request."""
        self._turns = iter(turns)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The JSON objects of the requests."""
        return [request.body for request in self.requests]

    async def wait_request(self, count: int = 1) -> RecordedRequest:
        """Wait until `count` requests have arrived; returns the last of them."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def wait_disconnected(self, count: int = 1) -> RecordedRequest:
        """Wait until the client of request number `count` has disconnected during the response."""
        request = await self.wait_request(count)
        await request.disconnected.wait()
        return request

    async def __aenter__(self) -> Self:
        self._server = await asyncio.get_running_loop().create_server(self._connection, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None  # entered before
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    def _connection(self) -> "_Connection":
        gone = asyncio.Event()
        return _Connection(gone, lambda reader, writer: self._accept(reader, writer, gone))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event) -> None:
        task = asyncio.current_task()
        assert task is not None  # asyncio runs it in one
        self._connections.add(task)
        try:
            while await self._serve_request(reader, writer, gone):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            # The client has disconnected or the server is closing; nothing awaits the result of this task.
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gone: asyncio.Event
    ) -> bool:
        """Answer one request; returns whether the connection stays open."""
        head = await _read_head(reader)
        if head is None:
            return False
        method, path, headers = head
        length = int(headers.get("content-length", "0"))
        if length > MAX_REQUEST_BYTES:
            await _send(writer, HttpError("request_too_large", "Request exceeds the maximum size"))
            return False
        raw = await reader.readexactly(length)
        if method != "POST" or not path.startswith(self.path):
            await _send(writer, HttpError("not_found_error", f"{method} {path}"))
            return True
        try:
            body = json.loads(raw)
        except ValueError as error:
            await _send(writer, HttpError("invalid_request_error", f"The request body is not valid JSON: {error}"))
            return True
        request = RecordedRequest(path, headers, body, f"req_standin_{len(self.requests) + 1}")
        request.complaint = self.check(request)
        async with self._arrived:
            self.requests.append(request)
            self._arrived.notify_all()
        try:
            return await self._answer(request, self._reply(request), writer, gone)
        finally:
            request.finished.set()

    def check(self, request: RecordedRequest) -> str | None:
        """Why a request is rejected; `None` if it is valid."""
        return complaint(
            request.body,
            betas=request.headers.get("anthropic-beta", ""),
            known_betas=self._betas,
            has_web_search=self._has_web_search,
            has_system_messages=self._has_system_messages,
            has_diagnostics=self._has_diagnostics,
        )

    def _use_cache(self, request: RecordedRequest) -> None:
        """Look up and update the cache, at the start of the response."""
        if self._cache is not None:
            found = self._cache.look_up(request.body, workspace=_key_of(request))
            request.cached = found.use
            found.commit()

    def _reply(self, request: RecordedRequest) -> Reply:
        if self._api_key is not None and _key_of(request) != self._api_key:
            return HttpError("authentication_error", "invalid x-api-key")
        if request.complaint is not None:
            return HttpError("invalid_request_error", request.complaint)
        reply = next(self._turns, None)
        if reply is None:
            return HttpError(
                "invalid_request_error", f"The script has {self._played} replies, and one more was asked for"
            )
        self._played += 1
        return as_disturbed(reply) if isinstance(reply, ScriptedTurn) else reply

    async def _answer(
        self, request: RecordedRequest, reply: Reply, writer: asyncio.StreamWriter, gone: asyncio.Event
    ) -> bool:
        if isinstance(reply, HttpError):
            await _send(writer, reply, request.id)
            return True
        watcher = asyncio.create_task(gone.wait())
        player = asyncio.create_task(self._play(request, reply, writer))
        try:
            await asyncio.wait({watcher, player}, return_when=asyncio.FIRST_COMPLETED)
            if player.done() and player.exception() is None:
                return player.result()
            request.disconnected.set()
            return False
        finally:
            for task in (watcher, player):
                task.cancel()
            await asyncio.gather(watcher, player, return_exceptions=True)

    async def _play(
        self, request: RecordedRequest, reply: ScriptedTurn | Disturbed, writer: asyncio.StreamWriter
    ) -> bool:
        turn = reply.turn if isinstance(reply, Disturbed) else reply
        self._use_cache(request)
        content, end = self.frames(turn, request, number=self._played)
        if turn.delay_s > 0:
            await asyncio.sleep(turn.delay_s)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
            b"request-id: %b\r\ntransfer-encoding: chunked\r\n\r\n" % request.id.encode()
        )
        if isinstance(reply, ScriptedTurn):
            return await _finish(writer, [*content, *end])
        frames = [*content, *end]
        after = len(content) if reply.after is None else reply.after
        for frame in frames[:after]:
            await _chunk(writer, frame)
        return await _disturb(writer, reply, frames[after:], error=self.error_frame(reply))

    def frames(self, turn: ScriptedTurn, request: RecordedRequest, *, number: int) -> tuple[list[bytes], list[bytes]]:
        """The server-sent events of a turn: those up to the end of its content, and those after it."""
        model = str(request.body.get("model"))
        found = self._diagnostics.compare(request.body, message_id=message_id(number))
        content, end = message_events(
            turn, number=number, model=model, sign=Signer(request.body).sign, cached=request.cached, diagnostics=found
        )
        return [sse(event) for event in content], [sse(event) for event in end]

    def error_frame(self, reply: Disturbed) -> bytes:
        """The server-sent event of an error."""
        return sse({"type": "error", "error": {"type": reply.error_type, "message": reply.message}})


class _Connection(asyncio.StreamReaderProtocol):
    """A connection that detects when the client disconnects, without reading ahead."""

    def __init__(
        self,
        gone: asyncio.Event,
        serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]],
    ) -> None:
        super().__init__(asyncio.StreamReader(limit=2**20), serve)
        self._gone = gone

    def eof_received(self) -> bool:
        """The client has closed the connection."""
        self._gone.set()
        return bool(super().eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection was lost."""
        self._gone.set()
        super().connection_lost(exc)


async def _disturb(writer: asyncio.StreamWriter, reply: Disturbed, rest: list[bytes], *, error: bytes) -> bool:
    if reply.how == "hang":
        await asyncio.Event().wait()
    elif reply.how == "reset":
        writer.transport.abort()
        return False
    elif reply.how == "error_event":
        return await _finish(writer, [error])
    elif reply.how == "early_end":
        if reply.garbage:
            await _chunk(writer, reply.garbage)
        return await _finish(writer, [])
    assert reply.gate is not None  # checked by Disturbed
    await reply.gate.wait()
    return await _finish(writer, rest)


async def _finish(writer: asyncio.StreamWriter, frames: list[bytes]) -> bool:
    for frame in frames:
        await _chunk(writer, frame)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))
    await writer.drain()


async def _send(writer: asyncio.StreamWriter, error: HttpError, request_id: str = "req_standin") -> None:
    report = {"type": "error", "error": {"type": error.error_type, "message": error.message}, "request_id": request_id}
    body = (json.dumps(report) if error.body is None else error.body).encode()
    status = error.http_status
    headers = {
        "content-type": "application/json" if error.body is None else "text/html",
        "content-length": str(len(body)),
        "request-id": request_id,
        **error.headers,
    }
    lines = [
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Error')}",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str]] | None:
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = dict(line.split(":", 1) for line in lines)
    return method, path, {name.lower(): value.strip() for name, value in headers.items()}


def _key_of(request: RecordedRequest) -> str:
    return request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
