"""What a text would change is found out in a process of its own, with bounds."""

import os

import pytest

from bt_runtime import ReloadingTrees, TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.authoring import trials as trials_module
from oracle.authoring.trials import Trials
from oracle.core.errors import NotFoundError, UserError
from oracle.features.scenarios.calls import play_scenarios
from oracle.features.verifier.calls import explore
from oracle.runs.storage.store import open_store

TREE = "tree: some\nroot: {sequence: [compose_prompt, llm_turn]}\n"
LOOPING = """
tree: some
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline, no_progress, error_limit]
        child:
          sequence:
            - llm_turn
            - selector:
                - sequence: [condition: tool_calls > 0, run_tools]
                - condition: signal == "need_turn"
                - stop: completed
"""


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
    with pytest.raises(UserError, match="there are no scenarios; put them into 'scenarios' in the folder of trees"):
        await play_scenarios(trials(folder), "some", TREE)


async def test_a_trial_gets_no_keys_and_no_tokens(monkeypatch):
    secrets = (
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        *("ORACLE_JWT_SECRET", "ORACLE_TOKENS", "ORACLE_OPENWEBUI_JWT_SECRET"),
    )
    for name in secrets:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("ORACLE_DATABASE_URL", "postgresql://somewhere")
    given = trials_module._harmless()
    assert not set(secrets) & set(given)
    assert given["ORACLE_DATABASE_URL"] == "postgresql://somewhere"


async def test_a_tree_that_does_not_exist_cannot_be_tried(folder, temporary):
    with pytest.raises(NotFoundError, match="no such tree"):
        await trials(folder).compare("other", TREE, of="other", runs=1)
    assert list(temporary.iterdir()) == []


async def test_a_trial_that_takes_too_long_is_ended_and_leaves_nothing_behind(folder, temporary):
    with pytest.raises(UserError, match=r"this took longer than 0\.01 s; try fewer runs"):
        await trials(folder, longest_s=0.01).compare("some", TREE, of="some", runs=1)
    assert list(temporary.iterdir()) == []


@pytest.mark.long("starts a process of its own")
async def test_a_trial_that_says_too_much_is_ended_before_it_fills_the_memory(folder, temporary, monkeypatch):
    monkeypatch.setattr("oracle.authoring.trials._MOST_BYTES", 10)
    with pytest.raises(UserError, match="there is more to say than an answer holds; try fewer runs"):
        await trials(folder).compare("some", TREE, of="some", runs=1)  # its error alone has more than ten bytes
    assert list(temporary.iterdir()) == []


@pytest.mark.long("starts a process of its own")
async def test_a_run_whose_id_begins_like_a_folder_of_copies_is_a_run(folder, tmp_path):
    async with open_store(f"sqlite:///{tmp_path / 'data' / 'oracle.db'}", worker="worker-1"):
        with pytest.raises(UserError, match="newest1") as caught:
            await trials(folder).compare("some", TREE, of="some", runs=1, run_id="newest1")
    assert os.sep not in str(caught.value)


@pytest.mark.long("starts a process of its own")
async def test_a_verification_beside_the_service_has_a_bound_on_its_memory_of_its_own(folder, monkeypatch):
    monkeypatch.setattr("oracle.features.verifier.calls.MOST_MEGABYTES", 1)
    found = await explore(trials(folder), "some", LOOPING, of="some", turns=3, states=5_000)
    assert found.bounds.stopped_at == "1 MB"
