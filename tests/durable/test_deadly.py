"""A tool that kills its worker: after some attempts the run ends with the truth, and the other runs are unharmed."""

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from tests.durable.checks import check_told, known_answers
from tests.durable.clients import asked
from tests.durable.fleet import Fleet

pytestmark = pytest.mark.soak
MOST_KILLS = 1 + 5
"""That of the worker with which the run has begun, and those of five that have gone on with it."""


async def test_a_run_that_kills_its_workers_ends_after_five_attempts(tmp_path: Path, database: str) -> None:
    dice = random.Random(8)
    asks = [("tools", "d1"), ("parallel", "d2"), ("stuck", "d3"), ("pair", "d4")]
    async with Fleet.running(tmp_path, database, workers=2) as fleet:
        await fleet.provider.pace(pieces=16, gap_s=0.001)
        known = await known_answers(fleet, asks, dice=dice)
        await fleet.provider.pace(pieces=16, gap_s=0.03)
        async with fleet.kept_alive():
            clients = [asked(fleet, kind, tag, dice) for kind, tag in [*asks, ("deadly", "d5")]]
            *others, deadly = await asyncio.gather(*(client.read() for client in clients))
        for (_, tag), told in zip(asks, others, strict=True):
            await check_told(fleet, told, known[tag])
        kills = Counter(entry["key"] for entry in fleet.ledger if entry["did"] == "kill")
        assert list(kills.values()) == [MOST_KILLS]
        assert deadly.done is not None
        assert deadly.done["termination_reason"] == "error"
        assert [chunk["error_type"] for chunk in deadly.of_type("error")] == ["interrupted"]
        assert deadly.ids == list(range(1, len(deadly.ids) + 1))
