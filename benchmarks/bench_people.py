"""Runs that wait for people: what 100 000 of them cost, and how long answers take.

A run that is parked is a row of `run` and one of `interrupt`. The floor is the same service with none. Aims: at most
20 MB and 1 % of a core more, a start at most 1 s longer, and of 1 000 that are answered at once 99 % go on within 1 s
plus the time that repeating them takes.
"""

import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import text

from oracle.core.logs import configure_logging
from oracle.runs.storage.interrupts import Answerer, Delivery
from oracle.runs.storage.store import Store, open_store
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import running_service
from tests.support.stores import NoServerError, make_tables, postgresql, server, sqlite_url

PARKED, ANSWERED, IDLE_S = 100_000, 1_000, 10.0
_AT_ONCE = 50

_COPIES = """
    WITH RECURSIVE numbers(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < CAST(:count AS integer))
    INSERT INTO {table} ({columns}) SELECT {values} FROM {table}, numbers WHERE {table}.{key} = :run_id
"""


async def multiply(store: Store, run_id: str, count: int) -> None:
    """Copy a parked run and what it asks, under other names."""
    for table, key in (("run", "id"), ("interrupt", "run_id")):
        columns = [column.name for column in _table(table).columns]
        own = {key: "'copy-' || i", "context_id": "'context-' || i"} | ({"n": "-i"} if table == "run" else {})
        values = ", ".join(own.get(name, name) for name in columns)
        statement = text(_COPIES.format(table=table, columns=", ".join(columns), values=values, key=key))
        await store.write(
            lambda connection, s=statement: connection.execute(s, {"count": count, "run_id": run_id}).close()
        )


def _table(name: str):
    from oracle.runs.storage.schema import metadata

    return metadata.tables[name]


async def park_one(folder: Path, url: str) -> str:
    """One run that asks a person; returns its id."""
    async with running_service(folder, url=url) as service, service.asking(tree="question") as streamed:
        await streamed.until_type("question")
        while (await service.parts.store.runs.find(streamed.run_id)).status != "parked":
            await asyncio.sleep(0.01)
        return streamed.run_id


async def idle(folder: Path, url: str) -> tuple[float, float, float]:
    """Seconds of a start, megabytes, and the share of a core of a service that does nothing."""
    began_s = time.monotonic()
    async with running_service(folder, url=url):
        start_s = time.monotonic() - began_s
        await asyncio.sleep(2.0)
        cpu_s = time.process_time()
        await asyncio.sleep(IDLE_S)
        share = (time.process_time() - cpu_s) / IDLE_S
        statm = await asyncio.to_thread(Path("/proc/self/statm").read_text)  # the greatest size is inherited over exec
        pages = int(statm.split()[1])
        return start_s, pages * resource.getpagesize() / 1e6, share


async def answered(folder: Path, url: str) -> list[float]:
    """Seconds from each of many answers to the end of its run; all are given at once."""
    times: list[float] = []
    async with running_service(folder, url=url, worker="other") as service:
        store = service.parts.store
        waiting = await store.interrupts.pending(user_id=None, limit=ANSWERED)
        places = asyncio.Semaphore(_AT_ONCE)

        async def answer(run_id: str, name: str) -> None:
            async with places:
                await store.interrupts.answer(run_id, [Delivery(name, "answer", answer="main")], by=Answerer("local"))
                began_s = time.monotonic()
            async for _ in store.log.follow(run_id):
                pass
            times.append(time.monotonic() - began_s)

        await asyncio.gather(*(answer(each.run_id, each.id) for each in waiting))
    return times


async def run(kind: str, url: str) -> None:
    """Measure one kind of database."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_trees(folder)
        floor = await asyncio.to_thread(child, "idle", folder, url)
        run_id = await park_one(folder, url)
        async with open_store(url, worker="copier") as store:
            before = await size(store)
            await multiply(store, run_id, PARKED)
            bytes_each = (await size(store) - before) / PARKED
        full = await asyncio.to_thread(child, "idle", folder, url)
    print(f"{kind}: {PARKED:,} parked runs, {bytes_each:,.0f} bytes each with its question and indexes")
    for what, index, unit in (("start", 0, "s"), ("memory", 1, "MB"), ("of a core, idle", 2, "")):
        print(f"  {what:16} {floor[index]:8.3f} {unit:2} without, {full[index]:8.3f} {unit:2} with")


async def size(store: Store) -> float:
    """Bytes of the two tables and their indexes; of the file on SQLite."""
    if store.database.file is not None:
        await store.write(lambda connection: None)
        return sum(each.stat().st_size for each in store.database.file.parent.glob(store.database.file.name + "*"))
    query = text("SELECT pg_total_relation_size('run') + pg_total_relation_size('interrupt')")
    return float(await store.database.read(lambda connection: connection.execute(query).scalar_one()))


def child(what: str, folder: Path, url: str) -> Sequence[float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_people", what, str(folder), url]
    return [float(each) for each in subprocess.check_output(command, text=True).split()]


async def many(kind: str, url: str) -> None:
    """Answer many at once; each has a log of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_trees(folder)
        async with running_service(folder, url=url) as service:
            for _ in range(ANSWERED // _AT_ONCE):
                asked = [
                    service.client.post("/api/oracle/runs", json={"question": "q", "tree": "question"})
                    for _ in range(_AT_ONCE)
                ]
                await asyncio.gather(*asked)
            while service.parts.runs.active:
                await asyncio.sleep(0.05)
        times = sorted(await answered(folder, url))
    p50, p99 = statistics.median(times), times[int(len(times) * 0.99)]
    print(f"{kind}: {len(times):,} answered at once: ended after p50 {p50:.2f} s, p99 {p99:.2f} s")


async def show() -> None:
    with tempfile.TemporaryDirectory() as name:
        await run("SQLite", sqlite_url(Path(name) / "a.db"))
        await many("SQLite", sqlite_url(Path(name) / "b.db"))
    try:
        with server() as address:
            for measure in (run, many):
                with postgresql(address) as url:
                    make_tables(url)
                    await measure("PostgreSQL", url)
    except NoServerError as error:
        print(f"PostgreSQL was not measured: {error}")


def main() -> None:
    configure_logging("critical")
    if len(sys.argv) > 1:
        print(*asyncio.run(idle(Path(sys.argv[2]), sys.argv[3])))
        return
    asyncio.run(show())


if __name__ == "__main__":
    main()
