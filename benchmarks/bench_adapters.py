"""What adapters add to a stream: the load test with the service's own chunks, and with the frames of each protocol.

All are read by the same client and checked in the same way; the figure is the processor time of a piece, over that of
the service's own stream in the same process. The aim: 1.2 at 200 streams.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import uvloop

from benchmarks.bench_service import STREAMS
from benchmarks.paced import Pace
from benchmarks.service_load import Heard, Load, complain, load, oracle_server

AIM = 1.2


class Protocol(NamedTuple):
    """How a client of a protocol asks, and reads.

    Args:
        body: asks a question.
        piece: the text of a frame; `None`: it has none.
        is_end: whether a frame is the last one of a whole answer.
    """

    path: str
    body: Callable[[str], Any]
    piece: Callable[[Any], str | None]
    is_end: Callable[[Any], bool]


def _delta(kind: str) -> Callable[[Any], str | None]:
    return lambda frame: frame["delta"] if frame["type"] == kind else None


def _completed(frame: Any) -> str | None:
    return frame["choices"][0]["delta"].get("content") if frame["choices"] else None


def _user(text: str) -> list[dict[str, Any]]:
    return [{"id": "u", "role": "user", "content": text}]


NATIVE = Protocol(
    "/api/oracle/stream",
    lambda text: {"question": text},
    lambda frame: frame["content"] if frame["type"] == "content" else None,
    lambda frame: frame["type"] == "done",
)
PROTOCOLS = {
    "the service's own": NATIVE,
    "chat completions": Protocol(
        "/v1/chat/completions",
        lambda text: {"model": "oracle", "stream": True, "messages": [{"role": "user", "content": text}]},
        _completed,
        lambda frame: bool(frame["choices"]) and frame["choices"][0]["finish_reason"] == "stop",
    ),
    "responses": Protocol(
        "/v1/responses",
        lambda text: {"model": "oracle", "stream": True, "input": text},
        _delta("response.output_text.delta"),
        lambda frame: frame["type"] == "response.completed",
    ),
    "AI SDK": Protocol(
        "/api/chat",
        lambda text: {"messages": [{"id": "u", "role": "user", "parts": [{"type": "text", "text": text}]}]},
        _delta("text-delta"),
        lambda frame: frame["type"] == "finish",
    ),
    "AG-UI": Protocol(
        "/agui",
        lambda text: {"threadId": text, "runId": "r", "messages": _user(text), "tools": [], "context": [], "state": {}},
        _delta("TEXT_MESSAGE_CONTENT"),
        lambda frame: frame["type"] == "RUN_FINISHED",
    ),
}


@dataclass(slots=True)
class Adapted(Heard):
    """What a client of a protocol heard, put down as the service's own chunks are."""

    protocol: Protocol = NATIVE

    def take(self, number: int, data: bytes) -> None:
        if data == b"[DONE]":
            return
        frame = orjson.loads(data)
        text = self.protocol.piece(frame)
        if text is not None:
            self.hear(text)
        elif self.protocol.is_end(frame):
            self.types.append("done")
            self.numbers.append(len(self.numbers) + 1)


async def loads(names: Iterable[str], streams: int, pace: Pace, *, rounds: int) -> dict[str, Load]:
    """The best of the loads of each protocol, all in one server process."""
    best: dict[str, Load] = {}
    with tempfile.TemporaryDirectory() as name:
        async with oracle_server(Path(name), pace) as server:
            for number in range(rounds + 1):  # the first one warms up
                for each in names:
                    protocol = PROTOCOLS[each]

                    def heard(tag: str, protocol: Protocol = protocol) -> Heard:
                        return Adapted(tag, protocol=protocol)

                    count = streams if number else 2
                    found = await load(server, count, path=protocol.path, body=protocol.body, heard=heard)
                    complain(found, pace)
                    if number and (each not in best or found.cpu_us < best[each].cpu_us):
                        best[each] = found
    return best


async def measure(names: Sequence[str], streams: int, pace: Pace, rounds: int) -> None:
    best = await loads(names, streams, pace, rounds=rounds)
    print(f"streams of clients' protocols, {streams} at once, the best of {rounds} (aim: {AIM} at most)")
    for name, found in best.items():
        ratio = found.cpu_us / best[names[0]].cpu_us
        print(f"  {name:<20} {found.cpu_us:6.0f} µs CPU of a piece   {ratio:.2f}   p99 {found.late_ms(0.99):6.1f} ms")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=STREAMS[0])
    parser.add_argument("--turn-s", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", help="of the protocols; always over the service's own")
    given = parser.parse_args(arguments)
    names = [name for name in PROTOCOLS if name == next(iter(PROTOCOLS)) or given.only in (None, name)]
    uvloop.run(measure(names, given.streams, Pace(5, 50, given.turn_s), given.rounds))


if __name__ == "__main__":
    main(sys.argv[1:])
