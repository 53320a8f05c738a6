"""A process that has lost its database ends the streams whose clients can go on reading on another one."""

import asyncio
import time
from urllib.parse import urlsplit

import pytest

from oracle.runs.options import RunOptions
from oracle.server.api.reading import is_stalled
from oracle.server.api.sse import StreamTiming
from oracle.testing import ScriptedTurn
from tests.faults.proxy import Proxy
from tests.oracle.server.api.conftest import HANGS, running_service

GUARD_S = 60
QUICK = RunOptions(heartbeat_s=0.05, look_s=0.05, silent_s=0.3)


def lost_for(service, seconds):
    """Whether readers are sent away when the store has been away for so long: those that stay, those that return."""
    service.parts.store.health.fail("away", since_s=time.monotonic() - seconds)
    try:
        return is_stalled(service.parts), is_stalled(service.parts, can_return=True)
    finally:
        service.parts.store.health.recover()


async def test_a_process_that_is_alone_with_its_database_waits_for_it_with_all_readers(service):
    timing = StreamTiming()
    assert lost_for(service, timing.return_s + 1) == (False, False)
    assert lost_for(service, timing.patience_s + 1) == (True, True)


@pytest.mark.long("starts a service on PostgreSQL")
async def test_where_others_may_share_the_database_readers_that_can_return_do_so_soon(start, postgresql_url):
    service, timing = await start([HANGS], url=postgresql_url), StreamTiming()
    assert lost_for(service, timing.return_s - 1) == (False, False)
    assert lost_for(service, timing.return_s + 1) == (False, True)
    assert lost_for(service, timing.patience_s + 1) == (True, True)


@pytest.mark.long("waits for a worker on PostgreSQL to be found silent")
async def test_a_stream_of_a_worker_without_its_database_ends_and_is_taken_up_on_the_one_that_has_the_run(
    tmp_path, postgresql_url
):
    url = urlsplit(postgresql_url)
    timing = StreamTiming(heartbeat_s=0.05, return_s=0.2)
    async with asyncio.timeout(GUARD_S), Proxy(url.hostname, url.port or 5432) as proxy:
        through = url._replace(netloc=f"{url.username}@127.0.0.1:{proxy.port}").geturl()
        async with running_service(tmp_path, [HANGS], url=through, options=QUICK, timing=timing) as one:
            async with one.asking() as streamed:
                await streamed.until("It begins")
                proxy.cut()
                await streamed.rest()
            assert "done" not in streamed.types
            turns = [ScriptedTurn(text="And it ends.")]
            async with running_service(tmp_path, turns, url=postgresql_url, worker="worker-2", options=QUICK) as two:
                resumed = await two.resume(streamed.run_id, after=streamed.ids[-1])
            assert resumed.done["termination_reason"] == "completed"
            assert "recovered" in [chunk.get("system_type") for chunk in resumed.chunks]
            proxy.mend()
