"""`oracle serve --workers`: several processes that are one service."""

import asyncio
import json
import os
import signal
from contextlib import asynccontextmanager

import httpx2
import psycopg
import pytest

from tests.oracle.cli.test_serve import HANGS, listening
from tests.support.provider import StandInProvider

GUARD_S = 60


class Running:
    """A service of two workers.

    Args:
        process: the parent.
        url: where it listens.
    """

    def __init__(self, process, url):
        self.process = process
        self.url = url

    async def event(self, name):
        """The next log line of an event."""
        async with asyncio.timeout(GUARD_S):
            while line := await self.process.stderr.readline():
                if (told := json.loads(line))["event"] == name:
                    return told
        raise AssertionError(f"the log ended without {name!r}")

    async def pid(self):
        """The process of the next worker that has started."""
        return int((await self.event("service.started"))["worker"].rsplit("-", 2)[1])

    @asynccontextmanager
    async def client(self, *, other):
        """A client whose one connection was accepted by a worker that is not the `other` one."""
        os.kill(other, signal.SIGSTOP)
        limits = httpx2.Limits(max_connections=1)
        async with httpx2.AsyncClient(base_url=self.url, timeout=GUARD_S, limits=limits) as client:
            assert (await client.get("/healthz")).status_code == 200
            os.kill(other, signal.SIGCONT)
            yield client


@pytest.fixture
async def run(start, postgresql_url, monkeypatch, tmp_path):
    """Starts two workers, and waits for both: the service and their processes."""
    monkeypatch.setenv("ORACLE_DATABASE_URL", postgresql_url)

    async def begin(*options):
        process = await start("serve", "--port", "0", "--workers", 2, "--data-dir", tmp_path / "data", *options)
        running = Running(process, await listening(process))
        return running, await running.pid(), await running.pid()

    return begin


async def content(lines):
    """The next text of a stream."""
    seen = []
    async for line in lines:
        seen.append(line)
        if '"content"' in line:
            return json.loads(line.removeprefix("data: "))["content"]
    raise AssertionError(f"the stream ended: {seen}")


@pytest.mark.long("starts a service of several workers")
async def test_a_run_is_streamed_and_cancelled_by_the_worker_that_does_not_have_it(run, provided):
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        running, one, two = await run()
        async with (
            running.client(other=two) as asking,
            asking.stream("POST", "/api/oracle/stream", json={"question": "Hello"}) as asked,
        ):
            lines = asked.aiter_lines()
            assert await content(lines) == "So far so good."
            path = f"/api/oracle/runs/{asked.headers['x-run-id']}"
            async with (
                running.client(other=one) as reading,
                running.client(other=one) as cancelling,
                reading.stream("GET", f"{path}/stream") as read,
            ):
                others = read.aiter_lines()
                assert await content(others) == "So far so good."
                assert (await cancelling.post(f"{path}/cancel")).status_code == 202
                rest = [line async for line in lines]
                assert rest == [line async for line in others]
        assert '"termination_reason":"user_cancelled"' in "".join(rest)
        running.process.send_signal(signal.SIGTERM)
        await running.process.communicate()
        assert running.process.returncode == 0


@pytest.mark.long("starts several processes")
async def test_all_workers_drain_and_the_bounds_of_a_user_are_those_of_all_together(
    run, provided, postgresql_url, monkeypatch
):
    monkeypatch.setenv("ORACLE_RUNS_PER_USER", "1")
    monkeypatch.setenv("ORACLE_REQUESTS_PER_MINUTE", "3")
    monkeypatch.setenv("ORACLE_DRAIN_S", "0")
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        running, one, two = await run()
        async with (
            running.client(other=two) as asking,
            running.client(other=one) as other,
            asking.stream("POST", "/api/oracle/stream", json={"question": "Hello"}) as asked,
        ):
            lines = asked.aiter_lines()
            assert await content(lines) == "So far so good."
            assert (await other.post("/api/oracle", json={"question": "Hello again"})).status_code == 429
            told = [await other.post("/api/oracle", json={}) for _ in range(2)]
            assert [each.status_code for each in told] == [422, 429]  # the third that is no read, and the fourth
            running.process.send_signal(signal.SIGINT)
            assert '"done"' not in "".join([line async for line in lines])  # it goes on where a worker starts next
        _, err = await running.process.communicate()
        assert running.process.returncode == 0
        assert [json.loads(line)["event"] for line in err.splitlines()].count("service.stopped") == 2
    async with await psycopg.AsyncConnection.connect(postgresql_url) as connection:
        left = await (await connection.execute("SELECT status, worker FROM run")).fetchall()
    assert left == [("queued", "")]


