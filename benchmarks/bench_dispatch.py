"""Dispatch: a run's row as the queue, beside procrastinate, a kept job queue on the same PostgreSQL.

Both are asked the same: how long from queued to begun while runs come one by one, how many are begun in a second, what
one costs this process, how long until the work of a worker that was killed is begun again, and what 100 000 parked ones
cost those that wait. Procrastinate is measured where it is installed, which it is in no environment of ours:

    uv run --with 'procrastinate==3.10.*' python -m benchmarks.bench_dispatch
"""

import asyncio
import importlib.util
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import text

from benchmarks.parts import quiet
from bt_runtime import SystemClock
from oracle.runs.options import RunOptions
from oracle.runs.storage.records import NewRun, Places
from oracle.runs.storage.store import Store, open_store
from oracle.runs.upkeep import SilentWorkers
from tests.support.stores import NoServerError, make_tables, postgresql, server

PACED, BURST, PARKED = 300, 2_000, 100_000
_PACE_S = 0.01
_MANY = 50  # begun together
_AT_ONCE = 8
_KILLS = 5


class Dispatch(Protocol):
    """One of the two; `begun` has the times at which works were begun here, by their names."""

    begun: dict[str, float]

    async def put(self, name: str) -> None:
        """Queue a work; durable when it returns."""
        ...

    async def park(self, count: int) -> None:
        """Have so many that are not due."""
        ...

    def working(self) -> Any:
        """Begin what is queued, while this is entered."""
        ...

    async def again(self) -> float:
        """Seconds from the death of another worker until its work is begun here."""
        ...


def _new(name: str) -> NewRun:
    return NewRun(name, "ann", f"c-{name}", "oracle", {"question": "Why?"}, {}, 120.0)


@dataclass
class Row:
    """The row of the run."""

    url: str
    store: Store
    begun: dict[str, float] = field(default_factory=dict)

    async def put(self, name: str) -> None:
        await self.store.runs.begin(_new(name), places=Places(here=0))

    async def park(self, count: int) -> None:
        rows = text(
            "INSERT INTO run (id, user_id, context_id, worker, epoch, tree, input, limits, status, created_at,"
            " deadline_at, n) SELECT 'p' || i, 'u' || i % 1000, 'cp' || i, '', 1, 'oracle', '{}', '{}', 'parked', 0, 0,"
            " i FROM generate_series(1, :count) AS i"
        )
        await self.store.write(lambda connection: connection.execute(rows, {"count": count}).close())

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        wanted = asyncio.Event()
        self.store.claims.subscribe(wanted.set)

        async def work() -> None:
            while True:
                wanted.clear()
                while claimed := await self.store.claims.claim(_AT_ONCE):
                    self.begun.update((run.id, time.perf_counter()) for run in claimed)
                await wanted.wait()

        task = asyncio.create_task(work())
        yield
        task.cancel()

    async def again(self) -> float:
        silence = SilentWorkers(silent_s=60, heartbeat_s=60, clock=SystemClock())
        dying = _child("row", self.url)
        since = time.perf_counter()
        while True:
            seen = await self.store.claims.sightings()
            dead = silence.note(seen.workers, by_locks=self.store.claims.presence.can_judge)
            if dead and await self.store.claims.take_over(dead, most=_AT_ONCE):
                return time.perf_counter() - since
            await asyncio.sleep(RunOptions().look_s)
            if dying.poll() is None:
                dying.send_signal(signal.SIGKILL)
                dying.wait()
                since = time.perf_counter()


class Procrastinate:
    """The job queue, with the shortest heartbeats that the row has too."""

    def __init__(self, url: str) -> None:
        from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found]

        self.url = url
        self.begun: dict[str, float] = {}
        self.app = App(connector=PsycopgConnector(conninfo=url))

        @self.app.task(name="go")  # type: ignore[untyped-decorator]
        async def go(name: str) -> None:
            self.begun[name] = time.perf_counter()
            if name.startswith("held") and len(sys.argv) > 1:
                print("ready", flush=True)
                await asyncio.sleep(3_600)

        self.go = go

    async def put(self, name: str) -> None:
        await self.go.defer_async(name=name)

    async def park(self, count: int) -> None:
        later = self.go.configure(schedule_at=datetime.now(UTC) + timedelta(days=30))
        for start in range(0, count, 10_000):
            await later.batch_defer_async(*({"name": f"p{number}"} for number in range(start, start + 10_000)))

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.work())
        yield
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    def work(self) -> Awaitable[None]:
        return self.app.run_worker_async(
            concurrency=_AT_ONCE,
            update_heartbeat_interval=1.0,
            stalled_worker_timeout=60.0,
            install_signal_handlers=False,
            delete_jobs="never",
        )

    async def again(self) -> float:
        await self.put(name := f"held{time.time_ns()}")
        dying = _child("procrastinate", self.url)
        assert dying.stdout is not None
        dying.stdout.readline()
        dying.send_signal(signal.SIGKILL)
        dying.wait()
        since = time.perf_counter()
        async with self.working():
            while name not in self.begun:
                for job in await self.app.job_manager.get_stalled_jobs(seconds_since_heartbeat=5):
                    await self.app.job_manager.retry_job(job)
                await asyncio.sleep(0.5)
        return self.begun[name] - since


