"""What the tree adds to a turn, in CPU and in time, over the plain loop (020 SC-007).

One agent looks at eight sources, one a turn, with the real tools, and writes some 1 500 characters a turn in 60 pieces;
the model itself takes no time. Both controls run exactly the same turns. Rounds alternate, and the least of each
counts, which other work on the machine disturbs least. The share is of a turn of two seconds, which is what a model
takes.
"""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.habits.players import oracle_with_legacy
from benchmarks.habits.tasks import PICKUPS
from benchmarks.habits.world import World
from oracle.agent.answering import Ask
from oracle.core.chunks import Chunk, Done
from oracle.llm.protocol import ModelEvent, ModelRequest, Usage
from oracle.testing import ScriptedCall, ScriptedModel, ScriptedTurn

TURN_S = 2.0
AIM = 0.01
PIECES = 60
_ROUNDS = 25
_TURNS = len(PICKUPS) + 1
_TEXT = ("Some words of text, and more. " * 50)[: 25 * PIECES]
_USAGE = Usage(200, 0, 4_000, 400)
_SIGNAL = '<signal type="context_sufficient"><sources_found>8</sources_found><confidence>0.9</confidence></signal>'


class _Reader:
    """Reads a file a turn, then answers."""

    name = "reader"
    has_web_search = False

    async def aclose(self) -> None:
        """There is nothing to close."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        done = sum(message["role"] == "assistant" for message in request.messages)
        calls = tuple(
            ScriptedCall("read_file", {"path": fact.places[0].partition(":")[2]}) for fact in PICKUPS[done : done + 1]
        )
        text = _TEXT if calls else f"{_TEXT}\n\n{_SIGNAL}"
        turn = ScriptedTurn(text=text, tool_calls=calls, usage=_USAGE, piece_chars=len(_TEXT) // PIECES)
        async for event in ScriptedModel([turn]).stream(request):
            yield event


async def per_turn_us(rounds: int = _ROUNDS) -> Mapping[str, tuple[float, float]]:
    """CPU and time of a turn under each control, in µs."""
    with TemporaryDirectory(prefix="oracle-latency-") as name:
        folder = Path(name)
        for each in ("world", "trees"):
            (folder / each).mkdir()
        oracle = oracle_with_legacy(_Reader(), World(folder / "world").tools(), trees=folder / "trees")
        text = "List the hour of the last pick-up of every carrier in the code."

        def query(tree: str) -> Callable[[], Awaitable[None]]:
            async def run() -> None:
                chunks: list[Chunk] = []
                await (await oracle.open(Ask(text, tree=tree), emit=chunks.append)).run()
                done = chunks[-1]
                assert isinstance(done, Done)
                assert (done.turns, done.termination_reason) == (_TURNS, "completed"), done

            return run

        queries = {"tree": query("oracle"), "loop": query("default")}
        for run in queries.values():
            await run()
        found = [{name: await _measured(run) for name, run in queries.items()} for _ in range(rounds)]
    return {name: (min(each[name][0] for each in found), min(each[name][1] for each in found)) for name in queries}


async def _measured(run: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    gc.collect()
    cpu, clock = time.process_time(), time.perf_counter()
    await run()
    return (time.process_time() - cpu) / _TURNS * 1e6, (time.perf_counter() - clock) / _TURNS * 1e6


def latency_lines() -> list[str]:
    """The figures as text."""
    of = asyncio.run(per_turn_us())
    found = [f"what the control costs: {_TURNS} turns with a tool call each and {PIECES} pieces of text; a turn"]
    for name, (cpu_us, wall_us) in of.items():
        found.append(f"  {name:<6} CPU {cpu_us:6.0f} µs   time {wall_us:6.0f} µs")
    cpu_us, wall_us = (of["tree"][which] - of["loop"][which] for which in (0, 1))
    share = max(cpu_us, wall_us) / (TURN_S * 1e6)
    aim = f"(aim: under {100 * AIM:g} %; 020 SC-007: 10 %)"
    found.append(
        f"  added  CPU {cpu_us:+6.0f} µs   time {wall_us:+6.0f} µs   {100 * share:.3f} % of {TURN_S:g} s  {aim}"
    )
    whole = max(of["tree"]) / (TURN_S * 1e6)
    found.append(f"  all of our own work in a turn, tool call included: {100 * whole:.3f} % of it")
    return found
