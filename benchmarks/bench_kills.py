"""Kills: `oracle serve --workers 4` on PostgreSQL, of which one worker is killed every 3 s, while clients read answers.

A client whose connection breaks takes the stream up again behind the last chunk that it has read. Its pause is the time
from the break to the next chunk. Every answer must be whole, with each chunk once. The model is behind the provider's
wire, in a process of its own. `--seconds 300` is the long form.
"""

import argparse
import asyncio
import random
import signal
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from os import kill
from pathlib import Path

import uvloop

from benchmarks.paced import Pace, make_project, question
from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import ServiceClient
from benchmarks.service_load import NATIVE, Heard
from tests.support.stores import NoServerError, postgresql, server

WORKERS, CLIENTS, KILL_EVERY_S, SECONDS = 4, 12, 3.0, 60.0
AIM_P50_S, AIM_P99_S = 2.0, 5.0
PACE = Pace(3, 30, 2.0)
_AGAIN_S = 0.1
_LONGEST_S = 60.0


@dataclass(slots=True)
class Outcome:
    """What the clients have seen: whole answers, pauses in seconds, and what is not as it must be."""

    answers: int = 0
    kills: int = 0
    pauses_s: list[float] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)


async def read(address: str, heard: Heard, *, run_id: str = "") -> None:
    """Read what comes on one connection: of a new question, or of a run behind what was heard of it."""
    client = await ServiceClient.connect(address, on_event=heard.take)
    try:
        if run_id:
            after = {"last-event-id": str(heard.numbers[-1] if heard.numbers else 0)}
            client.send("GET", f"/api/oracle/runs/{run_id}/stream", headers=after)
        else:
            client.send("POST", NATIVE, body={"question": question(heard.tag)})
        status = await client.headers_came()
        heard.run_id = heard.run_id or client.headers.get("x-run-id", "")
        heard.status = heard.status if run_id else status
        await client.ended()
    finally:
        client.close()


async def ask(address: str, tag: str, outcome: Outcome) -> None:
    """Ask a question, and read its answer to the end over as many connections as that takes."""
    heard, broke_s = Heard(tag), 0.0
    began_s = time.monotonic()
    while not heard.types or heard.types[-1] != "done":
        seen = len(heard.numbers)
        with suppress(ConnectionError, OSError):
            reading = asyncio.ensure_future(read(address, heard, run_id=heard.run_id))
            while broke_s and not reading.done() and len(heard.numbers) == seen:
                await asyncio.sleep(0.01)
            if broke_s and len(heard.numbers) > seen:
                outcome.pauses_s.append(time.monotonic() - broke_s)
                broke_s = 0.0
            await reading
        if heard.status not in (0, 200):
            outcome.mistakes.append(f"{tag}: status {heard.status}")
            return
        if time.monotonic() - began_s > _LONGEST_S:
            outcome.mistakes.append(f"{tag}: no end after {_LONGEST_S:g} s")
            return
        if not heard.types or heard.types[-1] != "done":
            broke_s = broke_s or (time.monotonic() if heard.run_id else 0.0)
            await asyncio.sleep(_AGAIN_S)
    outcome.mistakes += heard.mistakes(PACE)
    outcome.answers += 1


async def ask_on(address: str, name: str, outcome: Outcome, *, until_s: float) -> None:
    count = 0
    while time.monotonic() < until_s:
        count += 1
        await ask(address, f"{name}n{count}", outcome)


async def kill_on(parent: int, outcome: Outcome, *, until_s: float) -> None:
    """Kill a worker at regular intervals."""
    while (left_s := until_s - time.monotonic()) > 0:
        await asyncio.sleep(min(KILL_EVERY_S, left_s))
        with suppress(ProcessLookupError, IndexError):
            kill(random.choice(children_of(parent)), signal.SIGKILL)
            outcome.kills += 1


def children_of(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def measure(url: str, folder: Path, seconds: float) -> Outcome:
    outcome, project = Outcome(), make_project(folder / "project", PACE)
    paced = ("--turns", str(PACE.turns), "--pieces", str(PACE.pieces), "--turn-s", str(PACE.turn_s))
    provider = ServerProcess(python("-m", "benchmarks.paced_provider", *paced), log=folder / "provider.log")
    async with provider:
        env = {
            "ANTHROPIC_API_KEY": "test",
            "ANTHROPIC_BASE_URL": provider.address,
            "ORACLE_LLM": "anthropic",
            "ORACLE_DATABASE_URL": url,
            "ORACLE_LOG": "error",
        }
        command = python("-m", "oracle", "serve", "--port", "0", "--workers", str(WORKERS), "--project", str(project))
        async with ServerProcess(command, log=folder / "oracle.log", env=env, cwd=folder) as service:
            await asyncio.gather(*(ask(service.address, f"warm{n}", Outcome()) for n in range(WORKERS)))
            until_s = time.monotonic() + seconds
            asking = [ask_on(service.address, f"c{n}", outcome, until_s=until_s) for n in range(CLIENTS)]
            await asyncio.gather(kill_on(service.pid, outcome, until_s=until_s), *asking)
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    seconds = parser.parse_args().seconds
    try:
        with server() as base, postgresql(base) as url, tempfile.TemporaryDirectory() as name:
            outcome = uvloop.run(measure(url, Path(name), seconds))
    except NoServerError as error:
        print(f"  not measured without PostgreSQL: {error}")
        return
    pauses = sorted(outcome.pauses_s)
    print(f"{outcome.kills} kills of one of {WORKERS} workers in {seconds:g} s: {outcome.answers} whole answers")
    if pauses:
        p50, p99 = statistics.median(pauses), pauses[min(len(pauses) - 1, int(len(pauses) * 0.99))]
        print(f"  {len(pauses)} pauses: p50 {p50:.2f} s (aim: {AIM_P50_S:g}), p99 {p99:.2f} s (aim: {AIM_P99_S:g})")
    for mistake in outcome.mistakes[:10]:
        print(f"  WRONG: {mistake}")


if __name__ == "__main__":
    sys.exit(main())
