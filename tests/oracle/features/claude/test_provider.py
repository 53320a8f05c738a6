"""The stand-in provider as a server: refused requests, delays, records."""

import asyncio
import json

import pytest

from oracle.testing import ScriptedTurn
from tests.support.provider import HttpError, StandInProvider
from tests.support.provider.wire import Disturbed

USER = {"role": "user", "content": "Hi"}
GOOD = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": [USER]}


def test_a_waiting_reply_needs_a_gate():
    with pytest.raises(ValueError, match="gate is None"):
        Disturbed(ScriptedTurn(), "wait")


def test_the_provider_has_an_address_only_while_it_runs():
    with pytest.raises(RuntimeError, match="not running"):
        _ = StandInProvider().url


async def exchange(provider, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", int(provider.url.rpartition(":")[2]))
    writer.write(request)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer.split(b"\r\n")[0]


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"GET /v1/models HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\n\r\n{x}", b"400"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 999999999\r\n\r\n", b"413"),
    ],
    ids=["other-path", "no-json", "too-large"],
)
async def test_other_requests_are_refused_as_http(request_bytes, status):
    async with StandInProvider() as provider:
        assert status in await exchange(provider, request_bytes)


async def test_a_rejected_request_consumes_no_reply_and_is_recorded(connect, ask, read, said):
    body = json.dumps({**GOOD, "messages": [USER, USER]}).encode()
    line = await connect([ScriptedTurn(text="Hi")])
    raw = b"POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    assert b"400" in await exchange(line.provider, raw)
    assert said(await read(line.model, ask())) == "Hi"
    assert "alternate" in line.provider.requests[0].complaint
    assert line.provider.requests[1].complaint is None


async def test_a_delayed_turn_sends_nothing_before_its_time(connect, ask, read, said):
    line = await connect([ScriptedTurn(text="Hi", delay_s=0.2)])
    begun_s = asyncio.get_running_loop().time()
    assert said(await read(line.model, ask())) == "Hi"
    assert asyncio.get_running_loop().time() - begun_s >= 0.2


async def test_a_complete_response_is_finished_and_not_disconnected(connect, ask, read):
    line = await connect([ScriptedTurn(text="Hi"), HttpError("invalid_request_error")])
    await read(line.model, ask())
    request = await line.provider.wait_request()
    await request.finished.wait()
    assert not request.disconnected.is_set()
