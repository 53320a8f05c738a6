"""Overload: 300, 600 and 1,000 questions within 2 s, each on a connection of its own, to one server process.

Each question must get its head, or a 503 with `Retry-After`, within 2 s, and `/readyz` must answer within 0.5 s
throughout. A question that was taken must be answered whole. The client runs in another process on the same machine.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from benchmarks.paced import Pace, question
from benchmarks.service_client import ServiceClient
from benchmarks.service_load import NATIVE, Heard, oracle_server

QUESTIONS = (300, 600, 1_000)
WITHIN_S = 2.0
AIM_HEAD_S, AIM_READY_S = 2.0, 0.5
PACE = Pace(2, 20, 0.5)
_READY_EVERY_S = 0.1


@dataclass(slots=True)
class Outcome:
    """What has come of all questions.

    Args:
        heads_s: seconds to the head of each question.
        refused: those that got a 503 with `Retry-After`.
        ready_s: seconds to each answer of `/readyz`.
        mistakes: what is not as it must be.
    """

    heads_s: list[float] = field(default_factory=list)
    refused: int = 0
    ready_s: list[float] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)


async def ask(address: str, tag: str, outcome: Outcome, *, after_s: float) -> None:
    """Ask one question, and read its answer if it is taken."""
    await asyncio.sleep(after_s)
    began_s, heard = time.monotonic(), Heard(tag)
    client = await ServiceClient.connect(address, on_event=heard.take)
    client.send("POST", NATIVE, body={"question": question(tag)})
    heard.status = await client.headers_came()
    outcome.heads_s.append(time.monotonic() - began_s)
    is_refused = heard.status == 503 and "retry-after" in client.headers
    await client.ended()
    client.close()
    outcome.refused += is_refused
    if not is_refused:
        outcome.mistakes += heard.mistakes(PACE)


async def probe(address: str, outcome: Outcome) -> None:
    """Ask `/readyz` as a probe does, on a new connection each time, until cancelled."""
    while True:
        began_s = time.monotonic()
        client = await ServiceClient.connect(address)
        client.send("GET", "/readyz", headers={"connection": "close"})
        await client.headers_came()
        outcome.ready_s.append(time.monotonic() - began_s)
        client.close()
        await asyncio.sleep(_READY_EVERY_S)


async def overload(folder: Path, questions: int) -> Outcome:
    """Ask a fresh process so many questions, after two that warm it up."""
    outcome = Outcome()
    async with oracle_server(folder, PACE) as server:
        await asyncio.gather(*(ask(server.address, f"w{n}", Outcome(), after_s=0) for n in range(2)))
        probing = asyncio.create_task(probe(server.address, outcome))
        asked = (ask(server.address, f"q{n}", outcome, after_s=n / questions * WITHIN_S) for n in range(questions))
        await asyncio.gather(*asked)
        probing.cancel()
    return outcome


def _figures(seconds: Sequence[float]) -> str:
    return f"p50 {statistics.median(seconds):.2f} s, most {max(seconds):.2f} s"


async def show() -> None:
    for questions in QUESTIONS:
        with tempfile.TemporaryDirectory() as name:
            outcome = await overload(Path(name), questions)
        print(f"{questions:,} questions within {WITHIN_S:g} s: {outcome.refused:,} refused with 503")
        print(f"  head: {_figures(outcome.heads_s)} (aim: {AIM_HEAD_S:g} s at most)")
        print(f"  /readyz: {_figures(outcome.ready_s)} (aim: {AIM_READY_S:g} s at most)")
        for mistake in outcome.mistakes[:5]:
            print(f"  WRONG: {mistake}")


def main() -> None:
    uvloop.run(show())


if __name__ == "__main__":
    main()
