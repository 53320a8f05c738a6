"""The parent of workers, with work that needs no service; `tests/oracle/cli/test_serve_workers.py` has the service."""

import asyncio
import signal
import socket
import sys
from pathlib import Path

import pytest

from oracle.core.retry import Retry
from oracle.server.process.workers import Worker, WorkerProcesses

GUARD_S = 30
NEVER_S = 3600.0


def dying(folder: Path, *, lives: int, wait_s: float) -> int:
    """The parent of one worker that dies so many times when it listens, and after that before it does."""

    def work(worker: Worker) -> int:
        life = folder / f"{len([*folder.iterdir()])}"
        life.touch()
        if int(life.name) < lives:
            worker.note_listening()
            return 7
        return 5

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return WorkerProcesses(1, listener=listener, work=work, retry=Retry(wait_s, wait_s)).run()


async def parent(folder: Path, **options: float) -> asyncio.subprocess.Process:
    """`dying` in a process of its own, because it forks."""
    call = f"raise SystemExit(dying(Path({str(folder)!r}), **{options!r}))"
    command = f"from tests.oracle.server.process.test_workers import Path, dying; {call}"
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", command), stdout=pipe, cwd=Path(__file__).parents[4]
    )


@pytest.mark.parametrize("lives", [0, 1, 3])
async def test_a_worker_is_replaced_until_none_can_start(tmp_path, lives):
    process = await parent(tmp_path, lives=lives, wait_s=0.001)
    async with asyncio.timeout(GUARD_S):
        out, _ = await process.communicate()
    assert process.returncode == 5
    assert len([*tmp_path.iterdir()]) == lives + 1
    assert out.count(b"worker.died") == lives + 1


async def test_one_that_dies_again_is_replaced_after_a_wait_which_a_signal_ends(tmp_path):
    process = await parent(tmp_path, lives=9, wait_s=NEVER_S)
    assert process.stdout is not None
    async with asyncio.timeout(GUARD_S):
        for _ in range(2):
            assert b"worker.died" in await process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["0", "1"]
