"""What a connection may send before anybody knows whose it is."""

import asyncio
import gc
import inspect
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import ClassVar
from weakref import WeakSet

import pytest
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from oracle.server.process.protocol import MOST_HEAD_BYTES, MOST_QUEUED, BoundedProtocol, _Flow
from oracle.server.process.server import DrainingServer, bind

TIMERS = {"_start_head_timer", "_stop_head_timer"}
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
async def serving(protocol: type[BoundedProtocol] = BoundedProtocol, app=echo) -> AsyncIterator[int]:
    listening = asyncio.Event()

    async def nothing() -> None:
        """There is nothing to drain."""

    with bind("127.0.0.1", 0) as listener:
        server = DrainingServer(app, drain=nothing, on_listening=listening.set)
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


async def test_a_silent_connection_is_closed() -> None:
    async with serving(Impatient) as port:
        assert await answer_to(port) == b""
        assert await answer_to(port, BEGIN) == b""
        # Between two requests uvicorn's own limit holds; a second head is bounded as the first one is.
        assert (await answer_to(port, BEGIN + b"Content-Length: 2\r\n\r\nab", BEGIN)).endswith(b"2 bytes")


class Counted(BoundedProtocol):
    """Keeps account of the connections in memory."""

    in_memory: ClassVar[WeakSet[BoundedProtocol]] = WeakSet()

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        Counted.in_memory.add(self)


@pytest.fixture
def no_garbage_collection():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("is_reset", [False, True], ids=["closed", "reset"])
async def test_a_connection_that_has_ended_is_freed_without_the_garbage_collector(
    no_garbage_collection: None, is_reset: bool
) -> None:
    async with serving(Counted) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(BEGIN + b"Content-Length: 2\r\n\r\nab")
        await reader.readuntil(b"2 bytes")
        assert len(Counted.in_memory) == 1
        if is_reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()
        await writer.wait_closed()
    assert not Counted.in_memory


class Patient(BoundedProtocol):
    """Shows how much it has queued."""

    most_queued = 0

    def _parse(self, data: bytes) -> None:
        super()._parse(data)
        Patient.most_queued = max(Patient.most_queued, len(self.pipeline))


@pytest.mark.long("sends 20,000 requests")
async def test_requests_that_do_not_wait_for_answers_are_queued_in_bounded_number_and_all_answered() -> None:
    many = 20_000
    Patient.most_queued = 0
    async with serving(Patient) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

        async def send() -> None:
            for _ in range(20):
                writer.write(request * (many // 20 - 1) + request)
                await writer.drain()
            writer.write(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

        sending = asyncio.create_task(send())
        async with asyncio.timeout(60):
            answers = await reader.read()
        await sending
        writer.close()
    assert answers.count(b"0 bytes") == many + 1
    assert 0 < Patient.most_queued <= MOST_QUEUED + 4096 // len(request) + 1


async def test_who_reads_no_answer_is_read_no_further() -> None:
    Patient.most_queued = 0
    async with serving(Patient) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.transport.set_write_buffer_limits(high=1)
        request = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sent, stuck = 0, False
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # a client that reads nothing
        while not stuck and sent < 64_000_000:
            writer.write(request * 10_000)
            sent += len(request) * 10_000
            try:
                async with asyncio.timeout(0.25):
                    await writer.drain()
            except TimeoutError:
                stuck = True
        writer.transport.abort()
    assert stuck
    assert Patient.most_queued <= MOST_QUEUED + 4096 // len(request) + 1


async def refuse(scope, receive, send):
    """Answers without a look at the body."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"no"})


class Brief(BoundedProtocol):
    """Lingers for a moment."""

    linger_s = 0.05


async def test_an_answer_before_the_end_of_the_body_closes_the_connection() -> None:
    async with serving(Brief, refuse) as port:
        answer = await answer_to(port, BEGIN + b"Content-Length: 9\r\n\r\nab")
        assert b"\r\nconnection: close\r\n" in answer
        assert answer.endswith(b"\r\n\r\nno")
        whole = await answer_to(port, BEGIN + b"Content-Length: 2\r\nConnection: close\r\n\r\nab")
        assert whole.endswith(b"\r\n\r\nno")


async def test_an_early_answer_is_not_lost_by_a_client_that_is_still_sending() -> None:
    async with serving(BoundedProtocol, refuse) as port:
        size = 4_000_000
        answer = await answer_to(port, BEGIN + b"Content-Length: %d\r\n\r\n" % size, *[b"b" * 100_000] * 40)
        assert answer.startswith(b"HTTP/1.1 401 ")
        assert answer.endswith(b"\r\n\r\nno")


async def test_a_connection_goes_on_after_an_answer_to_a_whole_body() -> None:
    async with serving(BoundedProtocol, refuse) as port:
        request = BEGIN + b"Content-Length: 2\r\n\r\nab"
        last = BEGIN + b"Connection: close\r\n\r\n"
        assert (await answer_to(port, request, request, last)).count(b"HTTP/1.1 401 ") == 3


async def test_a_lost_connection_is_reported_to_the_active_request_not_to_the_queued_one() -> None:
    begun, gone = asyncio.Event(), asyncio.Event()
    calls = []

    async def waits(scope, receive, send):
        calls.append(scope["path"])
        begun.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    async with serving(BoundedProtocol, waits) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(BEGIN + b"\r\n" + BEGIN + b"\r\n")
        await begun.wait()
        writer.transport.abort()
        async with asyncio.timeout(10):
            await gone.wait()
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("ours", "theirs", "own"),
    [
        (BoundedProtocol, HttpToolsProtocol, {"_queue_has_room", "_has_room", "_parse", "_refuse", *TIMERS}),
        (_Flow, FlowControl, set()),
        (DrainingServer, uvicorn.Server, {"begin_drain", "_on_first_signal", "_drain_and_stop", "__init__"}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_is_overridden_is_there_with_the_same_parameters(ours: type, theirs: type, own: set[str]) -> None:
    """If this fails with a new uvicorn, its bounds do not hold: read what has changed before the range is widened."""
    methods = {name for name, value in vars(ours).items() if inspect.isfunction(value)} - own - {"__init__"}
    assert methods
    for name in methods:
        there = getattr(theirs, name, None)
        assert there is not None, f"uvicorn {uvicorn.__version__} does not have {theirs.__name__}.{name}"
        assert list(inspect.signature(getattr(ours, name)).parameters) == list(inspect.signature(there).parameters)


def test_what_is_used_of_a_connection_is_there() -> None:
    config = uvicorn.Config(echo, http=BoundedProtocol, ws="none", lifespan="off", log_config=None)
    config.load()
    loop = asyncio.new_event_loop()
    protocol = BoundedProtocol(config=config, server_state=ServerState(), app_state={}, _loop=loop)
    loop.close()
    assert {"pipeline", "transport", "flow", "loop", "cycle", "_unset_keepalive_if_required"} <= set(dir(protocol))
    made = inspect.getsource(RequestResponseCycle.__init__)
    used = ("disconnected", "message_event", "more_body", "response_complete")
    assert [name for name in used if f"self.{name} =" not in made] == []
