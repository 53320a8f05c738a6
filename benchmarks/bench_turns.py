"""CPU per turn of the whole path (tree, signals, chunks) over a bare asyncio loop, and LangGraph's agent beside it.

A query has 15 turns of 50 deltas with one tool call each; the model answers without latency, in this process. The bare
loop reads the same model, joins the text, makes the same chunks and awaits the same tool. Aim: at most 200 µs of CPU
over it per turn.
"""

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, Awaitable, Callable

from benchmarks.paced import SIGNAL
from benchmarks.parts import oracle_over, quiet
from oracle.agent.answering import Ask
from oracle.core import chunks as wire
from oracle.core.chunks import Chunk, Content, ToolCalled, ToolReturned
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
QUERIES = 10
ROUNDS = 12
DELTA = "some words of text, "
AIM_US = 250


class InstantModel:
    """A model without latency: 14 turns with a tool call, then an answer."""

    name = "instant"
    has_web_search = False

    def __init__(self) -> None:
        self._turn = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self._turn += 1
        for _ in range(DELTAS):
            yield TextDelta(DELTA)
        usage = Usage(input_tokens=100, output_tokens=50)
        if self._turn % TURNS:
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
    """The baseline: the minimal work of any agent loop."""
    model, chunks, messages = InstantModel(), [], [{"role": "user", "content": "How does the auth middleware work?"}]
    emit: Callable[[Chunk], None] = chunks.append
    while True:
        texts, call, ended = [], None, None
        async for event in model.stream(ModelRequest("", tuple(messages))):
            if type(event) is TextDelta:
                texts.append(event.text)
                emit(Content(event.text))
            elif type(event) is ToolCallRequested:
                call = event.call
                emit(ToolCalled(wire.ToolCall(call.id, call.name, call.arguments)))
            else:
                ended = event
        messages.append({"role": "assistant", "content": ended.content})
        if call is None:
            return
        result = await read_file(call.arguments)
        emit(ToolReturned(call.id, result.text, is_error=False, duration_ms=0))
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id}]})


def oracle_queries(control: str) -> Callable[[], Awaitable[None]]:
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


def langgraph_queries() -> Callable[[], Awaitable[None]] | None:
    """LangGraph's prebuilt agent over a fake chat model that streams the same pieces; `None` if it is not installed."""
    try:
        from benchmarks.langgraph_agent import make_query
    except ImportError:
        return None
    return make_query(turns=TURNS, deltas=DELTAS, delta=DELTA)


async def cpu_per_turn_us(query: Callable[[], Awaitable[None]], queries: int = QUERIES) -> float:
    """The least CPU time per turn over the rounds, in µs, which other work on the machine disturbs least."""
    await query()
    rounds = []
    for _ in range(ROUNDS if queries == QUERIES else 3):
        gc.collect()
        began = time.process_time()
        for _ in range(queries):
            await query()
        rounds.append((time.process_time() - began) / queries / TURNS * 1e6)
    return min(rounds)


async def measure() -> None:
    bare = await cpu_per_turn_us(bare_query)
    print(f"turns: {TURNS} a query, {DELTAS} deltas and one tool call each; CPU per turn")
    print(f"  bare asyncio loop        {bare:8.0f} µs   1.0")
    for name, control in (("YAML tree", "tree"), ("plain loop", "loop")):
        cost = await cpu_per_turn_us(oracle_queries(control))
        verdict = "" if control != "tree" else f"   (aim: at most {AIM_US} µs over the bare loop)"
        print(f"  Oracle, {name:<16} {cost:8.0f} µs {cost / bare:5.1f}   {cost - bare:+.0f} µs{verdict}")
    langgraph = langgraph_queries()
    if langgraph is None:
        print("  LangGraph is not installed: `make bench` installs it")
        return
    cost = await cpu_per_turn_us(langgraph, queries=3)
    print(f"  LangGraph's agent        {cost:8.0f} µs {cost / bare:5.1f}   {cost - bare:+.0f} µs")


def main() -> None:
    quiet()
    asyncio.run(measure())


if __name__ == "__main__":
    main()
