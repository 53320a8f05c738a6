"""`oracle runs diff`, on both kinds of databases."""

import json

import pytest

import trees
from tests.support.databases import on_both_databases


def test_runs_that_did_the_same_are_the_same(oracle, database):
    first, second = database.record("stuck twice", "stuck twice")
    ran = oracle("runs", "diff", first[:8], second[:8])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[2:] == [
        "",
        "The same: 5 ticks, the same nodes, the same end.",
        "",
        "the same answer, 58 characters",
    ]
    assert oracle("runs", "diff", first, first, "--json").code == 0


@pytest.mark.parametrize("columns", [80, 140])
def test_it_says_where_runs_part_and_with_which_values(oracle, database, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    stuck, looping = database.record("stuck twice", "no progress")
    ran = oracle("runs", "diff", stuck, looping)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert all(len(line) <= columns for line in lines)
    assert "The same until tick 1, then different. A ends as stuck, B as no_progress." in lines
    at = lines.index("did  tick 2  …/subtree/sequence/condition")
    assert lines[at + 1 : at + 6] == [
        "  A  use_tools.yaml:22  - condition: tool_calls > 0",
        "     The condition is not true: tool_calls 0.",
        "  B  use_tools.yaml:22  - condition: tool_calls > 0",
        "     The condition is true: tool_calls 1.",
        "     tool_calls  0  |  1",
    ]
    assert "came in  tick 2" in lines
    is_beside = any(line.startswith("answer A") and line.endswith("answer B") for line in lines)
    assert is_beside == (columns >= 120)


def test_lines_of_the_trees_that_differ_are_shown(oracle, database, tmp_path):
    (first,) = database.record("stuck twice")
    own = tmp_path / "trees"
    own.mkdir()
    text = (trees.FOLDER / "fallback.yaml").read_text().replace("condition: turn_left", "condition: turn < 0")
    (own / "fallback.yaml").write_text(text)
    number = text.split("\n").index(next(line for line in text.split("\n") if "condition: turn < 0" in line)) + 1
    source = json.loads(oracle("runs", "export", first).out)
    source["run"]["id"] = "a" * 32
    source["tree"]["files"]["fallback.yaml"] = text
    source["tree"]["version"] = "f" * 64
    (tmp_path / "other.json").write_text(json.dumps(source))
    oracle("runs", "import", "other.json")
    ran = oracle("runs", "diff", first, "aaaa")
    assert f"  - fallback.yaml:{number}  - condition: turn_left" in ran.out.splitlines()
    assert f"  + fallback.yaml:{number}  - condition: turn < 0" in ran.out.splitlines()


@on_both_databases
def test_json_has_all_of_it(oracle, database):
    stuck, looping = database.record("stuck twice", "no progress")
    ran = oracle("runs", "diff", stuck, looping, "--json")
    assert ran.code == 1
    data = json.loads(ran.out)
    assert (data["old"], data["new"], data["is_same"]) == (stuck, looping, False)
    assert (data["old_end"], data["new_end"]) == ("stuck", "no_progress")
    assert data["way"]["path"].endswith("sequence/condition")
    assert data["way"]["values"] == [{"name": "tool_calls", "old": 0, "new": 1}]


def test_a_run_that_is_not_there_is_an_error(oracle, database):
    (run,) = database.record("an answer")
    ran = oracle("runs", "diff", run, "nothing")
    assert (ran.code, ran.out, ran.err) == (1, "", "Error: there is no run 'nothing'\n")


def test_texts_of_a_run_cannot_reach_the_terminal_as_commands(oracle, database, tmp_path):
    (run,) = database.record("a tool")
    source = oracle("runs", "export", run).out.replace(run, "b" * 32)
    hostile = source.replace("Looking.", "\\u001b]0;title\\u0007\\u202eevil").replace("RetryPolicy", "\\u001b[31mred")
    (tmp_path / "other.json").write_text(hostile)
    assert oracle("runs", "import", "other.json").code == 0
    for command in (("diff", run, "bbbb"), ("export", "bbbb", "--format", "mermaid")):
        ran = oracle("runs", *command)
        assert not {"\x1b", "\x07", "\u202e"} & set(ran.out + ran.err), command
