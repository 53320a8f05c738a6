"""What a text would change is found out in a process of its own, with bounds."""

import os

import pytest

from bt_runtime import ReloadingTrees, TreeLibrary
from oracle.authoring import NoSuchTreeError, TrialError, Trials, trying
from oracle.nodes import REGISTRY

TREE = "tree: some\nroot: {sequence: [compose_prompt, llm_turn]}\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "some.yaml").write_text(TREE, encoding="utf-8")
    return folder


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Where copies are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", os.fspath(folder))
    return folder


def trials(folder, **options):
    environment = {"ORACLE_DATA_DIR": str(folder.parent / "data"), "ORACLE_PROJECT_DIR": str(folder)}
    trees = ReloadingTrees(TreeLibrary([folder], registry=REGISTRY))
    return Trials(trees, environment=environment, **options)


async def test_without_scenarios_there_is_no_trial(folder):
    with pytest.raises(TrialError, match="there are no scenarios; put them into 'scenarios' in the folder of trees"):
        await trials(folder).test("some", TREE)


async def test_a_trial_gets_no_keys_and_no_tokens(monkeypatch):
    secrets = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ORACLE_JWT_SECRET", "ORACLE_TOKENS")
    for name in secrets:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("ORACLE_DATABASE_URL", "postgresql://somewhere")
    given = trying._harmless()
    assert not set(secrets) & set(given)
    assert given["ORACLE_DATABASE_URL"] == "postgresql://somewhere"


async def test_a_tree_that_does_not_exist_cannot_be_tried(folder, temporary):
    with pytest.raises(NoSuchTreeError):
        await trials(folder).compare("other", TREE, of="other", runs=1)
    assert list(temporary.iterdir()) == []


async def test_a_trial_that_takes_too_long_is_ended_and_leaves_nothing_behind(folder, temporary):
    with pytest.raises(TrialError, match=r"this took longer than 0\.01 s; try fewer runs"):
        await trials(folder, longest_s=0.01).compare("some", TREE, of="some", runs=1)
    assert list(temporary.iterdir()) == []


async def test_a_trial_that_says_too_much_is_ended_before_it_fills_the_memory(folder, temporary, monkeypatch):
    monkeypatch.setattr("oracle.authoring.trying._MOST_BYTES", 10)
    with pytest.raises(TrialError, match="there is more to say than an answer holds; try fewer runs"):
        await trials(folder).compare("some", TREE, of="some", runs=1)  # its error alone has more than ten bytes
    assert list(temporary.iterdir()) == []
