"""The wires to MCP servers, by which no server can send more than is read, and no process gets more than is configured.

The client library bounds neither a line of a process nor a body of JSON, and gives processes more of the environment.
"""

import asyncio
import logging
import os
import re
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Final

import anyio
import httpx2
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from oracle.tools.mcp.servers import ServerSettings, filled

_END_S: Final = 2.0
_CONNECT_S: Final = 10.0
_HEAD_BYTES: Final = 400
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,15})\b')


@asynccontextmanager
async def connected(
    server: ServerSettings, environ: Mapping[str, str], *, on_change: Callable[[], None]
) -> AsyncIterator[Client]:
    """A connection to a server, of either version of the protocol.

    Args:
        server: its settings.
        environ: what `${VARIABLES}` stand for.
        on_change: called when it has other tools, or is gone.

    Raises:
        MissingVariableError: a variable is not set.
        Exception: whatever the library raises if the server cannot be spoken to.
    """
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs what servers write; what fails is said once by us

    async def note(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            on_change()

    async with AsyncExitStack() as stack:
        if server.command is not None:
            env = {name: filled(value, environ) for name, value in server.env.items()}
            env = {name: environ[name] for name in ("PATH", "HOME") if name in environ} | env
            command = [server.command, *(filled(each, environ) for each in server.args)]
            transport: Any = _process(command, env, largest=server.largest_bytes, on_end=on_change)
        else:
            headers = {name: filled(value, environ) for name, value in server.headers.items()}
            http = httpx2.AsyncClient(
                headers={**headers, "accept-encoding": "identity"},
                timeout=httpx2.Timeout(max(60.0, 2 * server.timeout_s), connect=_CONNECT_S),
                transport=_Bounded(server.largest_bytes),
            )
            transport = streamable_http_client(
                server.url or "",
                http_client=await stack.enter_async_context(http),
                max_sse_event_size=server.largest_bytes,
            )
        client = Client(
            transport,
            cache=None,
            message_handler=note,
            read_timeout_seconds=server.timeout_s / 3,  # an old server may not answer how a new one is asked first
            client_info=types.Implementation(name="oracle-bt", version=version("oracle-bt")),
        )
        yield await stack.enter_async_context(client)


class _Bounded(httpx2.AsyncHTTPTransport):
    """HTTP whose bodies are bounded, unless they are streams of events, of which each is bounded by their reader."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._largest = largest

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response; a compressed one is refused, because it may unpack to any size."""
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            response.stream = _BoundedBody(response.stream, 0, "the server has sent a compressed answer")
        elif not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _BoundedBody(response.stream, self._largest, _too_long(self._largest))
        return response


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, body: Any, largest: int, problem: str) -> None:  # noqa: ANN401  the library's own stream
        self._body = body
        self._largest = largest
        self._problem = problem

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._largest
        async for data in self._body:
            left -= len(data)
            if left < 0:
                raise httpx2.StreamError(self._problem)
            yield data

    async def aclose(self) -> None:
        await self._body.aclose()


def _too_long(largest: int) -> str:
    return f"the server has sent more than {largest:,} bytes at once"


@asynccontextmanager
async def _process(
    command: list[str], env: Mapping[str, str], *, largest: int, on_end: Callable[[], None]
) -> AsyncGenerator[tuple[Any, Any], None]:
    """A process that is spoken to by lines; it and all that it has started are ended."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, env=env, start_new_session=True
    )
    stdin, stdout = process.stdin, process.stdout
    assert stdin is not None  # noqa: S101  they are pipes
    assert stdout is not None  # noqa: S101
    incoming, received = anyio.create_memory_object_stream[Any](0)
    to_send, outgoing = anyio.create_memory_object_stream[Any](0)

    async def read() -> None:
        async with incoming:
            lines = _Lines(largest)
            while data := await stdout.read(65_536):
                for message in lines.feed(data):
                    await incoming.send(SessionMessage(message))

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                stdin.write(line.encode() + b"\n")
                await stdin.drain()

    async def until_end(work: Callable[[], Awaitable[None]]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await work()
        incoming.close()
        on_end()

    tasks = [asyncio.create_task(until_end(work)) for work in (read, write)]
    try:
        yield received, to_send
    finally:
        with anyio.CancelScope(shield=True):
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            received.close()
            to_send.close()
            stdin.close()
            await _end(process, stdout)


async def _end(process: asyncio.subprocess.Process, output: asyncio.StreamReader) -> None:
    """End a process whose input is closed: by itself, on request, or by force; with all that it has started."""

    async def gone() -> None:
        while await output.read(65_536):
            pass
        await process.wait()

    for kill in (None, signal.SIGTERM, signal.SIGKILL):
        if kill is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, kill)
        if kill is not signal.SIGTERM and process.returncode is not None:
            continue  # what it has started may still be there
        with suppress(TimeoutError):
            await asyncio.wait_for(gone(), _END_S)
    getattr(process, "_transport").close()  # noqa: B009  private; what has left the group may hold the pipes for ever


class _Lines:
    """Messages from the output of a process. A line that is too long is an error for the request that it answers."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._line = bytearray()
        self._is_long = False

    def feed(self, data: bytes) -> Iterator[types.JSONRPCMessage]:
        """The messages that are complete now; what is none is left out: servers print all sorts of things."""
        first, *others = data.split(b"\n")
        self._add(first)
        for part in others:
            message = self._message()
            if message is not None:
                yield message
            self._line.clear()
            self._is_long = False
            self._add(part)

    def _add(self, part: bytes) -> None:
        if not self._is_long:
            self._line += part
            self._is_long = len(self._line) > self._largest
        if self._is_long:
            del self._line[_HEAD_BYTES:]

    def _message(self) -> types.JSONRPCMessage | None:
        if not self._is_long:
            with suppress(ValueError):
                return types.jsonrpc_message_adapter.validate_json(bytes(self._line), by_name=False)
            return None
        found = _ID.search(self._line)
        if found is None:
            return None
        error = types.ErrorData(code=types.INTERNAL_ERROR, message=_too_long(self._largest))
        return types.JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error)
