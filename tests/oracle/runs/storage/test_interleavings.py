"""Whatever order the transactions of workers come in, each run has one owner, and its log is written by nobody else."""

from pathlib import Path

import pytest

from tests.oracle.runs.storage.interleaving import World


def interleaved(folder: Path, *, steps: int, seed: int) -> World:
    """Steps of workers, then the end of everything."""
    world = World(folder, seed=seed)
    try:
        for number in range(steps):
            world.step(number)
        world.settle()
        assert world.open == 0
        for number in range(1, world.count + 1):
            world.ends(f"run-{number}")
    finally:
        world.close()
    return world


def test_a_run_has_one_owner_whatever_workers_do(tmp_path: Path) -> None:
    world = interleaved(tmp_path, steps=1_000, seed=1)
    assert world.count > 5
    assert max(epoch for _, epoch in world.owners) > 3


@pytest.mark.long("some thousand transactions")
@pytest.mark.parametrize("seed", range(3))
def test_a_run_has_one_owner_in_many_orders(tmp_path: Path, seed: int) -> None:
    assert interleaved(tmp_path, steps=10_000, seed=seed).names > 4


@pytest.mark.soak
def test_a_run_has_one_owner_in_a_million_steps(tmp_path: Path) -> None:
    for seed in range(20):
        (folder := tmp_path / str(seed)).mkdir()
        interleaved(folder, steps=50_000, seed=1_000 + seed)
