import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trees import FOLDER

WRONG = "tree: mine\nroot:\n  sequence:\n    - llm_turn: {timeout: 120}\n    - finsh\n"


def test_the_shipped_trees_are_valid(oracle):
    ran = oracle("trees", "check")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert len(lines) == len(list(FOLDER.glob("*.yaml")))
    assert all(": OK (" in line for line in lines)


def test_every_mistake_is_reported_with_its_place_a_caret_and_a_hint(oracle, tmp_path):
    (tmp_path / "mine.yaml").write_text(WRONG)
    ran = oracle("trees", "check", "mine.yaml")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "mine.yaml:4:18: 'llm_turn' has no setting 'timeout'",
        "    4 |     - llm_turn: {timeout: 120}",
        "      |                  ^",
        "hint: did you mean 'timeout_s'?",
        *ran.out.splitlines()[4:],
    ]
    assert "mine.yaml:5:7: " in ran.out
    assert ran.err == ""


def test_a_folder_is_checked_file_by_file(oracle, tmp_path):
    (tmp_path / "one.yaml").write_text("tree: one\nroot: finish\n")
    (tmp_path / "mine.yaml").write_text(WRONG)
    ran = oracle("trees", "check", tmp_path)
    assert ran.code == 1
    warned, *rest = [line for line in ran.out.splitlines() if line.startswith(f"{tmp_path / 'one.yaml'}:")]
    assert warned == f"{tmp_path / 'one.yaml'}: {len(rest)} warning{'s' * (len(rest) != 1)} (one, 1 node)"
    assert f"{tmp_path / 'mine.yaml'}:5:7: " in ran.out


def test_a_code_is_explained(oracle):
    ran = oracle("trees", "check", "--explain", "unread-results")
    assert ran.code == 0
    assert ran.out.startswith("unread-results (warning): Tools run, but no turn reads their results.\n")


def test_a_misspelt_code_is_an_error_with_the_nearest_one(oracle):
    ran = oracle("trees", "check", "--explain", "unread-result")
    assert ran.code == 1
    assert "did you mean 'unread-results'?" in ran.err


@pytest.mark.parametrize("name", ["nothing.yaml", "no-folder"])
def test_a_missing_path_is_a_mistake(oracle, name):
    ran = oracle("trees", "check", name)
    assert ran.code == 1
    assert "cannot be read: No such file or directory" in ran.out


def test_the_operators_folder_is_checked_with_the_shipped_one(oracle, monkeypatch, tmp_path):
    (tmp_path / "mine.yaml").write_text(WRONG)
    monkeypatch.setenv("ORACLE_TREES_DIR", str(tmp_path))
    ran = oracle("trees", "check")
    assert ran.code == 1
    assert "mine.yaml:4:18: " in ran.out
    assert "oracle.yaml: OK" in ran.out


def test_an_operators_subtree_that_does_not_fit_the_shipped_trees_is_reported(oracle, monkeypatch, tmp_path):
    (tmp_path / "fallback.yaml").write_text(
        "tree: fallback\nparameters: {reason: {type: str}}\nroot: {say: '${reason}'}\n"
    )
    monkeypatch.setenv("ORACLE_TREES_DIR", str(tmp_path))
    ran = oracle("trees", "check")
    assert ran.code == 1
    assert "follow_signal.yaml:" in ran.out
    assert "reason" in ran.out


def test_a_mistake_that_another_file_has_as_well_is_reported_in_each(oracle, monkeypatch, tmp_path):
    (tmp_path / "fallback.yaml").write_text(
        "tree: fallback\nparameters: {reason: {type: str}}\nroot: {say: '${reason}'}\n"
    )
    (tmp_path / "mine.yaml").write_text("tree: mine\nroot: {subtree: fallback}\n")
    monkeypatch.setenv("ORACLE_TREES_DIR", str(tmp_path))
    ran = oracle("trees", "check")
    mistakes = [line.rpartition("/")[2] for line in ran.out.splitlines() if "needs the argument" in line]
    (mine, shipped) = mistakes
    assert mine.startswith("mine.yaml:2:")
    assert shipped.startswith("follow_signal.yaml:")
    assert mine.partition(" ")[2] == shipped.partition(" ")[2]