def _child(which: str, url: str) -> "subprocess.Popen[str]":
    child = subprocess.Popen([sys.executable, "-m", __spec__.name, which, url], stdout=subprocess.PIPE, text=True)
    if which == "row":
        assert child.stdout is not None
        child.stdout.readline()
    return child


async def be_killed(which: str, url: str) -> None:
    """The other worker: has a work, and is killed."""
    if which == "procrastinate":
        queue = Procrastinate(url)
        async with queue.app.open_async():
            await queue.work()
    async with open_store(url, worker=f"dies-{os.getpid()}") as store:
        await store.runs.begin(_new(f"held-{os.getpid()}"))
        while not store.claims.presence.has_lock:
            await asyncio.sleep(0.01)
        while True:
            await store.claims.beat()
            print("ready", flush=True)
            await asyncio.sleep(RunOptions().heartbeat_s)


async def until_begun(queue: Dispatch, count: int) -> None:
    """Wait until so many works have begun."""
    while len(queue.begun) < count:
        await asyncio.sleep(0.001)


async def paced(queue: Dispatch, prefix: str) -> list[float]:
    """Milliseconds from queued to begun, sorted."""
    put: dict[str, float] = {}
    queue.begun.clear()
    async with queue.working():
        await asyncio.sleep(0.3)
        for number in range(PACED):
            await queue.put(name := f"{prefix}{number}")
            put[name] = time.perf_counter()
            await asyncio.sleep(_PACE_S)
        await until_begun(queue, PACED)
    return sorted(1000 * max(0.0, queue.begun[name] - at) for name, at in put.items())


async def measure(name: str, queue: Dispatch) -> None:
    """Print the figures of one of the two."""
    waits = await paced(queue, "a")
    print(f"{name}: queued to begun p50 {statistics.median(waits):.1f} ms, p99 {waits[int(PACED * 0.99)]:.1f} ms")
    for start in range(0, BURST, _MANY):
        await asyncio.gather(*(queue.put(f"b{number}") for number in range(start, start + _MANY)))
    queue.begun.clear()
    began, used = time.perf_counter(), time.process_time()
    async with queue.working():
        await until_begun(queue, BURST)
    seconds = time.perf_counter() - began
    cpu_ms = 1000 * (time.process_time() - used) / BURST
    print(f"{name}: {BURST / seconds:,.0f} begun a second, {cpu_ms:.2f} ms of this process's CPU each")
    await queue.park(PARKED)
    waits = await paced(queue, "c")
    print(
        f"{name}: with {PARKED:,} parked p50 {statistics.median(waits):.1f} ms, p99 {waits[int(PACED * 0.99)]:.1f} ms"
    )
    again = [await queue.again() for _ in range(_KILLS)]
    print(f"{name}: begun again after kill -9: {min(again):.1f} to {max(again):.1f} s")


async def measure_both() -> None:
    """Each on a database of its own."""
    with server() as server_url, postgresql(server_url) as url:
        make_tables(url)
        async with open_store(url, worker="row") as store:
            await measure("row          ", Row(url, store))
    if importlib.util.find_spec("procrastinate") is None:
        print("procrastinate is not installed: see the head of this file")
        return
    with server() as server_url, postgresql(server_url) as url:
        queue = Procrastinate(url)
        async with queue.app.open_async():
            await queue.app.schema_manager.apply_schema_async()
            await measure("procrastinate", queue)


def main() -> None:
    """Measure and print."""
    quiet()
    try:
        asyncio.run(measure_both())
    except NoServerError as error:
        print(f"not measured: {error}")


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    else:
        asyncio.run(be_killed(*sys.argv[1:3]))
