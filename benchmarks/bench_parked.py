"""Memory of a parked run: a query whose model has not answered yet, with its tree, transcript, prompt and tasks.

Aim: at most 30 KB. The baseline is a task that waits, with a list and a dictionary of its own: what any loop needs.
"""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from benchmarks.parts import oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.llm.protocol import ModelEvent, ModelRequest, TextDelta, TurnEnded, Usage
from oracle.tools import ToolRegistry

RUNS = 300
AIM_KB = 30


class PatientModel:
    """Sends one word, then waits for an event."""

    name = "patient"
    has_web_search = False

    def __init__(self) -> None:
        self.waiting = 0
        self.let_go = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        yield TextDelta("Well ")
        self.waiting += 1
        await self.let_go.wait()
        yield TurnEnded("end_turn", Usage(10, 0, 0, 10), ({"type": "text", "text": "Well "},), self.name)

    async def aclose(self) -> None:
        pass


async def kilobytes_each(start: Callable[[], Coroutine[Any, Any, None]], parked: Callable[[], bool]) -> float:
    """Memory that each of many started coroutines holds while all of them wait."""
    gc.collect()
    tracemalloc.start()
    tasks = [asyncio.create_task(start()) for _ in range(RUNS)]
    while not parked():
        await asyncio.sleep(0)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return held / RUNS / 1000


async def parked_kb() -> tuple[float, float]:
    """The memory of a task that waits, and that of a parked run, in KB."""
    model = PatientModel()
    oracle = oracle_over(model, ToolRegistry([]))

    async def query() -> None:
        active = await oracle.open(Ask("How does the auth middleware work?"), emit=lambda _chunk: None)
        await active.run()

    async def bare() -> None:
        messages, state = ["How does the auth middleware work?"], {"turn": 0}
        model.waiting += 1
        await model.let_go.wait()
        messages.append(str(state))

    active = await oracle.open(Ask("warm up"), emit=lambda _chunk: None)
    warm = asyncio.create_task(active.run())
    while model.waiting < 1:
        await asyncio.sleep(0)
    active.cancel()
    await warm
    model.waiting = 0
    floor = await kilobytes_each(bare, lambda: model.waiting >= RUNS)
    model.waiting = 0
    parked = await kilobytes_each(query, lambda: model.waiting >= RUNS)
    return floor, parked


async def show() -> None:
    floor, parked = await parked_kb()
    print(f"memory of a parked run, mean of {RUNS}")
    print(f"  bare waiting task   {floor:6.1f} KB   1.0")
    print(f"  Oracle, YAML tree   {parked:6.1f} KB {parked / floor:5.1f}   (aim: at most {AIM_KB} KB)")


def main() -> None:
    quiet()
    asyncio.run(show())


if __name__ == "__main__":
    main()
