"""The parent of workers, with work that needs no service; `tests/oracle/cli/test_serve_workers.py` has the service."""

import asyncio
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from oracle.core.logs import configure_logging
from oracle.core.retry import Retry
from oracle.server.process.workers import Worker, WorkerProcesses

GUARD_S = 30
NEVER_S = 3600.0


def dies(_: Worker) -> int:
    """Ends by itself before it listens."""
    return 5


def is_killed(_: Worker) -> int:
    """Is killed before it listens."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def serves(worker: Worker) -> int:
    """Listens, and beats until it is to stop."""
    worker.beat()
    stopped = threading.Event()

    def beat() -> None:
        while not stopped.wait(0.01):
            worker.beat()

    threading.Thread(target=beat).start()
    os.read(worker.stopping, 1)
    stopped.set()
    return 0


def crashes(worker: Worker) -> int:
    """Listens, and dies."""
    worker.beat()
    return 7


def stops(worker: Worker) -> int:
    """Listens, and is stopped."""
    worker.beat()
    os.kill(os.getpid(), signal.SIGSTOP)
    return 0


def hangs(worker: Worker) -> int:
    """Listens, and heeds nothing."""
    worker.beat()
    while True:
        signal.pause()


KINDS: dict[str, Callable[[Worker], int]] = {
    each.__name__: each for each in (dies, is_killed, serves, crashes, stops, hangs)
}


def run_workers(
    folder: Path, count: int, lives: dict[str, list[str]], *, wait_s: float = 0.001, stop_s: float = NEVER_S, **options
) -> int:
    """A parent of workers whose lives are named by number, in order; the last one is repeated."""
    configure_logging("info")

    def work(worker: Worker) -> int:
        kinds = lives[str(worker.number)]
        life = len([*folder.glob(f"{worker.number}-*")])
        kind = kinds[min(life, len(kinds) - 1)]
        (folder / f"{worker.number}-{life}").write_text(kind)
        print(json.dumps({"event": "begun", "number": worker.number, "life": life, "pid": os.getpid()}), flush=True)  # noqa: T201
        return KINDS[kind](worker)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(json.dumps({"event": "bound", "port": listener.getsockname()[1]}), flush=True)  # noqa: T201
        retry = Retry(wait_s, wait_s)
        return WorkerProcesses(count, listener=listener, work=work, retry=retry, stop_s=stop_s, **options).run()


class Parent:
    """A process that `run_workers`, because that forks.

    Args:
        process: of the parent; its output ends with the last of its workers.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.events: list[dict] = []

    async def until(self, event: str, **fields: object) -> dict:
        """The next line of an event with these fields."""
        assert self.process.stdout is not None
        async with asyncio.timeout(GUARD_S):
            while line := await self.process.stdout.readline():
                self.events.append(json.loads(line))
                if self.events[-1].items() >= {"event": event, **fields}.items():
                    return self.events[-1]
        raise AssertionError(f"{event} {fields} is not among {self.events}")

    async def ended(self) -> int:
        """The exit code, when the parent and all workers have ended."""
        assert self.process.stdout is not None
        async with asyncio.timeout(GUARD_S):
            rest = await self.process.stdout.read()
            self.events += [json.loads(line) for line in rest.splitlines()]
            return await self.process.wait()

    def count(self, event: str) -> int:
        """How many lines there were of an event."""
        return [each["event"] for each in self.events].count(event)


