"""The paced model as a server for the Anthropic Messages API, for an unmodified `oracle serve` with the real SDK.

The answer depends only on the request (tag and turn), so any number of queries may run concurrently, in any order, and
a repeated query gets the same answer. It runs in this process, or on its own: `python -m benchmarks.paced_provider`.
"""

import argparse
import asyncio
import json
import time
from collections import Counter
from typing import Any, Self

from benchmarks.paced import SIGNAL, Pace, piece_text, pieces_said, place_of

_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_paced\r\ntransfer-encoding: chunked\r\n\r\n"
)


class PacedProvider:
    """The server; use it as an async context manager.

    Args:
        pace: the schedule of the answers.
        tool: the tool called after each turn except the last, with `{"path": "file_<turn>.py"}`.
        hangs: the tags of questions whose answers hang after their first piece, unless they are asked to go on with it.
    """

    def __init__(self, pace: Pace, *, tool: str = "read_file", hangs: frozenset[str] = frozenset()) -> None:
        self._pace = pace
        self._tool = tool
        self._hangs = hangs
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: Counter[tuple[str, int]] = Counter()
        """The number of requests for each turn of each query."""
        self.speaking: Counter[str] = Counter()
        """The number of responses in progress, by tag."""
        self.changed = asyncio.Condition()

    @property
    def url(self) -> str:
        assert self._server is not None, "not running"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def wait_for(self, check) -> None:
        """Wait until `check(self)` holds; checked whenever a response begins or ends."""
        async with self.changed:
            await self.changed.wait_for(lambda: check(self))

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, backlog=2048)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
        request = json.loads(await reader.readexactly(int(lengths[0])))
        tag, turn = place_of(request["messages"])
        self.asked[tag, turn] += 1
        await self._count(tag, +1)
        speaking = asyncio.create_task(self._speak(writer, request, tag, turn))
        gone = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait((speaking, gone), return_when=asyncio.FIRST_COMPLETED)
            return False  # one response per connection: the end of the connection means that the client disconnected
        finally:
            speaking.cancel()
            gone.cancel()
            await asyncio.gather(speaking, gone, return_exceptions=True)
            await self._count(tag, -1)

    async def _count(self, tag: str, step: int) -> None:
        async with self.changed:
            self.speaking[tag] += step
            self.changed.notify_all()

    async def _speak(self, writer: asyncio.StreamWriter, request: Any, tag: str, turn: int) -> None:
        usage = {"input_tokens": 100, "output_tokens": 1}
        message = {"id": f"msg_{tag}_{turn}", "type": "message", "role": "assistant", "model": request["model"]}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        writer.write(_HEAD)
        _send(writer, {"type": "message_start", "message": message})
        _send(writer, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        gap_s, began = self._pace.turn_s / self._pace.pieces, time.monotonic()
        first = pieces_said(request["messages"])
        for n in range(first, self._pace.pieces):
            due = began + (n - first) * gap_s
            await asyncio.sleep(due - time.monotonic())
            _send_text(writer, piece_text(tag, turn, n, due))
            await writer.drain()
            if tag in self._hangs and turn == 1 and not first:
                await asyncio.Event().wait()
        calls = turn < self._pace.turns
        if not calls:
            _send_text(writer, SIGNAL)
        _send(writer, {"type": "content_block_stop", "index": 0})
        if calls:
            self._call_tool(writer, tag, turn)
        ended = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
        usage = {**usage, "output_tokens": 5 * self._pace.pieces}
        _send(writer, {"type": "message_delta", "delta": ended, "usage": usage})
        _send(writer, {"type": "message_stop"})
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    def _call_tool(self, writer: asyncio.StreamWriter, tag: str, turn: int) -> None:
        block = {"type": "tool_use", "id": f"call_{tag}_{turn}", "name": self._tool, "input": {}}
        _send(writer, {"type": "content_block_start", "index": 1, "content_block": block})
        arguments = json.dumps({"path": f"file_{turn}.py"})
        delta = {"type": "input_json_delta", "partial_json": arguments}
        _send(writer, {"type": "content_block_delta", "index": 1, "delta": delta})
        _send(writer, {"type": "content_block_stop", "index": 1})


def _send_text(writer: asyncio.StreamWriter, text: str) -> None:
    _send(writer, {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})


def _send(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))


async def _serve(pace: Pace) -> None:
    async with PacedProvider(pace) as provider:
        print(f"The paced provider is listening on {provider.url}", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--pieces", type=int, default=50)
    parser.add_argument("--turn-s", type=float, default=2.0)
    given = parser.parse_args()
    import uvloop

    uvloop.run(_serve(Pace(given.turns, given.pieces, given.turn_s)))


if __name__ == "__main__":
    main()
