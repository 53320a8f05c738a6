"""Which rows an edit changes, and `oracle trees explain` and `trees compare` that print it."""

import json

import pytest

from oracle.agent.nodes import REGISTRY
from oracle.cli import main
from oracle.core.logs import quiet
from oracle.features.explaining.changes import Change, changes_of, nodes_of
from oracle.features.explaining.situations import Situation
from oracle.features.explaining.table import Case, Row, Table, table_of
from oracle.features.explaining.telling import Told
from tests.oracle.features.explaining.test_explaining import ASKING, STEP, read

RULE = """rules:
  - name: writes_are_approved
    text: Nothing is written that nobody has approved.
    absence: { tool: vault_write, where: not is_approved }
"""
UNASKED = STEP.replace(
    "        - say:",
    "        - action: { call: vault_write, with: { path: \"'log.md'\", body: question } }\n        - say:",
)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(capsys, *arguments):
    code = main(["trees", *arguments])
    return code, capsys.readouterr()


@pytest.mark.long("plays all situations of two trees")
def test_a_change_says_what_was_and_what_is_and_which_rule_speaks_of_it(tmp_path):
    with quiet():
        old, new = (table_of(read(tmp_path, text + RULE), REGISTRY) for text in (STEP, UNASKED))
    changes = {name: change for change in changes_of(old, new) for name in change.row.ids}
    refused = changes["refused"]
    assert refused.in_short == "was not written, now written"
    assert refused.rules == ("writes_are_approved",)
    assert refused.row.cases[0].broken == ("writes_are_approved",)
    assert "approved" not in changes
    assert changes_of(old, old) == ()


def test_a_situation_that_only_one_tree_can_meet_is_a_change_and_one_that_was_not_played_is_none(tmp_path):
    with quiet():
        tree = read(tmp_path, STEP)
        played = table_of(tree, REGISTRY, seconds=0)
    assert changes_of(played, Table(tree, (), ())) == ()


@pytest.mark.long("plays all situations of trees")
def test_compare_prints_the_rows_and_exits_by_those_that_are_allowed(tmp_path, capsys):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/kept_note.yaml").write_text(STEP + RULE)
    (tmp_path / "kept_note.yaml").write_text(UNASKED + RULE)
    files = ("compare", "a/kept_note.yaml", "kept_note.yaml", "--runs", "0")
    code, printed = run(capsys, *files)
    assert (code, printed.err) == (0, "")
    assert (
        "- When a person refuses or refuses and the model calls again and again; nobody decides in time:" in printed.out
    )
    assert ": was not written, now written\n" in printed.out
    assert "rows: refused, expired, refused-again; rules: writes_are_approved (BROKEN)\n" in printed.out
    code, printed = run(capsys, *files, "--format", "markdown", "--allow", "refused")
    assert code == 1
    assert "not allowed to change: " in printed.err
    assert "refused," not in printed.err
    assert "**was not written, now written**" in printed.out
    assert run(capsys, *files, "--allow", "all")[0] == 0
    assert run(capsys, *files, "--allow", "none")[0] == 1
    rows = json.loads(run(capsys, *files, "--json")[1].out)["rows"]
    assert {"ids", "when", "change", "old", "new", "rules"} == set(rows[0])
    code, printed = run(capsys, "compare", "kept_note.yaml", "kept_note.yaml", "--runs", "0", "--allow", "none")
    assert (code, printed.out) == (0, "")
    (tmp_path / "kept_note.yaml").write_text(STEP.replace("selector:", "selector:\n        - set: { hint: \"''\" }"))
    code, printed = run(capsys, *files)
    assert "\nNo situation reaches any more: approve (kept_note.yaml:9), say (kept_note.yaml:12).\n" in printed.out


def changed(tmp_path, text, edited):
    """What the edit of a text changes: in short, by the ids of the situations; and what is said of the nodes."""
    with quiet():
        tables = [table_of(read(tmp_path, each), REGISTRY) for each in (text, edited)]
    return {name: change.in_short for change in changes_of(*tables) for name in change.row.ids}, list(nodes_of(*tables))


@pytest.mark.long("plays all situations of two trees")
def test_where_no_figure_differs_the_parts_are_named_that_only_one_tree_has(tmp_path):
    edited = ASKING.replace("- llm_turn", "- llm_turn: { hint: Be brief. }\n            - notify: Nearly done.")
    found, nodes = changed(tmp_path, ASKING, edited)
    assert found["answers"] == found["tool"] == "now told “Be brief.”, the notice “Nearly done.”"
    assert found["down"] == "now told “Be brief.”"
    assert [each.split()[0] for each in nodes[0].partition(": ")[2].split(", ")] == ["sequence", "llm_turn", "notify"]


def test_an_edit_deep_in_a_tree_is_named(tmp_path):
    deep = "tree: deep\nroot:\n" + "".join(f"{'  ' * at}  sequence:\n{'  ' * at}  -\n" for at in range(1, 40))
    old, new = (Table(read(tmp_path, f'{deep}{" " * 84}say: "It\'s {word}"\n'), (), ()) for word in ("old", "new"))
    assert list(nodes_of(old, new)) == ["\nEdited nodes, and how many situations reach them: say (my.yaml:81) in 0."]


def test_a_change_of_many_situations_names_some_of_them():
    told = Told("turn", ("turn",), "the answer", ("the answer",), "completed", {}, None, frozenset())
    cases = tuple(Case(Situation(str(at), f"the model says {at}"), told) for at in range(7))
    assert (
        Change(Row(cases), Row(cases), "", ()).when
        == "the model says 0, says 1, says 2, says 3 or says 4 (and in 2 more)"
    )
    assert Change(None, Row(cases[:2]), "", ()).when == "the model says 0 or says 1"


@pytest.mark.long("plays all situations of two trees")
def test_what_was_moved_or_removed_is_named_by_the_node_above_it_even_if_no_situation_differs(tmp_path):
    swapped = changed(tmp_path, ASKING, ASKING.replace("cancelled, turn_budget: 5", "turn_budget: 5, cancelled"))
    assert swapped[0] == {}
    assert swapped[1][0].startswith("\nEdited nodes, and how many situations reach them: loop (my.yaml:6) in ")
    branch = '                - sequence: [condition: signal == "need_turn", grant_turn]\n'
    found, nodes = changed(tmp_path, ASKING, ASKING.replace(branch, "").replace("[vault_write]", "[thread_push]"))
    assert found["need-turn-always"] == "was 5 turns, now 1 turn; was max_iterations, now completed"
    assert found["need-turn"] == "cannot come about any more"
    assert [each for each in ("selector (my.yaml:12) in ", "run_tools (my.yaml:13) in ") if each not in nodes[0]] == []
    assert nodes[0].count(" in ") == 2


@pytest.mark.long("plays all situations of a tree")
def test_the_command_prints_each_format_and_refuses_a_tree_with_mistakes(tmp_path, capsys):
    (tmp_path / "noted.yaml").write_text(ASKING)
    assert run(capsys, "explain", "noted.yaml")[1].out.startswith("noted\nTools of the first turn")
    code, printed = run(capsys, "explain", "noted.yaml", "--format", "json")
    assert (code, json.loads(printed.out)["tree"]) == (0, "noted")
    (tmp_path / "noted.yaml").write_text(ASKING.replace("llm_turn", "lmm_turn"))
    code, printed = run(capsys, "explain", "noted.yaml")
    assert code == 1
    assert "did you mean 'llm_turn'" in printed.err
    assert run(capsys, "explain", "use_tools")[0] == 1
