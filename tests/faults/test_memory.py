"""A service that has answered many queries holds no more than one that has answered few."""

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
import uvloop

from benchmarks.parts import oracle_over
from benchmarks.service_client import Stream, call
from oracle.agent.answering import Ask, Oracle
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.conversations.protocol import Conversation, Exchange
from oracle.core.logs import configure_logging
from oracle.llm.protocol import ModelEvent, ModelFault, ModelRequest
from oracle.server.process.process import serve
from oracle.server.settings.reading import read_settings
from oracle.testing import ScriptedModel, ScriptedTurn
from oracle.tools import ToolRegistry

RUNS, WARM_UP, AT_ONCE = 50_000, 3_000, 12
MOST_GROWTH_BYTES = 20_000_000
MOST_PAUSE_S = 0.05
QUERIES, QUERIES_TO_WARM_UP = 100_000, 2_000
MOST_BLOCKS_OF_A_QUERY = 0.02


class Churning(ScriptedModel):
    """Answers, hangs or fails, as the question says."""

    def __init__(self) -> None:
        super().__init__([])

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:  # type: ignore[override]
        said = str(request.messages[-1])
        turn = ScriptedTurn("It begins here, and it ends there.", piece_chars=12)
        if "hang" in said:
            turn = ScriptedTurn("So far.", hang=True)
        elif "fail" in said:
            turn = ScriptedTurn("So far.", fault=ModelFault("provider_failed", "it broke"))
        async for event in ScriptedModel([turn]).stream(request):
            yield event


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[str]:
    listening = asyncio.get_running_loop().create_future()
    settings = read_settings(data_dir=folder / "data", project_dir=folder, drain_s=1, log="critical", reader_grace_s=1)
    served = asyncio.create_task(
        serve(settings, host="127.0.0.1", port=0, announce=listening.set_result, model=Churning())
    )
    told = await listening
    try:
        yield told.url
    finally:
        os.kill(os.getpid(), 15)
        assert await served == 0


async def one(address: str, number: int) -> None:
    """One run, and what clients do with it."""
    way = number % 10
    if way < 5:
        stream = await (await Stream(address).ask("hello")).read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed"
        if way < 3:
            context = stream.chunks[-1]["context_id"]
            assert (await call(address, "DELETE", f"/api/oracle/conversations/{context}"))[0] == 204
        stream.close()
    elif way < 7:
        status, _, body = await call(address, "POST", "/api/oracle", body={"question": "please fail"})
        assert (status, body["termination_reason"]) == (200, "error")
    elif way < 9:
        stream = await Stream(address).ask("please hang")
        await stream.until("content")
        assert (await call(address, "POST", f"/api/oracle/runs/{stream.run_id}/cancel"))[0] == 202
        if way == 7:
            await stream.read_all()
        stream.close()  # else it has gone before the end
    else:
        stream = await Stream(address).ask("hello")
        stream.close()
        assert (await call(address, "POST", "/api/oracle", body={"question": "x", "context_id": "none"}))[0] == 404


async def churn(address: str, runs: int) -> None:
    numbers = iter(range(runs))

    async def user() -> None:
        for number in numbers:
            await one(address, number)

    await asyncio.gather(*(user() for _ in range(AT_ONCE)))


def rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def pauses() -> Iterator[Callable[[], float]]:
    """The longest time that the cyclic collector has taken."""
    longest_s = began_s = 0.0

    def note(phase: str, _: object) -> None:
        nonlocal longest_s, began_s
        if phase == "start":
            began_s = time.thread_time()
        else:
            longest_s = max(longest_s, time.thread_time() - began_s)

    gc.callbacks.append(note)
    try:
        yield lambda: longest_s
    finally:
        gc.callbacks.remove(note)


@pytest.mark.soak
def test_fifty_thousand_runs_leave_no_memory_behind_and_the_collector_never_stops_the_streams(tmp_path: Path) -> None:
    configure_logging("critical")
    uvloop.run(measure(tmp_path, runs=int(os.environ.get("ORACLE_TEST_RUNS", RUNS))))


async def measure(tmp_path: Path, *, runs: int) -> None:
    """Run in the event loop of the product: each transport of asyncio's own is a reference cycle."""
    async with serving(tmp_path) as address:
        await churn(address, WARM_UP)
        before, began_s = rss_bytes(), time.monotonic()
        with pauses() as longest_s:
            await churn(address, runs)
        grown, took_s = rss_bytes() - before, time.monotonic() - began_s
    print(  # noqa: T201  the figure is what the test is run for
        f"\n{runs} runs in {took_s:.0f} s: {before / 1e6:.0f} MB before, {grown / 1e6:+.1f} MB after; "
        f"longest look of the collector {longest_s() * 1000:.0f} ms"
    )
    assert grown < MOST_GROWTH_BYTES
    assert longest_s() < MOST_PAUSE_S


class Forgetful(MemoryConversations):
    """Keeps no conversation, so that what grows is what queries leave behind."""

    async def create(self, user_id: str, *, project_id: str | None = None) -> Conversation:
        return Conversation("c", user_id, project_id)

    async def append(self, user_id: str, context_id: str, exchange: Exchange) -> None:
        pass


async def answered(oracle: Oracle, queries: int) -> None:
    for number in range(queries):
        query = await oracle.open(Ask(f"How does part {number % 1_000} work?"), emit=lambda _: None)
        await query.run()


@pytest.mark.soak
async def test_a_hundred_thousand_queries_of_an_embedding_program_leave_nothing_behind() -> None:
    configure_logging("critical")
    queries = int(os.environ.get("ORACLE_TEST_QUERIES", QUERIES))
    conversations = Forgetful(new_id=lambda: "c")
    oracle = oracle_over(Churning(), ToolRegistry([]), conversations=conversations)
    await answered(oracle, QUERIES_TO_WARM_UP)
    gc.collect()
    blocks, before, began_s = sys.getallocatedblocks(), rss_bytes(), time.process_time()
    await answered(oracle, queries)
    gc.collect()
    of_a_query = (sys.getallocatedblocks() - blocks) / queries
    grown, took_s = rss_bytes() - before, time.process_time() - began_s
    print(  # noqa: T201  the figure is what the test is run for
        f"\n{queries} queries in {took_s:.0f} s of CPU: {before / 1e6:.0f} MB before, {grown / 1e6:+.1f} MB after, "
        f"{grown / queries:.0f} bytes and {of_a_query:.4f} blocks a query"
    )
    assert of_a_query < MOST_BLOCKS_OF_A_QUERY
    assert grown < MOST_GROWTH_BYTES
