"""Two trees on the same recorded run: where they part, and how the query would have ended."""

from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.replay.comparing import Comparison, compare
from oracle.replay.recorded import read_run
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.store import Store
from tests.oracle.replay.test_replays import SCRIPTS, recorded
from tests.oracle.runs.running import managed


def edited(folder: Path, file: str, old: str, new: str):
    """The shipped tree `oracle` with one edit."""
    for path in trees.FOLDER.glob("*.yaml"):
        (folder / path.name).write_text(path.read_text())
    text = (folder / file).read_text()
    assert text.count(old) == 1
    (folder / file).write_text(text.replace(old, new))
    return TreeLibrary([folder], registry=REGISTRY).load("oracle")


async def compared(store: Store, archive: Archive, folder: Path, script: str, *edit: str) -> Comparison:
    run = await read_run(archive, await recorded(store, script))
    shipped = TreeLibrary([trees.FOLDER], registry=REGISTRY).load("oracle")
    return compare(run, shipped, edited(folder, *edit), registry=REGISTRY)


COMMENT = ("oracle.yaml", "# How Oracle answers one question.", "# How it answers.")
STUCK_AT_ONCE = ("fallback.yaml", "- condition: turn_left", "- condition: turn_left and turn < 1")
OTHER_HINT = ("fallback.yaml", "You are not getting further this way.", "This leads nowhere.")
OTHER_NOTICE = ("fallback.yaml", "The agent is stuck. Trying another approach.", "Another approach is tried.")
ONE_TURN = ("oracle.yaml", "    default: 30\n", "    default: 1\n")
ONE_NODE_MORE = (
    "oracle.yaml",
    "        - classify_query #",
    "        - condition: turn == 0\n        - classify_query #",
)
NO_RETRY = ("follow_signal.yaml", "empty_turns < 3", "empty_turns < 2")
RENAMED = (
    "oracle.yaml",
    "              sequence:\n                - warn",
    "              sequence:\n                name: a_turn\n                children:\n                - warn",
)


@pytest.mark.parametrize("script", ["an answer", "a tool", "stuck twice", "no progress", "a limit", "cut off"])
async def test_a_comment_changes_nothing(store: Store, archive: Archive, tmp_path: Path, script: str):
    found = await compared(store, archive, tmp_path, script, *COMMENT)
    assert found.verdict == "same"
    assert found.new_end == found.old_end is not None


@pytest.mark.parametrize("script", ["an answer", "stuck twice", "a limit"])
async def test_a_step_without_effect_is_another_way(store: Store, archive: Archive, tmp_path: Path, script: str):
    found = await compared(store, archive, tmp_path, script, *ONE_NODE_MORE)
    assert found.verdict == "another_way"
    assert found.difference.tick == 1
    assert found.difference.path.endswith("condition")
    assert found.new_end == found.old_end


@pytest.mark.parametrize("script", ["a tool", "another turn", "no progress"])
async def test_outcomes_find_nodes_that_were_moved(store: Store, archive: Archive, tmp_path: Path, script: str):
    found = await compared(store, archive, tmp_path, script, *RENAMED)
    assert found.verdict == "another_way"
    assert found.new_end == found.old_end
    assert found.unknown is None


async def test_another_end_is_known_where_nothing_new_is_asked(store: Store, archive: Archive, tmp_path: Path):
    found = await compared(store, archive, tmp_path, "stuck twice", *STUCK_AT_ONCE)
    assert (found.verdict, found.old_end, found.new_end) == ("differs", "stuck", "stuck")
    assert found.difference.old == "The agent is stuck. Trying another approach."
    assert found.difference.new == "The agent cannot get further with the tools it has."
    line = found.difference.line
    assert "- condition: turn_left and turn < 1" in (tmp_path / "fallback.yaml").read_text().splitlines()[line - 1]
    assert found.difference.file == str(tmp_path / "fallback.yaml")


async def test_what_the_model_would_have_said_is_not_guessed(store: Store, archive: Archive, tmp_path: Path):
    found = await compared(store, archive, tmp_path, "stuck twice", *OTHER_HINT)
    assert found.verdict == "differs"
    assert found.new_end is None
    assert found.unknown == "the model would be asked something else"


async def test_the_user_sees_another_notice_and_the_model_does_not(store: Store, archive: Archive, tmp_path: Path):
    found = await compared(store, archive, tmp_path, "stuck twice", *OTHER_NOTICE)
    assert (found.verdict, found.old_end, found.new_end) == ("differs", "stuck", "stuck")
    assert found.difference.new == "Another approach is tried."


async def test_a_lower_limit_ends_the_query_earlier(store: Store, archive: Archive, tmp_path: Path):
    found = await compared(store, archive, tmp_path, "another turn", *ONE_TURN)
    assert (found.verdict, found.old_end, found.new_end) == ("differs", "completed", "max_iterations")


async def test_a_query_that_never_comes_to_the_edit_is_the_same(store: Store, archive: Archive, tmp_path: Path):
    for edit in (STUCK_AT_ONCE, OTHER_HINT, NO_RETRY):
        found = await compared(store, archive, tmp_path, "a tool", *edit)
        assert found.verdict == "same", edit


async def test_fewer_attempts_end_the_query_before_its_recording_does(store: Store, archive: Archive, tmp_path: Path):
    found = await compared(store, archive, tmp_path, "empty responses", *NO_RETRY)
    assert (found.verdict, found.old_end, found.new_end) == ("differs", "stuck", "stuck")
    assert "empty_turns < 2" in (tmp_path / "follow_signal.yaml").read_text().splitlines()[found.difference.line - 1]


WITHOUT_FINISH = ("oracle.yaml", "        - finish # saves the conversation, ends the stream\n", "")


@pytest.mark.parametrize("script", ["an answer", "a tool", "stuck twice", "no progress", "a limit", "a refusal"])
async def test_a_tree_that_leaves_finish_to_the_service_does_the_same(
    store: Store, archive: Archive, tmp_path: Path, script: str
):
    run = await read_run(archive, await recorded(store, script))
    shipped, without = TreeLibrary([trees.FOLDER], registry=REGISTRY).load("oracle"), edited(tmp_path, *WITHOUT_FINISH)
    for old, new in ((shipped, without), (without, shipped)):
        found = compare(run, old, new, registry=REGISTRY)
        assert found.verdict in ("same", "another_way")
        assert found.old_end == found.new_end == run.record.termination_reason
        assert found.unknown is None


async def test_a_query_that_was_recorded_without_finish_has_a_known_end_with_it(
    store: Store, archive: Archive, tmp_path: Path
):
    without = edited(tmp_path, *WITHOUT_FINISH)
    async with managed(store, SCRIPTS["stuck twice"]) as it:
        it.harness.drop_from_tree("oracle", "- finish")
        run = await read_run(archive, (await it.ask()).record)
    shipped = TreeLibrary([trees.FOLDER], registry=REGISTRY).load("oracle")
    found = compare(run, without, shipped, registry=REGISTRY)
    assert (found.verdict, found.old_end, found.new_end, found.unknown) == ("another_way", "stuck", "stuck", None)
