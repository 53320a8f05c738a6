"""Ticks to those who watch them: a tree of 400 nodes that ticks 20 times a second, beside ordinary streams.

Each of these ticks visits all nodes (between them are short ones, in which the loop begins its next round). It is
recorded and sent to 20 watchers: as recorded (`reasons=false`), and explained by repeating it, with what each node did
and why. Lateness is from the time of the tick to its arrival at each watcher, in another process. The baseline is the
explained form without ordinary streams. Aim: p99 under 100 ms beside 200 streams; every watcher gets every tick.
"""

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from benchmarks.paced import Pace, make_project
from benchmarks.processes import ServerProcess, python
from benchmarks.service_client import ServiceClient, call
from benchmarks.service_load import ask

AIM_MS = 100
BRANCHES = 79  # of five nodes each
TICKS_PER_S = 20
TICKS = 400
WATCHERS = 20
STREAMS = 200

_HEAD = """\
tree: wide
blackboard:
  round: {type: int, default: 0}
root:
  finally:
    child:
      loop:
        until: termination_reason
        guards: [cancelled, deadline]
        child:
          sequence:
            - wait: %s
            - set: {round: round + 1}
"""
_BRANCH = """\
            - sequence:
                - condition: "round >= %d"
                - selector:
                    - condition: "round < 0"
                    - condition: "round > 0 and not cut_off"
"""
_TAIL = """\
            - if:
                when: "round >= %d"
                then:
                  sequence: [{say: It is wide.}, {stop: completed}]
    then:
      sequence: [explain_stop, finish]
"""


def wide_tree(*, ticks: int) -> str:
    """The text of the tree."""
    branches = "".join(_BRANCH % -number for number in range(BRANCHES))
    return _HEAD % (1 / TICKS_PER_S) + branches + _TAIL % ticks


@dataclass(slots=True)
class Watched:
    """What one watcher got: the number and the arrival of each event, and the first event of all."""

    arrivals: list[tuple[int, float]] = field(default_factory=list)
    times_s: dict[int, float] = field(default_factory=dict)
    keeps_times: bool = False
    is_ended: bool = False
    size: int = 0

    def take(self, number: int, data: bytes) -> None:
        now = time.monotonic()
        self.arrivals.append((number, now))
        self.size += len(data)
        if data.startswith(b'{"type":"end"'):
            self.is_ended = True
        elif self.keeps_times:
            self.times_s[number] = json.loads(data)["tick"]["at_s"]


@dataclass(frozen=True, slots=True)
class Lateness:
    """What came of one run: lateness of each tick at each watcher, in ms, and what was wrong."""

    late_ms: Sequence[float]
    mistakes: Sequence[str]
    tick_kb: float
    cpu: float
    nodes: int

    def at(self, share: float) -> float:
        late = sorted(self.late_ms)
        return late[min(len(late) - 1, math.ceil(len(late) * share) - 1)]


async def watch(address: str, run_id: str, watched: Watched, *, reasons: bool) -> None:
    """Watch to the end."""
    client = await ServiceClient.connect(address, on_event=watched.take)
    client.send("GET", f"/api/runs/{run_id}/ticks/stream?reasons={str(reasons).lower()}")
    await client.headers_came()
    await client.ended()
    client.close()


