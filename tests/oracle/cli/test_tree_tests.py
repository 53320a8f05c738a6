import json
import re

import pytest

from trees import FOLDER

PASSES = """\
scenarios:
  - name: An answer
    model: [Hello.]
    expect: { reason: completed, answer: Hello. }
"""
FAILS = PASSES.replace("reason: completed", "reason: stuck")


@pytest.fixture
def trees(tmp_path):
    folder = tmp_path / "my-trees"
    (folder / "scenarios").mkdir(parents=True)
    return folder


@pytest.mark.long("plays every scenario that ships")
def test_the_scenarios_beside_the_shipped_trees_are_the_default(oracle):
    ran = oracle("trees", "test", "--coverage")
    assert ran.code == 0, ran.out
    lines = ran.out.splitlines()
    assert sum(", passed (" in line for line in lines) == len(list((FOLDER / "scenarios").glob("*.yaml")))
    assert lines[-1].endswith(" passed")
    # The condition before it holds only where it adds a tool.
    assert re.findall(r"([\w.]+):\d+:\d+: (.* never .*)", ran.out) == [
        ("follow_signal.yaml", "offer_all_reading_tools never failed")
    ]


def test_a_failure_is_shown_with_its_line_and_what_happened(oracle, trees):
    (trees / "scenarios" / "own.yaml").write_text(FAILS)
    ran = oracle("trees", "test", "my-trees")
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith("my-trees/scenarios/own.yaml: 1 scenario, 1 failed (")
    assert lines[1:6] == [
        "my-trees/scenarios/own.yaml:4:23: An answer: reason",
        "    4 |     expect: { reason: stuck, answer: Hello. }",
        "      |                       ^",
        "  expected: stuck",
        "  got:      completed",
    ]
    assert lines[6] == "  what happened:"
    assert lines[-2] == "    done: completed after 1 turns, 50 tokens"
    assert lines[-1] == "1 scenario: 0 passed, 1 failed"


def test_folders_without_scenarios_are_named(oracle, trees):
    ran = oracle("trees", "test", "my-trees")
    assert ran.code == 1
    assert ran.err == "Error: there are no scenario files in my-trees; see docs/testing.md\n"


def test_the_trees_beside_a_file_are_the_ones_that_are_tested(oracle, trees):
    own = (FOLDER / "follow_signal.yaml").read_text().replace("    - stop: completed\n", "    - stop: stuck\n")
    (trees / "follow_signal.yaml").write_text(own)
    (trees / "scenarios" / "own.yaml").write_text(PASSES)
    assert oracle("trees", "test", "my-trees").code == 1
    assert oracle("trees", "test", "my-trees/scenarios/own.yaml").code == 1


@pytest.mark.long("plays every scenario that ships")
def test_the_operators_folder_is_tested_by_default(oracle, trees, monkeypatch):
    monkeypatch.setenv("ORACLE_TREES_DIR", "my-trees")
    (trees / "scenarios" / "own.yaml").write_text(FAILS)
    ran = oracle("trees", "test")
    assert ran.code == 1
    assert "my-trees/scenarios/own.yaml: 1 scenario, 1 failed" in ran.out
    assert "ends.yaml: " in ran.out


def test_an_update_rewrites_the_file_and_keeps_its_comments(oracle, trees):
    path = trees / "scenarios" / "own.yaml"
    path.write_text(FAILS.replace("{ reason: stuck, answer: Hello. }", "\n      reason: stuck # no"))
    ran = oracle("trees", "test", "--update", "my-trees")
    assert ran.code == 0
    assert "my-trees/scenarios/own.yaml: 1 scenario updated" in ran.err
    assert path.read_text() == PASSES.replace("{ reason: completed, answer: Hello. }", "\n      reason: completed # no")


def test_the_result_can_be_read_by_programs(oracle, trees):
    (trees / "scenarios" / "own.yaml").write_text(FAILS)
    (trees / "scenarios" / "wrong.yaml").write_text("scenarios: 3")
    ran = oracle("trees", "test", "--json", "--coverage", "my-trees")
    assert ran.code == 1
    found = json.loads(ran.out)
    own, wrong = found["files"]
    (scenario,) = own["scenarios"]
    assert (scenario["name"], scenario["line"], scenario["passed"]) == ("An answer", 2, False)
    assert scenario["tree"] == "oracle"
    assert "oracle" in scenario["visited_trees"]
    assert scenario["differences"] == [
        {"line": 4, "path": ["reason"], "expected": "stuck", "got": "completed", "hint": None}
    ]
    assert "must be a list" in wrong["mistakes"]
    assert 0 < found["coverage"]["percent"] < 100


def test_mistakes_of_a_file_and_unknown_trees_are_reported_with_places(oracle, trees):
    (trees / "scenarios" / "own.yaml").write_text(PASSES.replace("model", "modell"))
    (trees / "scenarios" / "tree.yaml").write_text("tree: orakel\n" + PASSES)
    ran = oracle("trees", "test", "my-trees")
    assert ran.code == 1
    assert "my-trees/scenarios/own.yaml:3:5: a scenario has no field 'modell'" in ran.out
    assert "my-trees/scenarios/tree.yaml:3:5: An answer: there is no tree 'orakel'" in ran.out
    assert "1 file with mistakes" in ran.out


def test_a_path_that_does_not_exist_is_an_error(oracle):
    ran = oracle("trees", "test", "nowhere")
    assert ran.code == 1
    assert ran.err == "Error: there is no file or folder 'nowhere'\n"


def test_scenario_files_are_not_taken_for_trees(oracle, trees):
    oracle("trees", "init", "my-trees")
    for path in (trees / "scenarios").glob("*.yaml"):
        if path.stem != "pinned":
            path.unlink()
    ran = oracle("trees", "check", "my-trees")
    assert ran.code == 0
    assert "scenarios" not in ran.out
    assert oracle("trees", "test", "my-trees").code == 0
