"""`oracle trees verify`: verdicts, exit codes, and counterexamples as files."""

import json

import pytest

from oracle.cli import main

HASTY = """tree: hasty
root:
  sequence: [classify_query, compose_prompt, llm_turn]
"""
COUNTING = """tree: counting
blackboard: { a: { type: int, default: 0 } }
root:
  loop: { child: { sequence: [force_success: llm_turn, set: { a: a + tool_calls + 1 }] } }
"""
ADDING = """tree: adding
blackboard: { a: { type: int, default: 0 } }
root:
  loop:
    guards: [cancelled, turn_budget, token_budget, deadline]
    child: { sequence: [llm_turn: { tools: false }, set: { a: a + turn }] }
"""


@pytest.fixture
def verify(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(text, *options):
        name = f"{text.split()[1]}.yaml"
        (tmp_path / name).write_text(text)
        code = main(["trees", "verify", name, *options])
        return code, capsys.readouterr()

    return run


def test_a_refuted_property_exits_with_1_and_tells_a_story(verify):
    code, printed = verify(HASTY, "--turns", "1")
    assert code == 1
    assert "REFUTED      reason" in printed.out
    assert "1. The user asks:" in printed.out
    assert "llm_turn (hasty.yaml:3) SUCCESS" in printed.out
    assert "explored: up to 1 turn," in printed.out


def test_a_bound_that_is_reached_exits_with_3(verify):
    code, printed = verify(COUNTING, "--turns", "20", "--seconds", "0")
    assert code == 3
    assert printed.out.count("stopped at 0 s of CPU time") == 2  # for all properties, and of the exploration
    assert printed.out.splitlines()[-1] == "hint: raise --seconds"


def test_a_bound_that_is_reached_in_a_later_turn_says_for_how_many_the_rest_is_proven(verify):
    code, printed = verify(ADDING, "--turns", "3", "--states", "8")
    assert code == 3
    assert "  not decided: stopped at 8 states; proven for up to 2 turns" in printed.out.splitlines()
    assert printed.out.splitlines()[-1] == "hint: raise --states, or explore fewer turns with --turns 2"


def test_the_verdicts_as_json(verify):
    code, printed = verify(HASTY, "--turns", "1", "--json")
    [tree] = json.loads(printed.out)["trees"]
    assert (code, tree["tree"], tree["verdict"], tree["bounds"]) == (
        1,
        "hasty",
        "refuted",
        {"turns": 1, "stopped_at": None},
    )


def test_counterexamples_are_written_to_files(verify, tmp_path):
    verify(HASTY, "--turns", "1", "--scenario", "found", "--recording", "found.json")
    assert "tree: hasty" in (tmp_path / "found" / "hasty.reason.yaml").read_text()
    assert json.loads((tmp_path / "found.json").read_text())["tree"] == "hasty"


def test_a_tree_with_mistakes_is_not_verified(verify):
    code, printed = verify("tree: wrong\nroot: { nothing: 1 }\n")
    assert code == 1
    assert "wrong.yaml:2" in printed.err
