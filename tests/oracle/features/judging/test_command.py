"""`oracle trees judge`, on a database that a service has written."""

import asyncio
import json

import pytest

import trees
from oracle.runs.storage.store import open_store
from tests.oracle.replay.test_replays import recorded

RULES = """
rules:
  - name: never_stuck
    text: No query gets stuck.
    absence: { signal: stuck }
  - name: one_turn_is_explained
    text: A second turn comes after another strategy alone.
    precedence: { first: { notify: fallback }, then: { turn: answer, where: number > 1 } }
  - name: always_an_end
    text: Every query ends.
    existence: end
  - name: bad_condition
    text: A condition that cannot be evaluated counts as not fulfilled.
    absence: { signal: stuck, where: reason > 3 }
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A data folder with four queries of the shipped tree, and their rows."""
    folder = tmp_path_factory.mktemp("made")

    async def ask():
        async with open_store(f"sqlite:///{folder}/oracle.db", worker="w") as store:
            return [await recorded(store, name) for name in ("an answer", "stuck twice", "another turn", "a tool")]

    return folder, asyncio.run(ask())


def ruled(tmp_path, rules=RULES):
    """A folder with the shipped trees, and these rules in place of their own."""
    folder = tmp_path / "my"
    folder.mkdir()
    for path in trees.FOLDER.glob("*.yaml"):
        kept = path.read_text().partition("\nrules:\n")[0]  # at the end of the file
        (folder / path.name).write_text(kept + rules if path.stem == "oracle" else kept)
    return "my/oracle.yaml"


def test_it_says_how_many_queries_kept_to_each_rule_and_tells_the_first_that_did_not(oracle, data, tmp_path):
    folder, (_, stuck, another, tool) = data
    ran = oracle("trees", "judge", ruled(tmp_path), "--data-dir", folder)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert lines[0] == "never_stuck: 3 held, 1 violated"
    assert lines[1] == "  No query gets stuck."
    assert lines[2].startswith(f"  run {stuck.id}, 20")
    assert lines[2].endswith("Z: Where is the class RetryPolicy defined in the code?")
    assert lines[3] == "    tick 2: signal stuck(confidence: 0.5, reason: null)  <- breaks it"
    assert lines[4] == "one_turn_is_explained: 2 held, 2 violated"
    assert [line.split(",")[0] for line in lines if line.startswith("  run ")] == [
        f"  run {stuck.id}",
        f"  run {another.id}",
        f"  run {tool.id}",
    ]
    assert "    tick 3: turn answer(number: 2)  <- breaks it" in lines
    assert lines[-4:] == [
        "always_an_end: 4 held",
        "bad_condition: 4 held",
        (
            "Note: rule 'bad_condition': the condition 'reason > 3' cannot be evaluated: "
            "null > 3 compares neither two numbers nor two texts"
        ),
        "4 recorded runs of 'oracle', 4 rules: 2 broken",
    ]


def test_the_result_is_json_on_request(oracle, data, tmp_path):
    folder, (_, stuck, *_) = data
    found = json.loads(oracle("trees", "judge", ruled(tmp_path), "--json", "--data-dir", folder).out)
    assert (found["tree"], found["runs"]) == ("oracle", 4)
    first = found["rules"][0]
    assert (first["rule"], first["held"], first["violated"], first["undecided"]) == ("never_stuck", 3, 1, 0)
    [story] = first["stories"]
    assert (story["run_id"], story["tick"]) == (stuck.id, 2)


def test_rules_that_hold_exit_with_0_and_only_the_latest_or_newer_queries_are_judged(oracle, data, tmp_path):
    folder, _ = data
    tree = ruled(tmp_path)
    latest = oracle("trees", "judge", tree, "--runs", 1, "--data-dir", folder)
    assert latest.out.splitlines()[-1] == "1 recorded run of 'oracle', 4 rules: 1 broken"
    none = oracle("trees", "judge", tree, "--since", "2999-01-01", "--data-dir", folder)
    assert (none.code, none.out.splitlines()[-1]) == (0, "0 recorded runs of 'oracle', 4 rules: none broken")
    assert oracle("trees", "judge", tree, "--since", "7d", "--data-dir", folder).out.splitlines()[-1].startswith("4 ")
    wrong = oracle("trees", "judge", tree, "--since", "soon", "--data-dir", folder)
    assert wrong.code == 2
    assert "'soon' is not a time; give a duration (30min, 2h, 7d) or a date (2026-11-01)" in wrong.err


def test_a_tree_without_rules_has_nothing_to_judge(oracle, data, tmp_path):
    folder, _ = data
    ran = oracle("trees", "judge", ruled(tmp_path, rules=""), "--data-dir", folder)
    assert (ran.code, ran.out) == (1, "")
    assert "the tree 'oracle' has no rules" in ran.err
