"""kill -9 in the middle of many runs: what anybody saw stays, and every run goes on to its whole answer."""

import asyncio
import random
from asyncio import timeout
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from benchmarks.paced import Pace, question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess
from benchmarks.service_client import Stream
from oracle.agent.nodes import REGISTRY
from oracle.cli.run_view.page import Sections, deciding_tick, run_page
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.reading import read_history
from oracle.runs.storage.archive import open_archive
from tests.faults.service import QUICK, broken_pages, checked_run, runs_of, service

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(folder: Path, provider: PacedProvider) -> AsyncIterator[ServerProcess]:
    """One for all, with many lives."""
    async with service(folder, provider) as running:
        yield running


class Crowd:
    """Clients that ask and read until they are cut off.

    Args:
        address: of the service.
        tags: one for each client.
    """

    def __init__(self, address: str, tags: list[str]) -> None:
        self.streams = [Stream(address) for _ in tags]
        self._heard = asyncio.Condition()
        self._tasks = [asyncio.create_task(self._read(*each)) for each in zip(self.streams, tags, strict=True)]

    async def has_heard(self, chunks: int) -> None:
        """Wait until the clients together have read so many chunks, or all is over."""
        async with self._heard:
            await self._heard.wait_for(lambda: self._count() >= chunks or all(task.done() for task in self._tasks))

    async def dispersed(self) -> None:
        """Every one is at the end of what it could read."""
        await asyncio.gather(*self._tasks)

    def _count(self) -> int:
        return sum(len(stream.chunks) for stream in self.streams)

    async def _read(self, stream: Stream, tag: str) -> None:
        try:
            await stream.ask(question(tag))
            while await stream.next() is not None:
                async with self._heard:
                    self._heard.notify_all()
        except ConnectionError:
            pass  # killed before it answered
        finally:
            async with self._heard:
                self._heard.notify_all()


async def killed_and_checked(server: ServerProcess, tags: list[str], *, after: int, pace: Pace) -> int:
    """Kill the server after so many chunks under a load, start it again, check every run; how many have gone on."""
    crowd = Crowd(server.address, tags)
    await crowd.has_heard(after)
    await server.kill()
    await crowd.dispersed()
    await server.start()
    seen = {stream.run_id: stream for stream in crowd.streams if stream.client is not None}
    continued = 0
    for run in await runs_of(server.address):
        told = await checked_run(server.address, run["run_id"], seen=seen.pop(run["run_id"], None), pace=pace)
        assert told.chunks[-1]["termination_reason"] == "completed", told.chunks[-3:]
        continued += any(chunk.get("system_type") == "recovered" for chunk in told.chunks)
    assert not seen, f"runs that clients saw are gone: {sorted(seen)}"
    return continued


async def explained(database: Path, run_id: str) -> bool:
    """Check that a run, and any beginning of its log, is explained; whether it was continued."""
    async with open_archive(f"sqlite:///{database}") as archive:
        record = await archive.find(run_id)
        history = await read_history(archive, record, registry=REGISTRY)
        version = await archive.tree(record.tree_sha) if record.tree_sha else None
        events = await archive.events(run_id)
    assert (history.problem, history.unexplained_from) == ("", None), run_id
    assert all(tick.headline and tick.visits for tick in history.ticks), run_id
    assert history.end is not None
    assert record.error is None
    for length in {0, 1, *range(0, len(events), max(1, len(events) // 8)), len(events)}:
        explainer = Explainer(replace(record, status="running"), version, registry=REGISTRY)
        explainer.feed_all(events[:length])
        explainer.ended(record)
        assert explainer.history.problem == "", (run_id, length)
        assert explainer.history.end is not None
    for position in (deciding_tick(history), None):
        assert run_page(history, position, width=100, sections=Sections(), now=0.0).parts
    return any(event.kind == "resumed" for event in events)


@pytest.mark.parametrize("lives", [2, pytest.param(30, marks=pytest.mark.soak)])
async def test_after_a_kill_every_run_is_explained(folder: Path, server: ServerProcess, lives: int) -> None:
    chance = random.Random(7)
    continued = 0
    async with timeout(30 + 20 * lives):
        for life in range(lives):
            crowd = Crowd(server.address, [f"e{lives}x{life}x{n}" for n in range(6)])
            await crowd.has_heard(chance.randrange(1, 6 * 2 * QUICK.pieces))
            await server.kill()
            await crowd.dispersed()
            await server.start()
            for stream in crowd.streams:
                if stream.client is not None:
                    await checked_run(server.address, stream.run_id, seen=stream, pace=QUICK)
                    continued += await explained(folder / "data" / "oracle.db", stream.run_id)
    assert continued > 0
    assert broken_pages(folder / "data" / "oracle.db") == []


@pytest.mark.parametrize("kills", [1, pytest.param(8, marks=pytest.mark.soak)])
async def test_a_kill_in_the_middle_of_recovery_leaves_no_doubles(server: ServerProcess, kills: int) -> None:
    async with timeout(120):
        crowd = Crowd(server.address, [f"r{kills}x{n}" for n in range(12)])
        await crowd.has_heard(100)
        await server.kill()
        await crowd.dispersed()
        for _ in range(kills):
            await server.start()
            # The first run that has been ended: others are not yet, or are being ended.
            await (await Stream(server.address).resume(crowd.streams[0].run_id)).until("done")
            await server.kill()
        await server.start()
        for stream in crowd.streams:
            await checked_run(server.address, stream.run_id, seen=stream, pace=QUICK)


@pytest.mark.soak
async def test_kills_at_random_moments_under_load(tmp_path: Path) -> None:
    pace = Pace(turns=3, pieces=40, turn_s=0.8)
    chance = random.Random(20)
    interrupted = 0
    async with timeout(900), PacedProvider(pace) as provider:
        for life in range(20):
            folder = tmp_path / str(life)
            folder.mkdir()
            async with service(folder, provider) as server:
                for again in range(2):
                    tags = [f"s{life}x{again}x{n}" for n in range(40)]
                    after = chance.randrange(1, 40 * pace.turns * pace.pieces)
                    interrupted += await killed_and_checked(server, tags, after=after, pace=pace)
                assert await server.stop() == 0
            assert broken_pages(folder / "data" / "oracle.db") == []
    assert interrupted > 100
