"""The harness itself: of a fleet that nobody disturbs, every client gets the known answer on whatever worker."""

import asyncio
import random
from pathlib import Path

import pytest

from tests.durable.checks import check_doubles, check_told, known_answers
from tests.durable.clients import KINDS, asked
from tests.durable.fleet import Fleet


@pytest.mark.soak
async def test_an_undisturbed_fleet_gives_the_known_answers(tmp_path: Path, database: str) -> None:
    dice = random.Random(22)
    asks = [(kind, f"u{kind}") for kind in KINDS]
    async with Fleet.running(tmp_path, database, workers=2) as fleet:
        await fleet.provider.pace(pieces=4, gap_s=0.005)
        known = await known_answers(fleet, asks, dice=dice)
        told = await asyncio.gather(*(asked(fleet, kind, tag, dice).read() for kind, tag in asks))
        for (_, tag), each in zip(asks, told, strict=True):
            await check_told(fleet, each, known[tag])
            assert each.pauses_s == []
        seen = await check_doubles(fleet, known, asks)
        assert seen["unknown"] == []
    assert {known[f"u{kind}"].reason for kind in KINDS} == {"completed", "stuck", "max_iterations"}
