"""The provider's bytes: split anywhere, bounded, and read without stopping the others."""

import asyncio
import gzip
from collections.abc import AsyncIterator

import pytest

from oracle.features.claude.model import AnthropicModel
from oracle.llm.protocol import ModelError, ModelRequest
from oracle.llm.wire import events_of
from oracle.testing import ScriptedTurn
from tests.support.provider import StandInProvider

REQUEST = ModelRequest(system="", messages=({"role": "user", "content": "Hi"},), max_tokens=100)


async def body(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def test_invalid_utf8_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        [event async for event in events_of(body(b"data: \xff\n\n"))]


async def test_an_endless_body_is_an_error() -> None:
    with pytest.raises(ValueError, match="more than 1,000 bytes for one message"):
        [event async for event in events_of(body(*[b":\n" * 100] * 6), most_bytes=1_000)]


@pytest.mark.parametrize(
    "line", [b":\n", b": ping\n\n", b"x" * 99 + b"\n", b"y"], ids=["comments", "pings", "fields", "a line"]
)
async def test_a_flood_is_read_without_blocking_other_tasks(line: bytes) -> None:
    """The longest time without a turn for others, in the processor time of this thread."""
    loop, longest_s, done = asyncio.get_running_loop(), 0.0, False

    async def others() -> None:
        nonlocal longest_s
        while not done:
            began_s = loop.time()
            await asyncio.sleep(0)
            longest_s = max(longest_s, loop.time() - began_s)

    watching = asyncio.create_task(others())
    flood = [line * (1_000_000 // len(line))] * 4  # all of it is there at once
    assert [event async for event in events_of(body(*flood, b"\n\ndata: end\n\n"))] == ["end"]
    done = True
    await watching
    assert longest_s < 0.5  # some 10 ms on a quiet machine; the SDK's decoder takes minutes for the first of these


async def test_compression_is_not_requested() -> None:
    async with StandInProvider([ScriptedTurn(text="Hello")]) as provider:
        model = AnthropicModel(api_key="test", base_url=provider.url)
        assert [event async for event in model.stream(REQUEST)]
        await model.aclose()
    assert provider.requests[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("status", [200, 500])
async def test_a_compressed_response_is_refused_unread(status: int) -> None:
    packed = gzip.compress(b"\0" * 10_000_000)
    served = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        await reader.readuntil(b"\r\n\r\n")
        head = f"HTTP/1.1 {status} OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\n"
        writer.write(f"{head}content-length: {len(packed)}\r\n\r\n".encode() + packed)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = AnthropicModel(api_key="test", base_url=f"http://127.0.0.1:{port}")
        with pytest.raises(ModelError) as failed:
            [event async for event in model.stream(REQUEST)]
        await model.aclose()
    assert failed.value.fault.error_type == "provider_failed"
    assert "gzip" in str(failed.value.fault)
    assert served == 1
