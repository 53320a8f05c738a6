"""`oracle runs`, on a database that a service has written or is writing."""

import asyncio

import pytest

import trees
from oracle.runs.storage.store import open_store
from tests.oracle.replay.test_replays import recorded


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data folder with two queries, and their rows."""
    folder = tmp_path_factory.mktemp("made")

    async def ask():
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="w") as store:
            return [await recorded(store, name) for name in ("an answer", "stuck twice")]

    return folder, asyncio.run(ask())


def test_a_recorded_run_becomes_a_scenario_file_that_passes(oracle, data, tmp_path):
    folder, (_, stuck) = data
    ran = oracle("runs", "scenario", stuck.id[:8], "--data-dir", folder)
    assert (ran.code, ran.err) == (0, "")
    path = tmp_path / "recorded.yaml"
    path.write_text(ran.out)
    assert f"about: Recorded as the run {stuck.id}." in ran.out
    assert "reason: stuck" in ran.out
    assert oracle("trees", "test", path).out.splitlines()[-1] == "1 scenario: 1 passed"


def test_it_can_be_read_while_the_service_runs_and_written_to_a_new_file(oracle, tmp_path):
    async def ask():
        async with open_store(f"sqlite:///{tmp_path}/data/oracle.db", worker="w") as store:
            record = await recorded(store, "another turn")
            arguments = ("runs", "scenario", record.id, "--data-dir", tmp_path / "data", "-o", "one.yaml")
            return [await asyncio.to_thread(oracle, *arguments) for _ in range(2)]

    first, second = asyncio.run(ask())
    assert first.code == 0
    assert first.out.endswith("one.yaml: written\n")
    assert second.code == 1
    assert second.err.endswith("Error: 'one.yaml' exists already; name a new file\n")
    assert oracle("trees", "test", "one.yaml").code == 0


def test_a_note_says_so_if_the_tree_takes_another_way_today(oracle, data, tmp_path, monkeypatch):
    folder, (_, stuck) = data
    own = tmp_path / "my"
    own.mkdir()
    text = (trees.FOLDER / "fallback.yaml").read_text()
    (own / "fallback.yaml").write_text(text.replace("condition: turn_left", "condition: turn < 0"))
    monkeypatch.setenv("ORACLE_TREES_DIR", str(own))
    ran = oracle("runs", "scenario", stuck.id, "--data-dir", folder)
    assert ran.code == 0
    assert ran.err.startswith("Note: with today's trees it fails (answer, asked, notices")


def test_a_run_that_does_not_exist_is_an_error(oracle, data, tmp_path):
    folder, _ = data
    ran = oracle("runs", "scenario", "nothing", "--data-dir", folder)
    assert ran.code == 1
    assert "nothing" in ran.err
    nowhere = oracle("runs", "scenario", "x", "--data-dir", tmp_path / "nowhere")
    assert nowhere.code == 1
    assert "there is no database" in nowhere.err