def test_a_missing_folder_of_trees_is_reported(oracle, monkeypatch):
    monkeypatch.setenv("ORACLE_TREES_DIR", "none")
    ran = oracle("trees", "check")
    assert ran.code == 1
    assert "the folder of trees 'none' does not exist; set ORACLE_TREES_DIR" in ran.err


@pytest.mark.parametrize(
    ("name", "begins"),
    [("text", "oracle"), ("mermaid", "flowchart"), ("dot", "digraph"), ("svg", "<svg"), ("json", "{")],
)
def test_a_tree_is_shown_in_every_format(oracle, name, begins):
    ran = oracle("trees", "show", "oracle", "--format", name)
    assert ran.code == 0
    assert ran.out.lstrip().startswith(begins)
    assert "llm_turn" in ran.out
    assert "\x1b" not in ran.out


def test_a_tree_is_shown_from_its_file(oracle, tmp_path):
    (tmp_path / "mine.yaml").write_text("tree: mine\nroot: {sequence: [{subtree: fallback}, finish]}\n")
    assert "finish" in oracle("trees", "show", "mine.yaml").out
    assert "finish" in oracle("trees", "show", "./mine.yaml").out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("oracel", "Error: there is no tree 'oracel'; did you mean 'oracle'?"),
        ("nothing.yaml", "nothing.yaml:1:1: the file cannot be read: No such file or directory"),
        ("mine.yaml", "mine.yaml:4:18: 'llm_turn' has no setting 'timeout'"),
        ("./", "Error: './' is a folder; name a tree, or one tree file"),
    ],
)
def test_a_tree_that_cannot_be_shown_is_reported(oracle, tmp_path, name, message):
    (tmp_path / "mine.yaml").write_text(WRONG)
    ran = oracle("trees", "show", name)
    assert ran.code == 1
    assert message in ran.err
    assert ran.out == ""


def test_the_schema_is_json_and_has_the_agents_kinds(oracle):
    ran = oracle("trees", "schema")
    assert ran.code == 0
    schema = json.loads(ran.out)
    assert schema["$schema"].startswith("https://json-schema.org/")
    assert "llm_turn" in ran.out


@pytest.mark.long("starts a process")
def test_a_closed_pipe_is_no_error_when_a_tree_is_shown():
    script = "oracle trees show oracle --format json | head -c 1; echo ${PIPESTATUS[0]}"
    ran = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=_with_scripts())
    assert ran.stdout.splitlines()[-1] in {"{0", "{141"}
    assert ran.stderr == ""


def _with_scripts():
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


TWO_MODELS = """\
tree: two
root:
  sequence:
    - classify_query
    - compose_prompt
    - loop:
        until: termination_reason
        guards: [cancelled, turn_budget, token_budget, deadline]
        child:
          sequence:
            - llm_turn
            - selector: [subtree: use_tools, subtree: follow_signal]
            - llm_turn: { model: other }
            - selector: [subtree: use_tools, subtree: follow_signal]
"""
PRICES = """\
currency: EUR
models:
  "claude-*": { input: 3, output: 15, cache_creation: 3.75, cache_read: 0.3 }
"""


def test_a_warning_of_a_missed_cache_says_what_it_costs_where_prices_are_known(oracle, monkeypatch, tmp_path):
    (tmp_path / "two.yaml").write_text(TWO_MODELS)
    (tmp_path / "prices.yaml").write_text(PRICES)
    words = "warning cache-missed: each round asks another model here than at 'llm_turn' on line 11"
    plain = oracle("trees", "check", "two.yaml").out
    assert f"two.yaml:13:15: {words}" in plain
    assert "some 8,000 tokens are written to it instead of read\n" in plain
    monkeypatch.setenv("ORACLE_PRICES", str(tmp_path / "prices.yaml"))
    priced = oracle("trees", "check", "two.yaml").out
    assert "instead of read, which is 27.60 EUR for 1,000 such turns of claude-sonnet-5-5\n" in priced
    monkeypatch.setenv("ORACLE_FEATURES", "-usage")
    assert "EUR" not in oracle("trees", "check", "two.yaml").out
    (tmp_path / "prices.yaml").write_text("currency: Euro\n")
    monkeypatch.delenv("ORACLE_FEATURES")
    wrong = oracle("trees", "check", "two.yaml")
    assert wrong.code != 0
    assert "the file has no 'models'" in wrong.err
