"""What an adapter adds to a stream: the load test with the service's own chunks, and with an adapter's frames.

The adapter makes of each piece what OpenAI's protocol makes of one: the smallest part of the work that every adapter
has. Both are read by the same client and checked in the same way; the figure is the processor time of a piece, over
that of the service's own stream in the same process. The aim: 1.2 at 200 streams.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import uvloop
from fastapi import APIRouter, Request
from starlette.responses import Response

from benchmarks.bench_service import NATIVE, STREAMS, Load, complain, load, oracle_server
from benchmarks.paced import Pace
from oracle.core.chunks import Chunk, Content, Done
from oracle.core.encoding import to_json
from oracle.runs.storage.records import RunRecord
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.adapters import Adapter, Refusal
from oracle.server.api.answers import json_answer
from oracle.server.connect.base.asking import Asked, begin
from oracle.server.connect.base.streaming import adapted_stream

AIM = 1.2
ADAPTER = Adapter("/bench", "benchmarks.bench_adapters")
ADAPTED = "/bench/ask"

router = APIRouter()


class CompletionTranslator:
    """Frames like those of OpenAI's chat completions; `type` and `content` are there for the client of the test."""

    def __init__(self, run: RunRecord) -> None:
        self._run_id, self._created = run.id, int(run.created_at)
        self._count = 0

    def opening(self) -> Iterable[bytes]:
        return ()

    def frames(self, n: int, chunk: Chunk) -> Iterable[bytes]:
        if isinstance(chunk, Content):
            return (self._frame("content", {"content": chunk.content}, None),)
        if isinstance(chunk, Done):
            return (self._frame("done", {}, "stop"),)
        return ()

    def parked(self) -> Iterable[bytes]:
        return ()

    def _frame(self, kind: str, delta: dict[str, str], reason: str | None) -> bytes:
        self._count += 1
        body = {
            "type": kind,
            "content": delta.get("content"),
            "id": self._run_id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": "oracle",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        return b"id: %d\ndata: %b\n\n" % (self._count, to_json(body))


@router.post(ADAPTED)
async def ask(body: dict[str, str], request: Request, parts: Parts, caller: CallerNow) -> Response:
    begun = await begin(Asked(body["question"]), request, parts, caller, protocol="bench")
    return adapted_stream(parts, begun.run, CompletionTranslator(begun.run))


def refused(refusal: Refusal) -> Response:
    return json_answer({"error": refusal.message}, status=refusal.status)


async def loads(streams: int, pace: Pace, *, rounds: int) -> dict[str, Load]:
    """The best of the loads by each path, all in one server process."""
    best: dict[str, Load] = {}
    with tempfile.TemporaryDirectory() as name:
        async with oracle_server(Path(name), pace) as server:
            for path in (NATIVE, ADAPTED):
                await load(server, 2, ramp_s=0, path=path)
            for _ in range(rounds):
                for path in (NATIVE, ADAPTED):
                    found = await load(server, streams, path=path)
                    complain(found, pace)
                    if path not in best or found.cpu_us < best[path].cpu_us:
                        best[path] = found
    return best


async def measure(streams: int, pace: Pace, rounds: int) -> None:
    best = await loads(streams, pace, rounds=rounds)
    print(f"an adapter's stream over the service's own, {streams} streams, the best of {rounds}")
    for name, path in (("the service's own", NATIVE), ("an adapter's", ADAPTED)):
        print(f"  {name:<20} {best[path].cpu_us:6.0f} µs CPU of a piece   p99 {best[path].late_ms(0.99):6.1f} ms")
    print(f"    {best[ADAPTED].cpu_us / best[NATIVE].cpu_us:.2f} times the service's own (aim: {AIM} at most)")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=STREAMS[0])
    parser.add_argument("--turn-s", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=2)
    given = parser.parse_args(arguments)
    uvloop.run(measure(given.streams, Pace(5, 50, given.turn_s), given.rounds))


if __name__ == "__main__":
    main(sys.argv[1:])
