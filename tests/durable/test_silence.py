"""Workers that are silent and not dead, and databases that are away: nothing of a live worker is taken over.

A worker that is stopped loses its runs within eight seconds, and writes nothing when it wakes.
"""

import asyncio
import random
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from benchmarks.service_client import Stream, call
from tests.durable.checks import Ask, Known, check_doubles, check_told, known_answers
from tests.durable.clients import Told, asked
from tests.durable.cluster import Cluster, url_at
from tests.durable.fleet import Fleet, Worker
from tests.faults.proxy import Proxy

pytestmark = pytest.mark.soak
AWAY_S = 20.0
STOPPED_S = 30.0
PIECES, GAP_S = 60, 0.05
"""A turn of three seconds, so that a run is under way for the time of each trial."""


def _recovered(told: Told) -> int:
    return sum(chunk["system_type"] == "recovered" for chunk in told.of_type("system"))


async def _known(fleet: Fleet, asks: Sequence[Ask], dice: random.Random) -> dict[str, Known]:
    await fleet.provider.pace(pieces=PIECES, gap_s=0.001)
    known = await known_answers(fleet, asks, dice=dice)
    await fleet.provider.pace(pieces=PIECES, gap_s=GAP_S)
    return known


async def _undisturbed_by(fleet: Fleet, trouble: Callable[[], Awaitable[object]]) -> None:
    """Every run of two workers goes on through the trouble on the worker that it has, and nothing is lost."""
    dice = random.Random(4)
    asks = [("tools", "s1"), ("parallel", "s2"), ("long", "s3"), ("tools", "s4")]
    known = await _known(fleet, asks, dice)
    clients = [asked(fleet, kind, tag, dice) for kind, tag in asks]
    reading = asyncio.gather(*(client.read() for client in clients))
    await asyncio.gather(*(client.grew.wait() for client in clients))
    await trouble()
    for (_, tag), told in zip(asks, await reading, strict=True):
        assert _recovered(told) == 0, f"{tag}: a run of a live worker was taken over"
        await check_told(fleet, told, known[tag])
    seen = await check_doubles(fleet, known, asks)
    assert seen["unknown"] == []


async def test_a_stopped_worker_loses_its_runs_and_writes_nothing_when_it_wakes(tmp_path: Path) -> None:
    """In a cluster of its own: one that is stopped in a commit holds up all that concerns its whole server."""
    dice = random.Random(3)
    asks = [("tools", "z1"), ("plain", "z2"), ("stuck", "z3")]
    with Cluster.running() as cluster:
        async with Fleet.running(tmp_path, cluster.url, workers=2) as fleet:
            known = await _known(fleet, asks, dice)
            stopped, other = fleet.workers
            clients = [asked(fleet, kind, tag, dice, first=stopped) for kind, tag in asks]
            reading = asyncio.gather(*(client.read() for client in clients))
            await asyncio.gather(*(client.grew.wait() for client in clients))
            readers = [await Stream(other.address).resume(client.told.run_id) for client in clients]
            fleet.workers.remove(stopped)  # clients that come back do not ask it
            taken_s = await _taken_over_while_stopped(stopped, readers)
            # What the woken one still holds back breaks off, and its clients come back to the other one.
            for (_, tag), each in zip(asks, await reading, strict=True):
                await check_told(fleet, each, known[tag])
            await check_doubles(fleet, known, asks)
            assert stopped.is_running
            lost = [event for event in stopped.events if "taken" in str(event.get("problem", event)).lower()]
            assert lost, "the woken worker does not say in its log that it has lost its runs"
    print(f"taken over after {taken_s:.1f} s")  # noqa: T201
    assert taken_s <= 8.0


async def _taken_over_while_stopped(stopped: Worker, readers: Sequence[Stream]) -> float:
    """Stop a worker for half a minute; the seconds until another one had gone on with all its runs."""
    stopped.send(signal.SIGSTOP)
    began_s = time.monotonic()
    try:
        async with asyncio.timeout(STOPPED_S):
            for reader in readers:
                while (await reader.until("system"))["system_type"] != "recovered":
                    pass
            taken_s = time.monotonic() - began_s
            for reader in readers:
                await reader.read_all()
        await asyncio.sleep(max(began_s + STOPPED_S - time.monotonic(), 0))
    finally:
        stopped.send(signal.SIGCONT)
    return taken_s


