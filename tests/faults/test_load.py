"""A load of streams in small; `benchmarks/bench_service.py` has it in full."""

from pathlib import Path

import pytest

from benchmarks.bench_service import AIM_MS, read_again
from benchmarks.paced import Pace
from benchmarks.service_load import load, oracle_server


async def test_streams_at_once_have_no_gap_and_no_mix_up_and_come_in_time(tmp_path: Path) -> None:
    pace = Pace(turns=2, pieces=25, turn_s=0.5)
    async with oracle_server(tmp_path, pace) as server:
        done = await load(server, 20, ramp_s=0.2)
        assert [mistake for heard in done.heard for mistake in heard.mistakes(pace)] == []
        assert done.late_ms(0.5) < AIM_MS
        run_ids = [heard.run_id for heard in done.heard]
        assert await read_again(server.address, run_ids, seconds=0.2, readers=2) > 0


@pytest.mark.soak
async def test_200_streams_have_no_gap_and_no_mix_up_and_come_in_time(tmp_path: Path) -> None:
    async with oracle_server(tmp_path, Pace()) as server:
        await load(server, 2, ramp_s=0)
        done = await load(server, 200)
    assert [mistake for heard in done.heard for mistake in heard.mistakes(Pace())] == []
    assert done.late_ms(0.99) < AIM_MS


@pytest.mark.soak
async def test_a_thousand_runs_leave_no_memory_behind(tmp_path: Path) -> None:
    pace = Pace(turns=2, pieces=25, turn_s=0.25)
    async with oracle_server(tmp_path, pace) as server:
        for _ in range(3):  # caches and pools fill
            await load(server, 100)
        before = server.rss_bytes
        for _ in range(10):
            await load(server, 100)
        grown = server.rss_bytes - before
    assert grown < 10_000_000, f"{grown / 1e6:.1f} MB more after a thousand runs"
