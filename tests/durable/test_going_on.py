"""One service on SQLite that is killed in mid answer: after its restart every run goes on, and nobody can tell."""

import asyncio
import random
from pathlib import Path

import pytest

from tests.durable.checks import check_doubles, check_told, known_answers
from tests.durable.clients import KINDS, Client, asked
from tests.durable.fleet import Fleet


async def has_heard(clients: list[Client], chunks: int) -> None:
    """Wait until the clients together have read so many chunks, or all is read."""
    while sum(len(client.told.chunks) for client in clients) < chunks:
        if all(client.told.done for client in clients):
            return
        await asyncio.wait(
            [asyncio.create_task(client.grew.wait()) for client in clients], return_when="FIRST_COMPLETED"
        )
        for client in clients:
            client.grew.clear()


@pytest.mark.parametrize(
    "share", [pytest.param(0.2, marks=pytest.mark.soak), 0.5, pytest.param(0.8, marks=pytest.mark.soak)]
)
async def test_a_killed_service_continues_its_runs(tmp_path: Path, share: float) -> None:
    dice = random.Random(22)
    asks = [(kind, f"g{kind}") for kind in KINDS]
    async with Fleet.running(tmp_path, f"sqlite:///{tmp_path / 'w0' / 'oracle.db'}") as fleet:
        await fleet.provider.pace(pieces=8, gap_s=0.01)
        known = await known_answers(fleet, asks, dice=dice)
        clients = [asked(fleet, kind, tag, dice) for kind, tag in asks]
        reading = [asyncio.create_task(client.read()) for client in clients]
        await has_heard(clients, int(share * 300))
        await fleet.kill(fleet.workers[0])
        told = await asyncio.gather(*reading)
        for (_, tag), each in zip(asks, told, strict=True):
            await check_told(fleet, each, known[tag])
        await check_doubles(fleet, known, asks)
        recovered = [chunk for each in told for chunk in each.of_type("system") if chunk["system_type"] == "recovered"]
        assert recovered
