"""The life of the process: drained by a signal, stopped by two, refused where another has what it needs."""

import os
import signal
import time
from asyncio import timeout
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from benchmarks.paced import question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ProcessEndedError, ServerProcess
from benchmarks.service_client import ServiceClient, Stream, call
from tests.faults.service import QUICK, checked_run, service

GUARD_S = 60
DRAIN_S = 3.0
pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(folder: Path, provider: PacedProvider) -> AsyncIterator[ServerProcess]:
    """One for all: who ends it starts it again, but for the last one."""
    async with service(folder, provider, settings={"ORACLE_DRAIN_S": str(DRAIN_S)}) as running:
        yield running


async def until_draining(server: ServerProcess) -> None:
    """The signal has been heard."""
    while (await call(server.address, "GET", "/readyz"))[0] != 503:
        pass


async def test_a_second_signal_ends_it_at_once_and_the_next_start_goes_on_with_its_runs(server: ServerProcess) -> None:
    async with timeout(GUARD_S):
        stream = await Stream(server.address).ask(question("hang"))
        await stream.until("content")
        server.send(signal.SIGTERM)
        await until_draining(server)
        async with timeout(DRAIN_S):
            assert await server.stop() == 128 + signal.SIGTERM
        await server.start()
        told = await checked_run(server.address, stream.run_id, seen=stream, pace=QUICK)
        assert told.chunks[-1]["termination_reason"] == "completed"
        assert [chunk["system_type"] for chunk in told.chunks if chunk["type"] == "system"] == ["recovered"]


async def test_a_second_server_on_the_same_file_is_refused_with_advice(
    folder: Path, provider: PacedProvider, server: ServerProcess
) -> None:
    async with timeout(GUARD_S):
        with pytest.raises(ProcessEndedError) as refused:
            await service(folder, provider).start()
        assert refused.value.code == 1
        for words in ("oracle.db", "--data-dir", "ORACLE_DATABASE_URL"):
            assert words in refused.value.said
        stream = await (await Stream(server.address).ask(question("a1"))).read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed"


async def test_an_unread_log_pipe_delays_nothing(folder: Path, provider: PacedProvider) -> None:
    folder = folder / "unread"
    folder.mkdir()
    os.mkfifo(folder / "data.log")
    unread = os.open(folder / "data.log", os.O_RDONLY | os.O_NONBLOCK)
    try:
        async with service(folder, provider) as running, timeout(GUARD_S):
            client = await ServiceClient.connect(running.address)
            for _ in range(500):  # more than a pipe holds
                client.send("GET", "/nothing-is-here")
                assert await client.headers_came() == 404
                await client.ended()
            client.close()
            stream = await (await Stream(running.address).ask(question("a1"))).read_all()
            assert stream.chunks[-1]["termination_reason"] == "completed"
            assert await running.stop() == 0
    finally:
        os.close(unread)


async def test_ctrl_c_drains_as_well(server: ServerProcess) -> None:
    async with timeout(GUARD_S):
        stream = await Stream(server.address).ask(question("a1"))
        idle = await ServiceClient.connect(server.address)  # a connection that asks for nothing holds nobody up
        await stream.until("content")
        began_s = time.monotonic()
        assert await server.stop(signal.SIGINT) == 0
        assert time.monotonic() - began_s < DRAIN_S + 5
        idle.close()
        await stream.read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed"
