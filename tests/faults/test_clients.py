"""Clients that do not read, that come and go, that vanish: the others do not notice, and the run is not lost."""

import asyncio
import json
import random
import socket
from asyncio import timeout
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from benchmarks.paced import Pace, question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ServerProcess
from benchmarks.service_client import Stream
from tests.faults.proxy import Proxy
from tests.faults.service import QUICK, checked_run, runs_of, service

GUARD_S = 60
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(folder: Path, provider: PacedProvider) -> AsyncIterator[ServerProcess]:
    """One for all: what a test breaks it mends."""
    async with service(folder, provider) as running:
        yield running


def never_reads(address: str, tag: str) -> socket.socket:
    """A client with the smallest window there is, which asks and never reads."""
    url = urlsplit(address)
    quiet = socket.socket()
    quiet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    quiet.connect((url.hostname, url.port))
    body = json.dumps({"question": question(tag)}).encode()
    quiet.sendall(
        b"POST /api/oracle/stream HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%b" % (len(body), body)
    )
    return quiet


async def test_clients_that_never_read_delay_no_other_and_cost_no_memory(
    server: ServerProcess, provider: PacedProvider
) -> None:
    async with timeout(GUARD_S):
        await (await Stream(server.address).ask(question("warm"))).read_all()
        before = server.rss_bytes
        quiet = [never_reads(server.address, f"z{n}") for n in range(20)]
        reading = await (await Stream(server.address).ask(question("r1"))).read_all()
        assert reading.chunks[-1]["termination_reason"] == "completed"
        await provider.wait_for(lambda it: sum(it.asked[f"z{n}", 2] for n in range(20)) == 20)
        for run in await runs_of(server.address):
            await checked_run(server.address, run["run_id"], pace=QUICK)
        assert server.rss_bytes - before < 40_000_000
        for each in quiet:
            each.close()


async def test_a_client_that_comes_and_goes_gets_every_chunk_once(server: ServerProcess) -> None:
    chance = random.Random(12)

    async def come_and_go(tag: str) -> None:
        stream = await Stream(server.address).ask(question(tag))
        ids, chunks = stream.ids, stream.chunks
        while not chunks or chunks[-1]["type"] != "done":
            for _ in range(chance.randrange(1, 15)):
                if await stream.next() is None:
                    break
            stream.close()  # in the middle, possibly with chunks in flight
            await stream.read_all()
            if stream.chunks is not chunks:
                ids += stream.ids
                chunks += stream.chunks
            stream = await Stream(server.address).resume(run_id := stream.run_id, after=ids[-1] if ids else 0)
            if stream.status == 204:
                break
        assert ids == list(range(1, len(ids) + 1))
        whole = await checked_run(server.address, run_id, pace=QUICK)
        assert chunks == whole.chunks

    async with timeout(GUARD_S), asyncio.TaskGroup() as group:
        for n in range(12):
            group.create_task(come_and_go(f"g{n}"))


async def test_a_dead_connection_neither_ends_the_run_nor_keeps_its_owner_from_it(
    server: ServerProcess,
) -> None:
    url = urlsplit(server.address)
    async with timeout(GUARD_S), Proxy(url.hostname or "", url.port or 0) as proxy:
        far = await Stream(f"http://127.0.0.1:{proxy.port}").ask(question("f1"))
        await far.until("content", count=2)
        proxy.stall()  # nothing gets through, and neither side learns that the connection is dead
        seen = len(far.chunks)
        near = await (await Stream(server.address).resume(far.run_id, after=seen)).read_all()
        assert near.ids == list(range(seen + 1, seen + 1 + len(near.ids)))
        assert near.chunks[-1]["termination_reason"] == "completed"


@pytest.mark.soak
async def test_a_hundred_clients_that_never_read_long_answers_cost_little(tmp_path: Path) -> None:
    pace = Pace(turns=4, pieces=1000, turn_s=5.0)
    async with timeout(300), PacedProvider(pace) as provider, service(tmp_path, provider) as server:
        await (await Stream(server.address).ask(question("warm"))).read_all()
        before = server.rss_bytes
        quiet = [never_reads(server.address, f"z{n}") for n in range(30)]
        await provider.wait_for(lambda it: sum(it.asked[f"z{n}", 4] for n in range(30)) == 30)
        for run in await runs_of(server.address):
            await checked_run(server.address, run["run_id"], pace=pace)
        grown = server.rss_bytes - before
        for each in quiet:
            each.close()
        assert grown < 150_000_000, f"{grown / 1e6:.0f} MB for 30 runs of 4000 chunks that nobody reads"