@pytest.mark.long("starts several processes")
async def test_what_a_terminal_sends_to_all_processes_counts_once_and_a_second_signal_ends_all_at_once(
    run, provided, monkeypatch
):
    monkeypatch.setenv("ORACLE_DRAIN_S", "3600")
    async with StandInProvider([HANGS]) as provider:
        provided(provider)
        running, *workers = await run()
        async with (
            running.client(other=workers[1]) as client,
            client.stream("POST", "/api/oracle/stream", json={"question": "Hello"}) as asked,
        ):
            assert await content(asked.aiter_lines()) == "So far so good."
            for pid in (running.process.pid, *workers, *workers):
                os.kill(pid, signal.SIGTERM)
            for _ in workers:
                await running.event("service.stopping")
            assert (await client_of(running.url)).status_code == 503
            running.process.send_signal(signal.SIGTERM)
            await running.process.communicate()
        assert running.process.returncode == 128 + signal.SIGTERM


async def client_of(url):
    """What a new client hears from a service that drains."""
    async with httpx2.AsyncClient(base_url=url, timeout=GUARD_S) as client:
        return await client.get("/readyz")


@pytest.mark.long("starts several processes")
async def test_a_worker_that_dies_is_replaced_and_the_others_answer(run):
    running, one, two = await run()
    os.kill(one, signal.SIGKILL)
    died = await running.event("worker.died")
    assert (died["number"], died["pid"], died["exit_code"]) == (1, one, -signal.SIGKILL)
    three = await running.pid()
    assert three not in (one, two)
    async with running.client(other=two) as client:
        answered = await client.post("/api/oracle", json={"question": "Hello"})
        assert answered.json()["termination_reason"] == "completed"
        figures = (await client.get("/metrics")).text.splitlines()
    for number in (1, 2):
        assert f'oracle_store_writable{{worker="{number}"}} 1.0' in figures
    assert 'oracle_runs_ended_total{worker="1",reason="completed",tree="oracle"} 1.0' in figures
    running.process.send_signal(signal.SIGTERM)
    out, _ = await running.process.communicate()
    assert (running.process.returncode, out.count(b"listening")) == (0, 0)


@pytest.mark.long("starts several processes")
async def test_workers_end_with_their_parent_even_one_that_hangs_and_the_next_one_has_their_port(run):
    running, one, _ = await run()
    os.kill(one, signal.SIGSTOP)
    running.process.kill()
    async with asyncio.timeout(GUARD_S):
        await running.process.communicate()  # to the end of the last of them
    again, *_ = await run("--port", running.url.rpartition(":")[2])
    assert again.url == running.url


@pytest.mark.long("starts several processes, and waits five seconds for one that hangs")
async def test_a_worker_that_hangs_is_killed_after_the_drain(run, monkeypatch):
    monkeypatch.setenv("ORACLE_DRAIN_S", "0")
    running, one, _ = await run()
    os.kill(one, signal.SIGSTOP)
    running.process.send_signal(signal.SIGTERM)
    killed = await running.event("worker.killed")
    assert (killed["number"], killed["pid"]) == (1, one)
    async with asyncio.timeout(GUARD_S):
        await running.process.communicate()
    assert running.process.returncode == 0


@pytest.mark.long("starts a service of several workers")
async def test_what_keeps_the_first_worker_from_starting_is_said_once(start, postgresql_url, monkeypatch, tmp_path):
    monkeypatch.setenv("ORACLE_DATABASE_URL", postgresql_url)
    process = await start("serve", "--port", "0", "--workers", 3, "--project", tmp_path / "none")
    out, err = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert err.count(b"Error: ") == 1
    assert b"set --project or ORACLE_PROJECT_DIR" in err
    assert b"Traceback" not in err


@pytest.mark.parametrize("workers", ["0", "-1", "x", "1.5", "65", ""])
def test_a_number_of_workers_that_is_none_is_refused_as_every_wrong_option(oracle, workers):
    ran = oracle("serve", "--port", "0", f"--workers={workers}")
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value for '--workers'" in ran.err


def test_several_workers_on_sqlite_are_refused_with_what_would_be_right(oracle, tmp_path):
    ran = oracle("serve", "--port", "0", "--workers", 2)
    assert (ran.code, ran.out) == (2, "")
    assert (
        "an SQLite file can be used by only one process; leave it out, or set ORACLE_DATABASE_URL=postgresql://"
        in ran.err
    )
    assert not (tmp_path / ".oracle").exists()
