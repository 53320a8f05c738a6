"""`oracle trees compare`, on a database that a service has written."""

import asyncio
import json

import pytest

import trees
from oracle.runs.storage.store import open_store
from tests.oracle.replay.test_replays import recorded


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data folder with three queries, and their rows."""
    folder = tmp_path_factory.mktemp("made")

    async def ask():
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="w") as store:
            return [await recorded(store, name) for name in ("an answer", "stuck twice", "a tool")]

    return folder, asyncio.run(ask())


def edited(folder, old, new):
    folder.mkdir()
    for path in trees.FOLDER.glob("*.yaml"):
        (folder / path.name).write_text(path.read_text().replace(old, new))
    return folder


@pytest.mark.long("runs recorded queries again on another tree")
def test_it_says_which_queries_would_have_gone_another_way_and_where(oracle, data, tmp_path):
    folder, (answer, stuck, tool) = data
    edited(tmp_path / "my", "condition: turn_left", "condition: turn < 0")
    ran = oracle("trees", "compare", "oracle", "my/oracle.yaml", "--data-dir", folder)
    assert (ran.code, ran.err) == (0, "")
    rows, _, _ = ran.out.partition(f"{tool.id[:8]}  the same")
    assert "- When the model repeats the same text and need_turn: was no_progress, now stuck\n" in rows
    blocks = ran.out.removeprefix(rows).splitlines()
    line = 1 + (tmp_path / "my/fallback.yaml").read_text().splitlines().index("              - condition: turn < 0")
    assert blocks == [
        f"{tool.id[:8]}  the same: {answer.input['question']}",
        f"{stuck.id[:8]}  different: {answer.input['question']}",
        blocks[2],
        "    no in the new tree: turn < 0 (turn 1)",
        "    old: The agent is stuck. Trying another approach.",
        "    new: The agent cannot get further with the tools it has.",
        "  ends as stuck all the same",
        f"{answer.id[:8]}  the same: {answer.input['question']}",
        "3 runs: 2 the same, 1 different",
    ]
    assert blocks[2].startswith(f"  from tick 2 on, at my/fallback.yaml:{line} (")
    assert oracle("trees", "compare", "oracle", "my/oracle.yaml", "--data-dir", folder, "--exit-code").code == 1
    assert len(oracle("trees", "compare", "oracle", "oracle", "--data-dir", folder, "--runs", 1).out.splitlines()) == 2
    alone = oracle("trees", "compare", "oracle", "my/oracle.yaml", "--data-dir", folder, "--run", stuck.id[:8])
    assert alone.out.removeprefix(rows).splitlines() == [*blocks[1:7], "1 run: 1 different"]


@pytest.mark.long("plays all situations of two trees")
def test_a_version_is_named_by_its_digits_and_the_result_is_json_on_request(oracle, data, tmp_path):
    folder, (answer, stuck, tool) = data
    edited(tmp_path / "my", "Trying another approach.", "Searching elsewhere.")
    ran = oracle("trees", "compare", answer.tree_sha[:8], "my/oracle.yaml", "--json", "--data-dir", folder)
    found = {each["run_id"]: each for each in json.loads(ran.out)["runs"]}
    assert found[tool.id]["verdict"] == found[answer.id]["verdict"] == "same"
    assert found[stuck.id]["difference"]["new"] == "The agent is stuck. Searching elsewhere."


def test_a_query_of_another_tree_is_refused(oracle, data, tmp_path):
    folder, (_, _, tool) = data
    (tmp_path / "other.yaml").write_text("tree: other\nroot: finish\n")
    ran = oracle("trees", "compare", "other.yaml", "oracle", "--data-dir", folder, "--run", tool.id)
    assert (ran.code, f"{tool.id[:8]} named the tree 'oracle', not 'other'" in ran.err) == (1, True)


@pytest.mark.long("plays all situations of two trees")
def test_a_file_may_have_either_ending_of_yaml(oracle, data, tmp_path):
    edited(tmp_path / "my", "condition: turn_left", "condition: turn < 0")
    (tmp_path / "my/oracle.yaml").rename(tmp_path / "my/oracle.yml")
    ran = oracle("trees", "compare", "oracle", "my/oracle.yml", "--data-dir", data[0])
    assert ran.out.splitlines()[-1] == "3 runs: 2 the same, 1 different"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("oracle", "orcale"), "there is no tree 'orcale'; did you mean 'oracle'?"),
        (("oracle", "deadbeef"), "no run, or more than one tree, has a version that begins with 'deadbeef'"),
        (("oracle", "my"), "there is no tree 'my'"),
        (("oracle", "./"), "is a folder"),
        (("oracle", "broken.yaml"), "broken.yaml:2:8: there is no node kind 'finsh'"),
        (("fallback", "oracle"), "'fallback' is a part of other trees (internal: true)"),
        (("oracle", "fallback"), "'fallback' is a part of other trees (internal: true)"),
        (("other", "oracle"), "there are no recorded runs of the tree 'other'"),
        (("oracle", "oracle", "--run", "00000000"), "there is no run '00000000'"),
        (("oracle", "oracle", "--runs", "-1"), "-1 is not in the range"),
    ],
)
def test_what_cannot_be_compared_is_an_error_that_says_why(oracle, data, tmp_path, arguments, said):
    (tmp_path / "broken.yaml").write_text("tree: broken\nroot:  finsh\n")
    arguments = [f"{name}.yaml" if name == "other" else name for name in arguments]
    (tmp_path / "other.yaml").write_text("tree: other\nroot: finish\n")
    ran = oracle("trees", "compare", *arguments, "--data-dir", data[0])
    assert ran.code in (1, 2)
    assert said in ran.err
    assert ran.out == ""


def test_without_a_database_it_says_where_one_comes_from(oracle, tmp_path):
    ran = oracle("trees", "compare", "oracle", "oracle")
    assert ran.code == 1
    assert "there is no database" in ran.err
    assert not (tmp_path / ".oracle").exists()
