"""The provider double: a process of its own that speaks the wire format of the Anthropic Messages API.

`answers` has what it says. It counts what must never happen: a turn asked again after the asker has gone on from its
answer, a part that was never said, another prompt or other tools for the same messages. `GET /seen` returns the counts,
`POST /forget` begins anew, and `POST /pace` sets how slowly it speaks.
"""

import asyncio
import hashlib
import json
import sys
from collections import Counter, defaultdict
from contextlib import suppress
from typing import Any

from tests.durable.answers import Answer, Reading, WrongPartError, answer, read, rest

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


class Double:
    """What it has seen, and its replies.

    Args:
        pieces: of text in a turn.
        gap_s: between two pieces.
    """

    def __init__(self, *, pieces: int = 20, gap_s: float = 0.02) -> None:
        self.pieces = pieces
        self.gap_s = gap_s
        self.forget()

    def forget(self) -> None:
        """Begin to count anew."""
        self.asked: Counter[str] = Counter()
        self.gone_on: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.again: list[str] = []
        self.wrong: list[str] = []
        self.unknown: set[str] = set()
        self._answered: set[str] = set()
        self._eyes: defaultdict[str, set[str]] = defaultdict(set)

    def seen(self) -> dict[str, Any]:
        """The counts: requests by tag, those that go on after a part, whole replies by turn, and the mistakes."""
        return {
            "asked": dict(self.asked),
            "gone_on": dict(self.gone_on),
            "ended": dict(self.ended),
            "again": self.again,
            "wrong": self.wrong,
            "unknown": sorted(self.unknown),
        }

    def reply(self, body: dict[str, Any]) -> tuple[Reading, Answer]:
        """What to say to a request.

        Raises:
            ValueError: the request is refused.
        """
        try:
            return self._reply(body)
        except ValueError as error:
            self.wrong.append(str(error))
            raise

    def _reply(self, body: dict[str, Any]) -> tuple[Reading, Answer]:
        reading = read(body["messages"])
        place = f"{reading.tag}, turn {reading.turn}"
        self.asked[reading.tag] += 1
        self.gone_on[reading.tag] += bool(reading.said)
        self._answered.update(reading.earlier)
        if reading.digest in self._answered:
            self.again.append(place)
        self.unknown.update(reading.unknown)
        eyes = self._eyes[reading.digest]
        eyes.add(_digest_of_frame(body))
        if len(eyes) > 1:
            self.wrong.append(f"{place}: another prompt or other tools for the same messages")
        try:
            return reading, rest(answer(reading, pieces=self.pieces), reading.said)
        except WrongPartError as error:
            raise ValueError(f"{place}: {error}") from None

    def has_ended(self, reading: Reading) -> None:
        """A reply was sent to its end."""
        self.ended[f"{reading.tag}.{reading.turn}"] += 1


class Server:
    """Serves the double over HTTP, one reply for each connection."""

    def __init__(self, double: Double) -> None:
        self._double = double

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the request of a connection."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            lengths = [line.split(":")[1] for line in head.lower().split("\r\n") if line.startswith("content-length")]
            raw = await reader.readexactly(int(lengths[0])) if lengths else b""
            if path.startswith("/v1/messages"):
                await self._model(reader, writer, json.loads(raw))
            else:
                await _send(writer, 200, self._control(method, path, json.loads(raw or b"{}")))
        writer.transport.abort()

    def _control(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/forget":
            self._double.forget()
        elif path == "/pace":
            self._double.pieces, self._double.gap_s = body["pieces"], body["gap_s"]
        return self._double.seen()

    async def _model(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
        try:
            reading, said = self._double.reply(body)
        except ValueError as error:
            report = {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}
            await _send(writer, 400, report)
            return
        speaking = asyncio.create_task(self._speak(writer, str(body["model"]), reading, said))
        gone = asyncio.create_task(reader.read(1))
        await asyncio.wait((speaking, gone), return_when=asyncio.FIRST_COMPLETED)
        for task in (speaking, gone):
            task.cancel()
        await asyncio.gather(speaking, gone, return_exceptions=True)

    async def _speak(self, writer: asyncio.StreamWriter, model: str, reading: Reading, said: Answer) -> None:
        usage = {"input_tokens": 100, "output_tokens": 1}
        message = {"id": f"msg_{reading.digest[:20]}", "type": "message", "role": "assistant", "model": model}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        writer.write(_HEAD)
        _event(writer, {"type": "message_start", "message": message})
        index = 0
        if said.pieces:
            _event(writer, {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
            for piece in said.pieces:
                await asyncio.sleep(self._double.gap_s)
                _delta(writer, 0, {"type": "text_delta", "text": piece})
                await writer.drain()
            _event(writer, {"type": "content_block_stop", "index": 0})
            index = 1
        for number, call in enumerate(said.calls, start=index):
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            _event(writer, {"type": "content_block_start", "index": number, "content_block": block})
            _delta(writer, number, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)})
            _event(writer, {"type": "content_block_stop", "index": number})
        ends_as = "max_tokens" if said.cut_at is not None else "tool_use" if said.calls else "end_turn"
        ended = {"stop_reason": ends_as, "stop_sequence": None}
        tokens = {**usage, "output_tokens": 5 * len(said.pieces) + 1}
        _event(writer, {"type": "message_delta", "delta": ended, "usage": tokens})
        _event(writer, {"type": "message_stop"})
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        self._double.has_ended(reading)


def _digest_of_frame(body: dict[str, Any]) -> str:
    """Of prompt and tools, without the marks of the cache."""
    frame = json.loads(json.dumps([body.get("system"), body.get("tools")]), object_hook=_unmarked)
    return hashlib.sha256(json.dumps(frame, sort_keys=True).encode()).hexdigest()


def _unmarked(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "cache_control"}


def _delta(writer: asyncio.StreamWriter, index: int, delta: dict[str, Any]) -> None:
    _event(writer, {"type": "content_block_delta", "index": index, "delta": delta})


def _event(writer: asyncio.StreamWriter, event: dict[str, Any]) -> None:
    data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))


async def _send(writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
    raw = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}\r\n\r\n"
    writer.write(head.encode() + raw)
    await writer.drain()


async def serve() -> None:
    """Serve until the process is ended."""
    double = Server(Double())
    server = await asyncio.start_server(double.accept, "127.0.0.1", 0, backlog=2048, limit=2**24)
    sys.stdout.write(f"The double is listening on http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve())
