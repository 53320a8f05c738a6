"""Each hint that says what to write has a fix, and the file without the mistake is what the fix makes of it."""

from pathlib import Path

import pytest

from bt_runtime import Registry, TreeLibrary
from bt_runtime.analysis.files import check_text
from bt_runtime.language.kind import HostAction
from oracle.agent.nodes import REGISTRY

ACTIONS = {"search": HostAction(("query", "limit"), frozenset({"query"}))}
WITH_ACTIONS: Registry = REGISTRY.with_actions(ACTIONS)

FIXED = {
    "a field": ("tree: mine\nrot: finish\n", "tree: mine\nroot: finish\n"),
    "the name of the file": ("tree: yours\nroot: finish\n", "tree: mine\nroot: finish\n"),
    "a type": ("blackboard: { a: it }\n", "blackboard: { a: int }\n"),
    "a field of a declaration": ("blackboard: { a: { typ: int } }\n", "blackboard: { a: { type: int } }\n"),
    "a kind": ("root: finsh\n", "root: finish\n"),
    "a kind with settings": ("root: { condtion: turn }\n", "root: { condition: turn }\n"),
    "a setting": ("root: { llm_turn: { timeout: 1 } }\n", "root: { llm_turn: { timeout_s: 1 } }\n"),
    "a setting in quotes": ('root: { llm_turn: { "timeout": 1 } }\n', "root: { llm_turn: { timeout_s: 1 } }\n"),
    "a choice": ("root: { stop: complete }\n", "root: { stop: completed }\n"),
    "a yes": ("root: { llm_turn: { visible: yes } }\n", "root: { llm_turn: { visible: true } }\n"),
    "an off": ("root: { llm_turn: { tools: off } }\n", "root: { llm_turn: { tools: false } }\n"),
    "a number for a text": ("root: { say: 3 }\n", 'root: { say: "3" }\n'),
    "a name in an expression": ("root: { condition: turns > 1 }\n", "root: { condition: turn > 1 }\n"),
    "a name in a quoted expression": ('root: { condition: "1 < turns" }\n', 'root: { condition: "1 < turn" }\n'),
    "a function": ("root: { condition: lenn(hint) > 1 }\n", "root: { condition: len(hint) > 1 }\n"),
    "an operator": ("root: { condition: failed && cut_off }\n", "root: { condition: failed and cut_off }\n"),
    "an equals sign": ("root: { condition: turn = 1 }\n", "root: { condition: turn == 1 }\n"),
    "a key that is set": ("root: { set: { hnt: 1 } }\n", "root: { set: { hint: 1 } }\n"),
    "a key for a result": ("root: { llm_turn: { into: hnt } }\n", "root: { llm_turn: { into: hint } }\n"),
    "a tree": ("root: { subtree: falback }\n", "root: { subtree: fallback }\n"),
    "a parameter of a tree": (
        "root: { subtree: { tree: remind, with: { off: x } } }\n",
        "root: { subtree: { tree: remind, with: { of: x } } }\n",
    ),
    "a required parameter": (
        "root: { subtree: remind }\n",
        'root: { subtree: { tree: remind, with: { of: "sample" } } }\n',
    ),
    "an action": (
        "root: { action: { call: serch, with: { query: hint } } }\n",
        "root: { action: { call: search, with: { query: hint } } }\n",
    ),
    "an argument": (
        "root: { action: { call: search, with: { query: hint, limt: 1 } } }\n",
        "root: { action: { call: search, with: { query: hint, limit: 1 } } }\n",
    ),
    "a required argument": (
        "root: { action: search }\n",
        "root: { action: { call: search, with: { query: \"''\" } } }\n",
    ),
    "a required argument beside others": (
        "root: { action: { call: search, with: { limit: 1 } } }\n",
        "root: { action: { call: search, with: { query: \"''\", limit: 1 } } }\n",
    ),
    "a required setting": ("root: { condition: { name: x } }\n", 'root: { condition: { when: "", name: x } }\n'),
    "a tab": ("root:\n\tfinish\n", "root:\n  finish\n"),
}


@pytest.mark.parametrize(("wrong", "right"), FIXED.values(), ids=FIXED)
def test_a_hint_can_be_followed_by_an_editor(wrong: str, right: str, tmp_path: Path) -> None:
    (tmp_path / "remind.yaml").write_text("tree: remind\nparameters: { of: str }\nroot: { set: { hint: of } }\n")
    (tmp_path / "fallback.yaml").write_text("tree: fallback\nroot: finish\n")
    library = TreeLibrary([tmp_path], registry=WITH_ACTIONS)
    report = check_text(library, tmp_path / "mine.yaml", wrong)
    fixes = [fix for mistake in report.mistakes for fix in mistake.fixes]
    assert fixes, str(report)
    (edit,) = fixes[0].edits
    lines = wrong.split("\n")
    assert edit.start.line == edit.end.line
    row = lines[edit.start.line - 1]
    lines[edit.start.line - 1] = row[: edit.start.column - 1] + edit.text + row[edit.end.column - 1 :]
    assert "\n".join(lines) == right


def test_a_hint_has_no_fix_where_its_word_does_not_stand(tmp_path: Path) -> None:
    folded = 'tree: mine\nroot:\n  condition: "turn > 1 and\n    turns"\n'
    (mistake,) = check_text(TreeLibrary([], registry=REGISTRY), tmp_path / "mine.yaml", folded).mistakes
    assert mistake.hint == "did you mean 'turn'?"
    assert mistake.fixes == ()
