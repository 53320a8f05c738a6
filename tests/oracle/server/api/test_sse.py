"""The response itself, by the ASGI interface: what it sends, when, and how it ends."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Sequence

import pytest

from oracle.runs.storage.errors import StoreUnavailableError
from oracle.runs.storage.records import StoredChunk
from oracle.server.api.sse import EventStreamResponse, OpenStreams, StreamTiming, chunk_events, whole_stream

GUARD_S = 20.0


def chunk(n: int, data: bytes = b"{}") -> StoredChunk:
    return StoredChunk(n, data)


class Client:
    """The other end: takes what is sent, may go away, may not read."""

    def __init__(self) -> None:
        self.messages: list[dict] = []
        self.gone = asyncio.Event()
        self.reads = asyncio.Event()
        self.reads.set()
        self._sent = asyncio.Event()

    async def receive(self) -> dict:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict) -> None:
        await self.reads.wait()
        self.messages.append(message)
        self._sent.set()

    async def until(self, body: bytes) -> None:
        async with asyncio.timeout(GUARD_S):
            while body not in self.bodies:
                self._sent.clear()
                await self._sent.wait()

    async def until_answered(self) -> None:
        async with asyncio.timeout(GUARD_S):
            await self._sent.wait()

    @property
    def bodies(self) -> list[bytes]:
        return [message["body"] for message in self.messages if message["type"] == "http.response.body"]

    @property
    def is_complete(self) -> bool:
        return self.messages[-1].get("more_body") is False


class Batches:
    """A source of batches that can be fed, and knows whether it was closed."""

    def __init__(self, *given: Sequence[StoredChunk] | Exception | None) -> None:
        self.queue: asyncio.Queue[Sequence[StoredChunk] | Exception | None] = asyncio.Queue()
        self.is_closed = False
        for each in given:
            self.queue.put_nowait(each)

    async def follow(self) -> AsyncGenerator[Sequence[StoredChunk], None]:
        try:
            while (batch := await self.queue.get()) is not None:
                if isinstance(batch, Exception):
                    raise batch
                yield batch
        finally:
            self.is_closed = True


class Reading:
    def __init__(self) -> None:
        self.readers = 0

    @contextlib.contextmanager
    def attach(self):
        self.readers += 1
        try:
            yield
        finally:
            self.readers -= 1


def responding(batches: Batches, client: Client, *, reading=None, timing=None, streams=None, is_stalled=lambda: False):
    response = EventStreamResponse(
        batches.follow(),
        events=chunk_events,
        headers={"X-Run-Id": "r"},
        reading=(reading or Reading()).attach(),
        timing=timing or StreamTiming(),
        streams=streams or OpenStreams(),
        is_stalled=is_stalled,
    )
    return asyncio.create_task(guarded(response({"type": "http"}, client.receive, client.send)))


async def guarded(work):
    async with asyncio.timeout(GUARD_S):
        await work


async def test_a_batch_is_one_write_of_ids_and_objects():
    client = Client()
    await responding(Batches([chunk(1, b'{"a":1}'), chunk(2, b'{"b":2}')], [chunk(3)], None), client)
    assert client.bodies == [b'id: 1\ndata: {"a":1}\n\nid: 2\ndata: {"b":2}\n\n', b"id: 3\ndata: {}\n\n", b""]
    assert client.is_complete


async def test_the_headers_go_out_before_there_is_anything_to_read():
    client, batches = Client(), Batches()
    task = responding(batches, client)
    await client.until_answered()
    headers = dict(client.messages[0]["headers"])
    assert headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert headers[b"cache-control"] == b"no-store"
    assert headers[b"x-accel-buffering"] == b"no"
    assert headers[b"x-run-id"] == b"r"
    assert b"content-length" not in headers
    batches.queue.put_nowait(None)
    await task


async def test_a_long_batch_goes_out_in_writes_of_bounded_size_and_no_chunk_is_cut():
    client = Client()
    events = [chunk(n, b'"' + b"x" * 100_000 + b'"') for n in range(1, 8)] + [chunk(8, b'"' + b"y" * 600_000 + b'"')]
    await responding(Batches(events, None), client)
    assert max(map(len, client.bodies[:-2])) <= 256 * 1024
    assert all(body.endswith(b'"\n\n') for body in client.bodies[:-1])
    assert b"".join(client.bodies).count(b"id: ") == 8


async def test_silence_is_filled_with_heartbeats():
    client, batches = Client(), Batches([chunk(1)])
    task = responding(batches, client, timing=StreamTiming(heartbeat_s=0.01))
    await client.until(b":\n\n")
    batches.queue.put_nowait(None)
    await task
    assert client.bodies[0] == b"id: 1\ndata: {}\n\n"


async def test_a_client_that_leaves_is_noticed_at_once_and_nothing_is_left_behind():
    client, batches, reading, streams = Client(), Batches([chunk(1)]), Reading(), OpenStreams()
    task = responding(batches, client, reading=reading, streams=streams)
    await client.until(b"id: 1\ndata: {}\n\n")
    assert reading.readers == 1
    assert streams.open == 1
    client.gone.set()
    await task
    assert reading.readers == 0
    assert streams.open == 0
    assert batches.is_closed
    assert not client.is_complete


async def test_a_client_that_does_not_read_is_left_after_a_while():
    client, batches, reading = Client(), Batches([chunk(1)]), Reading()
    task = responding(batches, client, reading=reading, timing=StreamTiming(send_timeout_s=0.02, heartbeat_s=0.01))
    await client.until(b"id: 1\ndata: {}\n\n")
    client.reads.clear()
    await task
    assert reading.readers == 0
    assert batches.is_closed
    assert not client.is_complete


async def test_a_client_that_never_read_a_byte_is_left_too():
    client, reading = Client(), Reading()
    client.reads.clear()
    await responding(Batches(), client, reading=reading, timing=StreamTiming(send_timeout_s=0.01))
    assert client.messages == []
    assert reading.readers == 0


async def test_closing_all_streams_ends_them_properly_and_those_that_come_later():
    client, late, streams = Client(), Client(), OpenStreams()
    task = responding(Batches([chunk(1)]), client, streams=streams)
    await client.until(b"id: 1\ndata: {}\n\n")
    streams.close()
    await task
    assert client.is_complete
    await responding(Batches(), late, streams=streams)
    assert late.is_complete


@pytest.mark.parametrize("end", [StoreUnavailableError("gone"), None], ids=["the store says so", "the run has ended"])
async def test_a_source_that_ends_for_whatever_reason_ends_the_stream(end):
    client = Client()
    await responding(Batches([chunk(1)], end), client)
    assert client.is_complete


async def test_a_store_that_is_out_of_order_for_too_long_ends_the_stream():
    client = Client()
    await responding(Batches([chunk(1)]), client, timing=StreamTiming(heartbeat_s=0.01), is_stalled=lambda: True)
    assert client.is_complete


async def test_a_mistake_of_ours_is_raised_and_not_taken_for_an_end():
    client, reading = Client(), Reading()
    with pytest.raises(ZeroDivisionError):
        await responding(Batches([chunk(1)], ZeroDivisionError()), client, reading=reading)
    assert not client.is_complete
    assert reading.readers == 0


async def test_a_cancel_of_the_response_leaves_nothing_behind():
    client, batches, reading = Client(), Batches([chunk(1)]), Reading()
    task = responding(batches, client, reading=reading)
    await client.until(b"id: 1\ndata: {}\n\n")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert reading.readers == 0
    assert batches.is_closed


def test_what_is_left_of_an_ended_run_is_one_answer() -> None:
    answer = whole_stream([chunk(3, b'{"a":1}'), chunk(4)], headers={"X-Run-Id": "run-1"})
    assert answer is not None
    assert answer.body == b'id: 3\ndata: {"a":1}\n\nid: 4\ndata: {}\n\n'
    streamed = EventStreamResponse(
        Batches().follow(),
        events=chunk_events,
        headers={"X-Run-Id": "run-1"},
        reading=contextlib.nullcontext(),
        timing=StreamTiming(),
        streams=OpenStreams(),
        is_stalled=lambda: False,
    )
    assert dict(answer.headers) == {**streamed.headers, "content-length": str(len(answer.body))}


def test_what_is_too_large_for_one_write_is_streamed() -> None:
    assert whole_stream([chunk(n, b"x" * 100_000) for n in range(3)], headers={}) is None
