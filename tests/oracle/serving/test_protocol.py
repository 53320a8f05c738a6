"""What a connection may send before anybody knows whose it is."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from oracle.serving.protocol import MOST_HEAD_BYTES, BoundedProtocol
from oracle.serving.server import DrainingServer
from oracle.serving.sockets import bind

BEGIN = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


async def echo(scope, receive, send):
    """Says how long the body was."""
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    body = b"%d bytes" % size
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Impatient(BoundedProtocol):
    """Waits less long."""

    head_s = 0.05


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with serving() as number:
        yield number


@asynccontextmanager
async def serving(protocol: type[BoundedProtocol] = BoundedProtocol) -> AsyncIterator[int]:
    listening = asyncio.Event()

    async def nothing() -> None:
        """There is nothing to drain."""

    with bind("127.0.0.1", 0) as listener:
        server = DrainingServer(echo, drain=nothing, on_listening=listening.set)
        server.config.http = protocol
        served = asyncio.create_task(server.serve(sockets=[listener]))
        await listening.wait()
        yield listener.getsockname()[1]
        server.begin_drain()
        await served


async def answer_to(port: int, *pieces: bytes) -> bytes:
    """What comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(20):
            with suppress(ConnectionError):  # it was closed on what was still coming
                for piece in pieces:
                    writer.write(piece)
                    await writer.drain()
                return await reader.read()
            return b""
    finally:
        writer.close()


@pytest.mark.parametrize(
    "begin",
    [BEGIN + b"X: ", b"GET /", BEGIN + b"X: y\r\n" * 1_000],
    ids=["a header", "an address", "many headers"],
)
async def test_a_head_that_does_not_end_is_refused(port: int, begin: bytes) -> None:
    answer = await answer_to(port, begin, b"a" * (MOST_HEAD_BYTES + 1 - len(begin)))
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 ")
    assert json.loads(body) == {"detail": "The head of a request is too large"}


async def test_a_body_whose_trailers_do_not_end_is_not_waited_for(port: int) -> None:
    begin = BEGIN + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX: "
    assert await answer_to(port, begin, *[b"a" * MOST_HEAD_BYTES] * 8) == b""


async def test_large_bodies_and_heads_of_some_size_are_none_of_this(port: int) -> None:
    body = b"b" * 1_000_000
    head = BEGIN + b"X: " + b"a" * 60_000 + b"\r\nContent-Length: %d\r\n" % len(body)
    whole = head + b"\r\n" + body
    last = head + b"Connection: close\r\n\r\n" + body
    answer = await answer_to(port, whole, whole, last)
    assert answer.count(b"1000000 bytes") == 3


async def test_who_says_nothing_is_not_waited_for() -> None:
    async with serving(Impatient) as port:
        assert await answer_to(port) == b""
        assert await answer_to(port, BEGIN) == b""
        # Between two requests uvicorn's own limit holds; a second head is bounded as the first one is.
        assert (await answer_to(port, BEGIN + b"Content-Length: 2\r\n\r\nab", BEGIN)).endswith(b"2 bytes")
