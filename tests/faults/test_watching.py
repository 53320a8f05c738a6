"""Watchers of a large tree that ticks fast, beside ordinary streams: each gets every tick, in order, and the end."""

from pathlib import Path

import pytest

from benchmarks.bench_watching import AIM_MS, measured, watched_server
from benchmarks.paced import Pace


@pytest.mark.soak
async def test_every_watcher_gets_every_tick_of_a_large_tree_beside_streams(tmp_path: Path) -> None:
    async with watched_server(tmp_path, ticks=200, pace=Pace(turns=5, pieces=50, turn_s=3.0)) as server:
        await measured(server, streams=0, ticks=200)  # warms up
        found = await measured(server, streams=200, ticks=200)
    assert found.mistakes == []
    assert found.nodes >= 400
    assert found.at(0.99) < AIM_MS, f"p99 {found.at(0.99):.0f} ms"