@pytest.mark.parametrize("mode", ["fast", "immediate"])
async def test_a_restart_of_postgresql_takes_no_run_from_a_live_worker(tmp_path: Path, mode: str) -> None:
    with Cluster.running() as cluster:
        async with Fleet.running(tmp_path, cluster.url, workers=2) as fleet:
            await _undisturbed_by(fleet, lambda: asyncio.to_thread(cluster.restart, mode=mode))


async def test_a_cut_connection_takes_no_run_from_a_live_worker(tmp_path: Path, postgresql_server: str) -> None:
    """All workers lose the database for 20 s."""
    with Cluster.running() as cluster:
        async with (
            Proxy("127.0.0.1", cluster.port) as proxy,
            Fleet.running(tmp_path, url_at(proxy.port), workers=2) as fleet,
        ):

            async def cut() -> None:
                proxy.cut()
                await asyncio.sleep(AWAY_S)
                proxy.mend()

            await _undisturbed_by(fleet, cut)


async def test_a_failover_to_a_standby_loses_nothing(tmp_path: Path) -> None:
    with Cluster.running() as first, first.standby() as second:
        async with (
            Proxy("127.0.0.1", first.port) as proxy,
            Fleet.running(tmp_path, url_at(proxy.port), workers=2) as fleet,
        ):

            async def fail_over() -> None:
                proxy.cut()
                await asyncio.to_thread(first.stop)
                await asyncio.to_thread(second.promote)
                proxy.lead_to("127.0.0.1", second.port)
                proxy.mend()

            await _undisturbed_by(fleet, fail_over)


def _clock(folder: Path) -> Path:
    """The library that puts a process's wall clock wrong."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler for a clock that is wrong")
    library, source = folder / "clock.so", Path(__file__).parent / "clock.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@asynccontextmanager
async def _with_clock(folder: Path, database: str, shift_s: int) -> AsyncIterator[Fleet]:
    """Two workers; the wall clock of the second is wrong."""
    library = _clock(folder)
    wrong = {"LD_PRELOAD": str(library), "DURABLE_CLOCK_S": str(shift_s)}
    async with (
        Fleet.running(folder, database) as fleet,
        Worker(folder, "wrong", fleet.provider.address, database, settings=wrong) as worker,
    ):
        fleet.workers.append(worker)
        yield fleet


@pytest.mark.parametrize("shift_s", [3600, -3600])
async def test_a_clock_that_is_wrong_by_an_hour_changes_nothing(tmp_path: Path, database: str, shift_s: int) -> None:
    async with _with_clock(tmp_path, database, shift_s) as fleet:
        await _undisturbed_by(fleet, lambda: asyncio.sleep(AWAY_S))
        right, wrong = (worker.events[-1]["timestamp"] for worker in fleet.workers)
        apart = datetime.fromisoformat(wrong) - datetime.fromisoformat(right)
        assert abs(apart.total_seconds() - shift_s) < 600


async def test_a_disk_that_is_full_for_20_seconds_changes_nothing(tmp_path: Path) -> None:
    with Cluster.running(disk_mb=200) as cluster:
        async with Fleet.running(tmp_path, cluster.url, workers=2) as fleet:

            async def fill() -> None:
                filler = cluster.data.parent / "filler"
                with filler.open("wb", buffering=0) as file:
                    try:
                        while True:
                            file.write(bytes(65536))
                    except OSError:
                        pass
                await asyncio.sleep(AWAY_S)
                felt = [(await call(worker.address, "GET", "/readyz"))[0] for worker in fleet.workers]
                filler.unlink()
                assert 503 in felt, "the disk was not full enough to be felt"

            await _undisturbed_by(fleet, fill)
