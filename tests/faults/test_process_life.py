"""The life of the process: drained by a signal, stopped by two, refused where another has what it needs."""

import signal
from asyncio import timeout
from pathlib import Path

import pytest

from benchmarks.paced import question
from benchmarks.paced_provider import PacedProvider
from benchmarks.processes import ProcessEndedError, ServerProcess
from benchmarks.service_client import ServiceClient, Stream, call
from tests.faults.service import QUICK, checked_run, service

GUARD_S = 30


async def until_draining(server: ServerProcess) -> None:
    """The signal has been heard."""
    while (await call(server.address, "GET", "/readyz"))[0] != 503:
        pass


async def test_a_drain_lets_runs_end_and_refuses_new_ones_with_a_time_to_come_back(
    tmp_path: Path, provider: PacedProvider
) -> None:
    async with timeout(GUARD_S), service(tmp_path, provider) as server:
        stream = await Stream(server.address).ask(question("a1"))
        await stream.until("content")
        server.send(signal.SIGTERM)
        await until_draining(server)
        status, headers, refused = await call(server.address, "POST", "/api/oracle", body={"question": question("b1")})
        assert status == 503, refused
        assert int(headers["retry-after"]) > 0
        await stream.read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed"
        assert await server.exited() == 0
        await server.start()
        await checked_run(server.address, stream.run_id, seen=stream, pace=QUICK)


async def test_a_run_that_outlasts_the_drain_is_told_so_numbered_and_saved(
    tmp_path: Path, provider: PacedProvider
) -> None:
    settings = {"ORACLE_DRAIN_S": "0.2"}
    async with timeout(GUARD_S), service(tmp_path, provider, settings=settings) as server:
        stream = await Stream(server.address).ask(question("hang"))
        idle = await ServiceClient.connect(server.address)  # a connection that asks for nothing holds nobody up
        await stream.until("content")
        async with timeout(5):
            assert await server.stop() == 0
        await stream.read_all()
        assert [chunk["error_type"] for chunk in stream.chunks if chunk["type"] == "error"] == ["service_stopping"]
        assert stream.chunks[-1]["termination_reason"] == "error"
        idle.close()
        await server.start()
        told = await checked_run(server.address, stream.run_id, seen=stream)
        assert told.chunks == stream.chunks


async def test_a_second_signal_ends_it_at_once_and_the_next_start_ends_its_runs(
    tmp_path: Path, provider: PacedProvider
) -> None:
    async with timeout(GUARD_S), service(tmp_path, provider) as server:
        stream = await Stream(server.address).ask(question("hang"))
        await stream.until("content")
        server.send(signal.SIGTERM)
        await until_draining(server)
        async with timeout(2):
            assert await server.stop() == 128 + signal.SIGTERM
        await server.start()
        told = await checked_run(server.address, stream.run_id, seen=stream)
        assert [chunk["error_type"] for chunk in told.chunks if chunk["type"] == "error"] == ["interrupted"]


async def test_ctrl_c_drains_as_well(tmp_path: Path, provider: PacedProvider) -> None:
    async with timeout(GUARD_S), service(tmp_path, provider) as server:
        stream = await Stream(server.address).ask(question("a1"))
        await stream.until("content")
        assert await server.stop(signal.SIGINT) == 0
        await stream.read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed"


async def test_a_second_server_on_the_same_file_is_refused_and_told_what_to_do(
    tmp_path: Path, provider: PacedProvider
) -> None:
    async with timeout(GUARD_S), service(tmp_path, provider) as server:
        with pytest.raises(ProcessEndedError) as refused:
            await service(tmp_path, provider).start()
        assert refused.value.code == 1
        for words in ("oracle.db", "--data-dir", "ORACLE_DATABASE_URL"):
            assert words in refused.value.said
        stream = await (await Stream(server.address).ask(question("a1"))).read_all()
        assert stream.chunks[-1]["termination_reason"] == "completed"


async def test_a_server_whose_port_is_taken_says_so(tmp_path: Path, provider: PacedProvider) -> None:
    async with timeout(GUARD_S), service(tmp_path, provider) as server:
        port = int(server.address.rpartition(":")[2])
        with pytest.raises(ProcessEndedError) as refused:
            await service(tmp_path, provider, port=port, data="other").start()
        assert refused.value.code == 1
        assert f":{port}" in refused.value.said
        assert "--port" in refused.value.said
