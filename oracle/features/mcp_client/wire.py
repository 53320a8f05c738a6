"""Connections to MCP servers with bounds: on what a server can send, and on the environment that a process gets.

The client library bounds neither a line of a process nor a body of JSON, and gives processes more of the environment.
"""

import logging
import re
import subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Final

import anyio
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage

from bt_runtime.text.data import dataclass
from oracle.features.mcp_client.servers import ServerSettings, filled
from oracle.tools.keys import user_headers

_END_S: Final = 2.0
_CONNECT_S: Final = 10.0
_HEAD_BYTES: Final = 400
_ID: Final = re.compile(rb'"id"\s*:\s*(\d{1,15})\b')


def client_of(server: ServerSettings, environ: Mapping[str, str], *, on_change: Callable[[], None]) -> Client:
    """A client of a server, of either version of the protocol; entering it connects.

    Args:
        server: its settings.
        environ: the values of `${VARIABLES}`.
        on_change: called when it has other tools, or is gone.

    Raises:
        ToolSetupError: a variable is not set.
    """
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs the output of servers; we log failures once

    async def note(message: object) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            on_change()

    def fill(given: Mapping[str, str]) -> dict[str, str]:
        return {name: filled(value, environ) for name, value in given.items()}

    if server.command is not None:
        env = {name: environ[name] for name in ("PATH", "HOME") if name in environ} | fill(server.env)
        command = [server.command, *(filled(each, environ) for each in server.args)]
        transport = _process(command, env, largest=server.largest_bytes, on_end=on_change)
    else:
        transport = _http(server, fill(server.headers))
    return Client(
        transport,
        cache=None,
        message_handler=note,
        read_timeout_seconds=server.timeout_s / 3,  # an old server may not answer how a new one is asked first
        client_info=types.Implementation(name="oracle-bt", version=version("oracle-bt")),
    )


@asynccontextmanager
async def _http(server: ServerSettings, headers: Mapping[str, str]) -> AsyncGenerator[tuple[Any, Any], None]:
    """HTTP whose bodies are bounded, unless they are streams of events, of which each is bounded by their reader."""
    largest = server.largest_bytes

    async def bound(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            # It may unpack to any size.
            response.stream = _BoundedBody(response.stream, 0, "the server has sent a compressed answer")
        elif not response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            response.stream = _BoundedBody(response.stream, largest, _too_long(largest))

    async def hand_on(request: httpx2.Request) -> None:
        sent = user_headers() or {}  # the library sends a call in the context of who makes it
        request.headers.update({name: sent[name.lower()] for name in server.pass_headers if name.lower() in sent})

    http = httpx2.AsyncClient(
        headers={**headers, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(max(60.0, 2 * server.timeout_s), connect=_CONNECT_S),
        transport=httpx2.AsyncHTTPTransport(),  # without the proxies that the environment names
        event_hooks={"request": [hand_on], "response": [bound]},
    )
    async with http, streamable_http_client(server.url or "", http_client=http, max_sse_event_size=largest) as streams:
        yield streams


@dataclass
class _BoundedBody(httpx2.AsyncByteStream):
    body: Any
    left: int
    problem: str

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self.body:
            self.left -= len(data)
            if self.left < 0:
                raise httpx2.StreamError(self.problem)
            yield data

    async def aclose(self) -> None:
        await self.body.aclose()


def _too_long(largest: int) -> str:
    return f"the server has sent more than {largest:,} bytes at once"


@asynccontextmanager
async def _process(
    command: list[str], env: Mapping[str, str], *, largest: int, on_end: Callable[[], None]
) -> AsyncGenerator[tuple[Any, Any], None]:
    """A process that is spoken to by lines; it and all that it has started are ended."""
    process = await anyio.open_process(command, stderr=subprocess.DEVNULL, env=env, start_new_session=True)
    assert process.stdin is not None  # noqa: S101  they are pipes
    assert process.stdout is not None  # noqa: S101
    stdin, stdout = process.stdin, process.stdout
    incoming, received = anyio.create_memory_object_stream[Any](0)
    to_send, outgoing = anyio.create_memory_object_stream[Any](0)

    async def read() -> None:
        async for message in _messages(BufferedByteReceiveStream(stdout), largest):
            await incoming.send(SessionMessage(message))

    async def write() -> None:
        async for message in outgoing:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            await stdin.send(line.encode() + b"\n")

    async def until_end(work: Callable[[], Awaitable[None]]) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.IncompleteRead, OSError):
            await work()
        incoming.close()
        on_end()

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until_end, read)
            tasks.start_soon(until_end, write)
            yield received, to_send
            tasks.cancel_scope.cancel()
    finally:
        for stream in (incoming, received, to_send, outgoing):
            stream.close()
        with anyio.CancelScope(shield=True):  # it ends by itself as its input is closed, on request, or by force
            await stdin.aclose()
            with anyio.move_on_after(_END_S):
                async for _ in stdout:
                    pass
                await process.wait()
            await terminate_posix_process_tree(process, _END_S)
            await process.aclose()


async def _messages(output: BufferedByteReceiveStream, largest: int) -> AsyncIterator[types.JSONRPCMessage]:
    """The messages of a process; what is none is left out: servers print all sorts of things.

    A line that is too long is an error for the request that it answers.
    """
    head = b""
    while True:
        try:
            line = await output.receive_until(b"\n", largest + 1)
        except anyio.DelimiterNotFound:
            part = await output.receive_exactly(len(output.buffer))
            head = head or part[:_HEAD_BYTES]
            continue
        if len(line) > largest:
            head = head or line[:_HEAD_BYTES]
        if not head:
            with suppress(ValueError):
                yield types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        elif found := _ID.search(head):
            error = types.ErrorData(code=types.INTERNAL_ERROR, message=_too_long(largest))
            yield types.JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error)
        head = b""
