"""CPU per turn of the whole path (tree, signals, chunks) over a bare asyncio loop, against the floor of py_trees.

A query has 15 turns of 50 deltas with one tool call each; the model answers without latency, in this process. The bare
loop reads the same model, joins the text and awaits the same tool; it makes no chunks. The contenders take turns, and
the least of the rounds counts, which other work on the machine disturbs least.

Aim: above the bare loop, a turn costs at most 1.5 times what the floor costs (`py_trees_floor`).
"""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, Mapping, Sequence

from benchmarks import py_trees_floor
from benchmarks.instructions import MISSING, Query, can_count, instructions_of, path_of
from benchmarks.paced import SIGNAL
from benchmarks.parts import oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.core.chunks import Chunk
from oracle.llm.protocol import (
    ModelEvent,
    ModelRequest,
    TextDelta,
    ToolCallRequested,
    ToolUse,
    TurnEnded,
    Usage,
)
from oracle.tools import Tool, ToolRegistry, ToolResult

TURNS = 15
DELTAS = 50
QUERIES = 5
ROUNDS = 15
DELTA = "some words of text, "
AIM = 1.5


class InstantModel:
    """A model without latency: turns with a tool call, then an answer; 15 of them if nothing else is said."""

    name = "instant"
    has_web_search = False

    def __init__(self, *, turns: int = TURNS) -> None:
        self._turn = 0
        self._turns = turns

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self._turn += 1
        for _ in range(DELTAS):
            yield TextDelta(DELTA)
        usage = Usage(input_tokens=100, output_tokens=50)
        if self._turn % self._turns:
            call = ToolUse(f"call_{self._turn}", "read_file", {"path": f"file_{self._turn}"})
            yield ToolCallRequested(call)
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
            yield TurnEnded("tool_use", usage, ({"type": "text", "text": DELTA * DELTAS}, block), "instant")
        else:
            yield TextDelta(SIGNAL)
            yield TurnEnded("end_turn", usage, ({"type": "text", "text": DELTA * DELTAS + SIGNAL},), "instant")

    async def aclose(self) -> None:
        pass


async def read_file(arguments) -> ToolResult:
    return ToolResult(f"the text of {arguments['path']}")


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = ToolRegistry([Tool("read_file", "Reads.", "To read.", SCHEMA, read_file, "code")])


async def bare_query() -> None:
    """The baseline: the least work of any agent loop."""
    model, messages = InstantModel(), [{"role": "user", "content": "How does the auth middleware work?"}]
    while True:
        texts, call = [], None
        async for event in model.stream(ModelRequest("", tuple(messages))):
            if type(event) is TextDelta:
                texts.append(event.text)
            elif type(event) is ToolCallRequested:
                call = event.call
        messages.append({"role": "assistant", "content": "".join(texts)})
        if call is None:
            return
        messages.append({"role": "tool", "content": (await read_file(call.arguments)).text})


def floor_queries() -> Query:
    """The same turns, ticked through stock nodes of py_trees."""

    async def tool(arguments) -> str:
        return (await read_file(arguments)).text

    return py_trees_floor.make_query(InstantModel(), tool, turns=TURNS)


def oracle_queries(control: str) -> Query:
    """A query through the whole path, with the given control."""
    oracle = oracle_over(InstantModel(), TOOLS, control=control)
    ask = Ask("How does the auth middleware work?", limits={"max_iterations": 20})

    async def query() -> None:
        chunks: list[Chunk] = []
        active = await oracle.open(ask, emit=chunks.append)
        await active.run()
        assert chunks[-1].termination_reason == "completed", chunks[-1]
        assert chunks[-1].turns == TURNS

    return query


def langgraph_queries() -> Query | None:
    """LangGraph's prebuilt agent over a fake chat model that streams the same pieces; `None` if it is not installed."""
    try:
        from benchmarks.langgraph_agent import make_query
    except ImportError:
        return None
    return make_query(turns=TURNS, deltas=DELTAS, delta=DELTA)


async def cpu_of_turns_us(contenders: Mapping[str, Query], *, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """CPU time per turn in each round, in µs, by contender."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for query in contenders.values():
        await query()
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, query in contenders.items():
            gc.collect()
            began = time.process_time()
            for _ in range(QUERIES):
                await query()
            found[name].append((time.process_time() - began) / QUERIES / TURNS * 1e6)
    gc.unfreeze()
    return found


def above_bare_us(found: Mapping[str, Sequence[float]], name: str) -> float:
    """What a turn costs over the bare loop, in µs: the least of the rounds, which other work disturbs least."""
    return min(found[name]) - min(found["bare"])


def over_floor(found: Mapping[str, Sequence[float]], name: str) -> float:
    """What a turn costs over the bare loop, in floors."""
    return above_bare_us(found, name) / above_bare_us(found, "floor")


def contenders() -> dict[str, Query]:
    """The bare loop, the floor, and the agent with either control."""
    return {
        "bare": bare_query,
        "floor": floor_queries(),
        "tree": oracle_queries("tree"),
        "loop": oracle_queries("loop"),
    }


async def tree_over_floor() -> float:
    """What a turn of the shipped tree costs over the bare loop, in floors."""
    measured = {name: query for name, query in contenders().items() if name != "loop"}
    return over_floor(await cpu_of_turns_us(measured), "tree")


def instructions_over_floor() -> float:
    """The same in processor instructions."""
    found = instructions_of("benchmarks.bench_turns", ("bare", "floor", "tree"))
    return (found["tree"] - found["bare"]) / (found["floor"] - found["bare"])


async def measure() -> None:
    measured = contenders()
    if (langgraph := langgraph_queries()) is not None:
        measured["langgraph"] = langgraph
    names = {
        "bare": "bare asyncio loop",
        "floor": "py_trees floor",
        "tree": "Oracle, YAML tree",
        "loop": "Oracle, plain loop",
        "langgraph": "LangGraph's agent",
    }
    found = await cpu_of_turns_us(measured)
    print(f"turns: {TURNS} a query, {DELTAS} deltas and one tool call each")
    print("  CPU of a turn, that above the bare loop, and this in floors")
    for name in measured:
        aim = f"   (aim: at most {AIM})" if name == "tree" else ""
        own_us = above_bare_us(found, name)
        print(f"  {names[name]:<20} {min(found[name]):8.0f} µs {own_us:+8.0f} µs {over_floor(found, name):6.2f}{aim}")
    for name in ("floor", "tree"):
        functions, size = await path_of(measured[name])
        print(f"  {names[name]:<20} {functions:8,} functions with {size / 1000:,.0f} KB of bytecode run in a turn")
    print(f"  in instructions: {instructions_over_floor():.2f} floors" if can_count() else f"  {MISSING}")
    if langgraph is None:
        print("  LangGraph is not installed: `make bench` installs it")


def main() -> None:
    quiet()
    asyncio.run(measure())


if __name__ == "__main__":
    main()
