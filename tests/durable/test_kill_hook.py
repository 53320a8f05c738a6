"""The hook that crashes a worker at a known place of its log."""

import random
import signal
from pathlib import Path

from benchmarks.service_client import Stream
from tests.durable.clients import asked
from tests.durable.fleet import Fleet, Worker


async def test_a_worker_dies_after_the_commit_that_the_environment_names(tmp_path: Path, database: str) -> None:
    dice = random.Random(7)
    async with Fleet.running(tmp_path, database) as fleet:
        await fleet.provider.pace(pieces=20, gap_s=0.02)
        hook = {"ORACLE_KILL_AFTER_COMMIT": "5"}
        async with Worker(tmp_path, "dies", fleet.provider.address, database, settings=hook) as dies:
            client = asked(fleet, "plain", "hook", dice, first=dies)
            await client.read_once()
            assert await dies.exited() == -signal.SIGKILL
        told = client.told
        assert told.done is None
        # What was sent had been committed before; the fifth commit was not sent any more.
        again = await Stream(fleet.workers[0].address).resume(told.run_id)
        while len(again.ids) <= len(told.ids):
            assert await again.next() is not None
        again.close()
        assert again.chunks[: len(told.ids)] == told.chunks
        assert again.ids[: len(told.ids)] == told.ids
