"""A whole stream as it goes over the socket, byte for byte: every type of chunk, and names in their order."""

import re
from pathlib import Path

import pytest

from oracle.testing import ScriptedCall
from tests.acceptance.scripts import says
from tests.service.provider import Desk
from tests.service.server import Client
from tests.support.provider import HttpError

pytestmark = pytest.mark.asyncio(loop_scope="session")

GOLDEN = Path(__file__).parent / "wire.txt"
TYPES = {"thinking", "content", "source", "tool_call", "tool_result", "system", "error", "done"}
_CHANGING = (
    (re.compile(rb'"(run_id|context_id)":"[0-9a-f-]{32,36}"'), rb'"\1":"ID"'),
    (re.compile(rb"Reference: [0-9a-f-]{32,36}"), rb"Reference: ID"),
    (re.compile(rb'"timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"'), rb'"timestamp":"TIME"'),
    (re.compile(rb'"duration_ms":\d+'), rb'"duration_ms":0'),
)


def settled(stream: bytes) -> bytes:
    """The stream without what differs from run to run; heartbeats are none of its events."""
    for pattern, replacement in _CHANGING:
        stream = pattern.sub(replacement, stream)
    return b"".join(event + b"\n\n" for event in stream.split(b"\n\n") if event and not event.startswith(b":"))


async def test_the_bytes_of_a_stream_are_those_of_the_file(client: Client, desk: Desk) -> None:
    desk.play(
        says(
            'Looking at "RetryPolicy" \U0001f30d',
            ScriptedCall("search_code", {"query": "RetryPolicy"}, id="call_1"),
            ScriptedCall("read_file", {"path": "no.py"}, id="call_2"),
            thinking="Let me think.",
        ),
        HttpError("authentication_error", "invalid x-api-key"),
    )
    body = {
        "question": "Where is the class RetryPolicy defined in the code?",
        "limits": {"max_iterations": 2, "max_parallel_tools": 1},
    }
    response = await client.http.post("/api/oracle/stream", json=body)
    assert settled(response.content).decode() == GOLDEN.read_text(encoding="utf-8")
    recorded = await client.http.get(response.headers["location"] + "/stream")
    assert recorded.content.replace(b":\n\n", b"") == response.content.replace(b":\n\n", b"")


async def test_the_file_has_every_type_of_chunk() -> None:
    assert set(re.findall(r'data: \{"type":"(\w+)"', GOLDEN.read_text(encoding="utf-8"))) == TYPES
