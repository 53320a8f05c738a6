"""CPU of repeating a recorded run, which is what a continuation on another worker costs before anything goes on.

A query of the shipped tree with 30 turns and a tool call in each is recorded to a store as a service does it. Its log
is then decoded, with all texts, and repeated tick by tick, each tick compared with its record. The baseline is the time
that the recorded ticks took themselves. A version of a tree is read once in a process. Aim: at most 0.2 ms a tick.
"""

import asyncio
import tempfile
import time
from itertools import count
from statistics import median

from benchmarks.bench_turns import SCHEMA, InstantModel, read_file
from benchmarks.parts import least_ms, oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.agent.nodes import REGISTRY
from oracle.core.metrics import Metrics
from oracle.replay.recorded import RecordedRun, read_run, repeat
from oracle.runs.manager import RunManager
from oracle.runs.options import RunOptions
from oracle.runs.record.record import Record
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.store import open_store
from oracle.tools import Tool, ToolRegistry

TURNS = 30
ROUNDS = 15
AIM_MS = 0.2


async def recorded() -> tuple[RecordedRun, list[LogEntry]]:
    """A run of the shipped tree as a service has recorded it, and its log."""
    ids = count()
    tools = ToolRegistry([Tool("read_file", "Reads.", "To read.", SCHEMA, read_file, "code")])
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="bench") as store:
            oracle = oracle_over(InstantModel(turns=TURNS), tools, conversations=store.conversations)
            manager = RunManager(
                oracle, store, options=RunOptions(), metrics=Metrics(), new_id=lambda: f"run-{next(ids)}"
            )
            async with manager:
                live = await manager.start(Ask("How does the auth middleware work?", limits={"max_iterations": TURNS}))
                await live.wait()
                record = await store.runs.find(live.record.id)
            assert record is not None
            archive = Archive(store.database)
            return await read_run(archive, record), list(await archive.events(record.id))


def main() -> None:
    quiet()
    run, events = asyncio.run(recorded())
    began_s = time.process_time()
    assert repeat(run, registry=REGISTRY).diverged_at is None
    first_ms = (time.process_time() - began_s) * 1000
    ticks = len(run.ticks)
    live_ms = median(tick.took_ms for tick in run.ticks)
    read_ms = least_ms(lambda: Record.fold(events), rounds=ROUNDS)
    repeat_ms = least_ms(lambda: repeat(run, registry=REGISTRY), rounds=ROUNDS)
    print(f"a run of {TURNS} turns, {ticks} ticks, {len(events)} events: a live tick took {live_ms:.3f} ms")
    print(f"  reading its log: {read_ms:5.1f} ms, {read_ms / ticks:.3f} ms a tick")
    print(
        f"  repeating it:    {repeat_ms:5.1f} ms, {repeat_ms / ticks:.3f} ms a tick; {first_ms:.0f} ms the first time"
    )
    print(f"  together {(read_ms + repeat_ms) / ticks:.3f} ms a tick (aim: at most {AIM_MS})")


if __name__ == "__main__":
    main()