@asynccontextmanager
async def parent(folder: Path, *lives: str, **options: float) -> AsyncIterator[Parent]:
    """A parent of one worker for each of `lives`: its kinds, with spaces between."""
    named = {str(number): each.split() for number, each in enumerate(lives, 1)}
    call = f"raise SystemExit(run_workers(Path({str(folder)!r}), {len(lives)}, {named!r}, **{options!r}))"
    command = f"from tests.oracle.server.process.test_workers import Path, run_workers; {call}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", command),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=Path(__file__).parents[4],
        start_new_session=True,
    )
    try:
        yield Parent(process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@pytest.mark.parametrize("lives", ["dies", "crashes dies", "crashes crashes crashes dies"])
async def test_a_worker_is_replaced_until_none_can_start(tmp_path, lives):
    async with parent(tmp_path, lives, wait_s=NEVER_S) as it:
        assert await it.ended() == 5
    assert it.count("begun") == it.count("worker.died") == len(lives.split())


async def test_a_first_worker_that_is_killed_before_it_listens_ends_the_parent(tmp_path):
    async with parent(tmp_path, "is_killed", "serves") as it:
        assert await it.ended() == 128 + signal.SIGKILL
    assert it.count("begun") == 1


async def test_one_that_is_killed_before_it_listens_does_not_end_the_parent_when_none_is_left(tmp_path):
    async with parent(tmp_path, "crashes is_killed is_killed serves", wait_s=NEVER_S) as it:
        await it.until("begun", life=3)
        it.process.send_signal(signal.SIGTERM)
        assert await it.ended() == 0
    assert [each["exit_code"] for each in it.events if each["event"] == "worker.died"] == [7, -9, -9]


async def test_only_one_that_never_listened_waits_and_those_that_die_meanwhile_are_replaced_by_it_at_once(tmp_path):
    async with parent(tmp_path, "serves", "serves is_killed serves", wait_s=NEVER_S) as it:
        one = await it.until("begun", number=1)
        two = await it.until("begun", number=2)
        os.kill(one["pid"], signal.SIGKILL)
        one = await it.until("begun", number=1, life=1)
        os.kill(two["pid"], signal.SIGKILL)
        await it.until("begun", number=2, life=1)
        await it.until("worker.died", number=2)  # from now on there is a wait, but not without a worker
        os.kill(one["pid"], signal.SIGKILL)
        await it.until("worker.died", number=1)
        assert (await it.until("begun"))["life"] == 2
        it.process.send_signal(signal.SIGTERM)
        assert await it.ended() == 0


@pytest.mark.parametrize("hung", ["stops", "hangs"])
async def test_a_worker_that_hangs_is_replaced(tmp_path, hung):
    async with parent(tmp_path, f"{hung} serves", "serves", silent_s=0.2) as it:
        killed = await it.until("worker.killed")
        assert killed["number"] == 1
        assert killed["silent_s"] >= 0.2
        await it.until("begun", number=1, life=1)
        it.process.send_signal(signal.SIGTERM)
        assert await it.ended() == 0
    assert it.count("worker.died") == 1


@pytest.mark.parametrize("hung", ["stops", "hangs"])
async def test_a_worker_that_does_not_end_when_it_is_asked_to_is_killed(tmp_path, hung):
    async with parent(tmp_path, hung, "serves", stop_s=0.1) as it:
        await it.until("begun", number=2)
        it.process.send_signal(signal.SIGTERM)
        assert await it.ended() == 0
    assert [each["number"] for each in it.events if each["event"] == "worker.killed"] == [1]


async def test_a_wait_for_the_next_start_ends_with_a_signal(tmp_path):
    async with parent(tmp_path, "serves", "dies", wait_s=NEVER_S) as it:
        await it.until("worker.died", number=2)
        it.process.send_signal(signal.SIGTERM)
        assert await it.ended() == 0
    assert it.count("begun") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a worker that hangs outlives its parent")
@pytest.mark.parametrize("hung", ["stops", "hangs"])
async def test_the_port_is_free_when_the_parent_was_killed_although_a_worker_hangs(tmp_path, hung):
    async with parent(tmp_path, hung, "serves") as it:
        bound = await it.until("bound")
        await it.until("begun", number=2)
        it.process.kill()
        assert await it.ended() == -signal.SIGKILL
        with socket.create_server(("127.0.0.1", bound["port"])):
            pass
