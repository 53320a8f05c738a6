"""kill -9 at random and in every gap: the answer is the undisturbed one, and no side effect happens twice."""

import asyncio
import random
import signal
from pathlib import Path

import pytest

from tests.durable.checks import Ask, Known, check_doubles, check_told, known_answers
from tests.durable.clients import Told, asked
from tests.durable.fleet import Fleet, Worker
from tests.durable.storm import asks_of, share, storm

PLENTY = {"ORACLE_RUNS_PER_USER": "0", "ORACLE_REQUESTS_PER_MINUTE": "0"}


async def _stormed(
    folder: Path, database: str, *, workers: int, clients: int, each: int, kills: int, gap_s: tuple[float, float]
) -> tuple[list[float], int]:
    """Check all answers of a storm; returns the pauses that clients saw, and how many workers were killed."""
    dice = random.Random(kills)
    asks = asks_of(clients, each=each)
    async with Fleet.running(folder, database, workers=workers, settings=PLENTY) as fleet:
        await fleet.provider.pace(pieces=16, gap_s=0.001)
        known = await known_answers(fleet, asks, dice=dice)
        await fleet.provider.pace(pieces=16, gap_s=0.03)
        found = await storm(fleet, asks, clients=clients, kills=kills, gap_s=gap_s, dice=dice)
        for _, tag in asks:
            await check_told(fleet, found.told[tag], known[tag])
        await check_doubles(fleet, known, asks)
        assert found.recovered > 0
        return found.pauses_s, fleet.kills


async def test_after_random_kills_every_client_has_the_undisturbed_answer(tmp_path: Path, database: str) -> None:
    pauses, kills = await _stormed(tmp_path, database, workers=2, clients=7, each=1, kills=3, gap_s=(0.3, 0.9))
    assert kills > 0
    assert share(pauses, 50) <= 5.0


@pytest.mark.soak
async def test_200_random_kills_over_4_workers_and_100_clients(tmp_path: Path, database: str) -> None:
    pauses, kills = await _stormed(tmp_path, database, workers=4, clients=100, each=8, kills=200, gap_s=(0.3, 1.2))
    print(f"{kills} kills, {len(pauses)} pauses: p50 {share(pauses, 50):.2f} s, p99 {share(pauses, 99):.2f} s")  # noqa: T201
    assert kills == 200


@pytest.mark.soak
async def test_a_kill_costs_a_pause_of_seconds_where_workers_are_left(tmp_path: Path, database: str) -> None:
    """One at a time: the runs of the last one go on before the next one dies."""
    pauses, _ = await _stormed(tmp_path, database, workers=4, clients=20, each=12, kills=8, gap_s=(5.0, 7.0))
    print(f"{len(pauses)} pauses: p50 {share(pauses, 50):.2f} s, p99 {share(pauses, 99):.2f} s")  # noqa: T201
    assert share(pauses, 50) <= 2.0
    assert share(pauses, 99) <= 5.0


async def _killed_after(fleet: Fleet, known: Known, ask: Ask, *, commits: int, dice: random.Random) -> bool:
    """One run whose worker dies after so many commits, while another one lives; whether it died."""
    kind, tag = ask
    hook = {"ORACLE_KILL_AFTER_COMMIT": str(commits)}
    dies = Worker(fleet.folder, f"dies{commits}", fleet.provider.address, fleet.database, settings=hook)
    async with dies:
        told: Told = await asked(fleet, kind, tag, dice, first=dies).read()
        is_dead = not dies.is_running
        if is_dead:
            assert await dies.exited() == -signal.SIGKILL
    try:
        await check_told(fleet, told, known)
    except AssertionError as error:
        raise AssertionError(f"killed after commit {commits}: {error}") from None
    return is_dead


async def _every_gap(folder: Path, database: str, *, gaps: range, pieces: int, at_once: int) -> list[bool]:
    """Kill a worker after each number of commits; which of them died before the run had ended."""
    dice = random.Random(6)
    asks = [("tools", f"g{commits}") for commits in gaps]
    async with Fleet.running(folder, database) as fleet:
        await fleet.provider.pace(pieces=pieces, gap_s=0.001)
        known = await known_answers(fleet, asks, dice=dice)
        await fleet.provider.pace(pieces=pieces, gap_s=0.02)
        few = asyncio.Semaphore(at_once)

        async def one(commits: int, ask: Ask) -> bool:
            async with few:
                return await _killed_after(fleet, known[ask[1]], ask, commits=commits, dice=dice)

        async with asyncio.TaskGroup() as group:
            died = [group.create_task(one(*pair)) for pair in zip(gaps, asks, strict=True)]
        await check_doubles(fleet, known, asks)
        return [task.result() for task in died]


async def test_a_kill_in_some_gaps_between_commits_changes_nothing(tmp_path: Path, database: str) -> None:
    assert any(await _every_gap(tmp_path, database, gaps=range(3, 51, 12), pieces=3, at_once=4))


@pytest.mark.soak
async def test_a_kill_in_every_gap_between_commits_changes_nothing(tmp_path: Path, database: str) -> None:
    died = await _every_gap(tmp_path, database, gaps=range(1, 100), pieces=5, at_once=4)
    assert died[0]
    assert not died[-1], "there are more gaps than were tried"


@pytest.mark.soak
async def test_the_only_worker_goes_on_after_its_start(tmp_path: Path) -> None:
    """With SQLite: the same path with one owner."""
    dice = random.Random(2)
    asks = asks_of(14, each=1)
    async with Fleet.running(tmp_path, f"sqlite:///{tmp_path / 'only.db'}", settings=PLENTY) as fleet:
        await fleet.provider.pace(pieces=16, gap_s=0.001)
        known = await known_answers(fleet, asks, dice=dice)
        await fleet.provider.pace(pieces=16, gap_s=0.03)
        found = await storm(fleet, asks, clients=14, kills=3, gap_s=(1.5, 3.0), dice=dice)
        for _, tag in asks:
            await check_told(fleet, found.told[tag], known[tag])
        await check_doubles(fleet, known, asks)
        slowest_start = max(fleet.starts_s)
    print(f"starts {slowest_start:.2f} s, pauses p99 {share(found.pauses_s, 99):.2f} s")  # noqa: T201
    assert share(found.pauses_s, 99) <= 5.0 + slowest_start