async def measured(
    server: ServerProcess, *, streams: int, ticks: int, watchers: int = WATCHERS, reasons: bool = True
) -> Lateness:
    """One run of the tree, watched, with so many ordinary streams beside it."""
    address = server.address
    beside = [asyncio.create_task(ask(address, f"w{streams}x{n}", after_s=n / streams * 2)) for n in range(streams)]
    await asyncio.sleep(2 if streams else 0)  # they are all under way
    cpu_s, began_s = server.cpu_s, time.monotonic()
    client = await ServiceClient.connect(address, on_event=lambda _number, _data: None)
    client.send("POST", "/api/oracle/stream", body={"question": "How wide is it?", "tree": "wide"})
    await client.headers_came()
    run_id = client.headers["x-run-id"]
    found = [Watched(keeps_times=number == 0) for number in range(watchers)]
    await asyncio.gather(client.ended(), *(watch(address, run_id, each, reasons=reasons) for each in found))
    cpu = (server.cpu_s - cpu_s) / (time.monotonic() - began_s)
    client.close()
    await asyncio.gather(*beside)
    _, _, recorded = await call(address, "GET", f"/api/runs/{run_id}/ticks?limit=1")
    start_s = recorded["ticks"][0]["at_s"] - found[0].times_s[1]
    mistakes = [
        f"watcher {number} got {len(each.arrivals)} events, ended: {each.is_ended}"
        for number, each in enumerate(found)
        if [n for n, _ in each.arrivals] != list(range(1, len(found[0].arrivals) + 1)) or not each.is_ended
    ]
    if len(found[0].times_s) < ticks:
        mistakes.append(f"the run had {len(found[0].times_s)} ticks in place of {ticks}")
    late_ms = [
        (at_s - start_s - found[0].times_s[n]) * 1000
        for each in found
        for n, at_s in each.arrivals
        if n in found[0].times_s and n > 2  # the tree is read and built once, when the first watcher comes
    ]
    size = found[0].size / len(found[0].arrivals) / 1000
    return Lateness(late_ms, mistakes, size, cpu, len(recorded["nodes"]))


def watched_server(folder: Path, *, ticks: int, pace: Pace) -> ServerProcess:
    """The service over the paced model, with the wide tree."""
    trees = folder / "data" / "trees"
    trees.mkdir(parents=True)
    (trees / "wide.yaml").write_text(wide_tree(ticks=ticks))
    project = make_project(folder / "project", pace)
    options = ["--data-dir", str(folder / "data"), "--project", str(project)]
    options += ["--turns", str(pace.turns), "--pieces", str(pace.pieces), "--turn-s", str(pace.turn_s)]
    env = {"ORACLE_RUNS_PER_USER": "1000"}
    return ServerProcess(
        python("-m", "benchmarks.service_process", "oracle", *options), log=folder / "oracle.log", env=env
    )


async def measure(streams: int = STREAMS, ticks: int = TICKS) -> None:
    with tempfile.TemporaryDirectory() as name:
        pace = Pace(turns=5, pieces=50, turn_s=max(2.0, ticks / TICKS_PER_S / 4))
        async with watched_server(Path(name), ticks=ticks, pace=pace) as server:
            await measured(server, streams=0, ticks=ticks)  # warms up
            alone = await measured(server, streams=0, ticks=ticks)
            beside = await measured(server, streams=streams, ticks=ticks)
            plain = await measured(server, streams=0, ticks=ticks, reasons=False)
            plain_beside = await measured(server, streams=streams, ticks=ticks, reasons=False)
    print(f"ticks of {alone.nodes} nodes, {TICKS_PER_S} a second, to {WATCHERS} watchers")
    print("  from tick to watcher (ms): p50 / p99 / most; ratio of p99; share of a core; KB a tick")
    rows = {
        "explained, alone": alone,
        f"explained, beside {streams} streams": beside,
        "as recorded, alone": plain,
        f"as recorded, beside {streams} streams": plain_beside,
    }
    for title, found in rows.items():
        figures = " ".join(f"{found.at(share):7.1f}" for share in (0.5, 0.99, 1.0))
        ratio = found.at(0.99) / alone.at(0.99)
        print(f"  {title:<32} {figures}   {ratio:5.1f}   {found.cpu:4.0%}   {found.tick_kb:5.1f}")
        for mistake in found.mistakes:
            print(f"  WRONG: {mistake}")
    print(f"  (aim: p99 under {AIM_MS} ms beside {STREAMS} streams)")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--ticks", type=int, default=TICKS)
    given = parser.parse_args(arguments)
    uvloop.run(measure(given.streams, given.ticks))


if __name__ == "__main__":
    main(sys.argv[1:])
