"""The mistakes of one file at places of that file."""

from dataclasses import replace
from pathlib import Path

import pytest

from bt_runtime.text import Mistake, Place
from oracle.agent.nodes import REGISTRY
from oracle.features.editing.diagnosing import Diagnosis, FileMistake, diagnose, fixes_for, silence
from oracle.features.editing.lines import Lines
from tests.oracle.features.editing.desks import desk_in

WRONG = "tree: part\ninternal: true\nroot:\n  sequence:\n    - condition: turns > 1\n"


def errors(diagnosis: Diagnosis) -> list[FileMistake]:
    return [each for each in diagnosis.findings if each.mistake.is_error]


def test_a_mistake_has_the_end_of_its_word(tmp_path: Path) -> None:
    text = "tree: mine\nroot:\n  llm_turn: { timeout: 120 }\n"
    (found,) = diagnose(desk_in(tmp_path), text, tmp_path / "mine.yaml").findings
    assert found.mistake.message == "'llm_turn' has no setting 'timeout'"
    assert (found.mistake.place.column, found.mistake.end.column if found.mistake.end else 0) == (15, 22)


def test_a_mistake_in_an_included_tree_is_shown_where_it_is_included(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(WRONG)
    (tmp_path / "middle.yaml").write_text("tree: middle\nroot:\n  sequence: [{ subtree: part }]\n")
    text = "tree: mine\nroot:\n  sequence:\n    - classify_query\n    - subtree: middle\n"
    (found,) = diagnose(desk_in(tmp_path), text, tmp_path / "mine.yaml").findings
    assert (found.mistake.place.line, found.mistake.place.column) == (5, 16)
    assert found.mistake.message == "in the tree 'part', line 5: there is no blackboard key or parameter 'turns'"
    assert found.related is not None
    assert Path(found.related.place.file) == tmp_path / "part.yaml"
    assert (found.related.place.line, found.related.place.column) == (5, 18)


def test_a_text_that_is_not_saved_is_what_others_include(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text(WRONG)
    text = "tree: mine\nroot:\n  subtree: part\n"
    file = tmp_path / "mine.yaml"
    assert errors(diagnose(desk_in(tmp_path), text, file))
    corrected = {tmp_path.resolve() / "part.yaml": WRONG.replace("turns", "turn")}
    assert not errors(diagnose(desk_in(tmp_path, corrected), text, file))
    only_open = {tmp_path.resolve() / "new.yaml": "tree: new\nroot: finish\n"}
    assert not errors(diagnose(desk_in(tmp_path, only_open), "tree: mine\nroot:\n  subtree: new\n", file))


def test_the_name_must_be_that_of_the_file(tmp_path: Path) -> None:
    (found,) = diagnose(desk_in(tmp_path), "tree: yours\nroot: finish\n", tmp_path / "mine.yaml").findings
    assert "its file 'mine'" in found.mistake.message


def test_a_text_beyond_the_bound_is_one_mistake(tmp_path: Path) -> None:
    (found,) = diagnose(desk_in(tmp_path), "x" * 1_000_001, tmp_path / "mine.yaml").findings
    assert "larger than" in found.mistake.message


def warning_at(line: int) -> Mistake:
    return Mistake(Place("mine.yaml", line, 5), "never reached", code="never-reached", severity="warning")


SILENCED = {
    "at the end of its line": (
        "root:\n  sequence:\n    - finish\n",
        3,
        "root:\n  sequence:\n    - finish  # silence never-reached: why this is right here\n",
    ),
    "above a text that goes on": (
        'root:\n  condition: "turn > 3\n    and failed"\n',
        2,
        'root:\n  # silence never-reached: why this is right here\n  condition: "turn > 3\n    and failed"\n',
    ),
    "above a block of text": (
        "root:\n  condition: >\n    turn > 3\n    and failed\n",
        4,
        "root:\n  # silence never-reached: why this is right here\n  condition: >\n    turn > 3\n    and failed\n",
    ),
    "above a block of text in a list": (
        "root:\n  sequence:\n    - say: |\n        Hello.\n",
        4,
        "root:\n  sequence:\n    # silence never-reached: why this is right here\n    - say: |\n        Hello.\n",
    ),
}


@pytest.mark.parametrize(("text", "line", "after"), SILENCED.values(), ids=SILENCED)
def test_a_warning_is_silenced_with_a_reason(text: str, line: int, after: str) -> None:
    lines = Lines(text, file="mine.yaml")
    (edit,) = silence(warning_at(line), lines).edits
    assert text[: lines.index(edit.start)] + edit.text + text[lines.index(edit.end) :] == after


def test_only_warnings_can_be_silenced() -> None:
    error = replace(warning_at(1), severity="error")
    assert [fix.title for _, fix in fixes_for([error, warning_at(1)], "root: finish\n", REGISTRY)] == [
        "Silence never-reached with a reason"
    ]


DECLARED = {
    "without a blackboard": (
        "tree: mine\nroot:\n  condition: mine > 1\n",
        "tree: mine\nblackboard:\n  mine: { type: any }\nroot:\n  condition: mine > 1\n",
    ),
    "on a line of its own": (
        "tree: mine\nblackboard:\n  a: int\nroot:\n  condition: mine > a\n",
        "tree: mine\nblackboard:\n  mine: { type: any }\n  a: int\nroot:\n  condition: mine > a\n",
    ),
    "in braces": (
        "tree: mine\nblackboard: { a: int }\nroot:\n  set: { mine: a }\n",
        "tree: mine\nblackboard: { mine: { type: any }, a: int }\nroot:\n  set: { mine: a }\n",
    ),
}


@pytest.mark.parametrize(("text", "after"), DECLARED.values(), ids=DECLARED)
def test_a_key_that_does_not_exist_is_declared(text: str, after: str, tmp_path: Path) -> None:
    desk, file = desk_in(tmp_path), tmp_path / "mine.yaml"
    (found,) = diagnose(desk, text, file).findings
    fixes = [fix for _, fix in fixes_for([found.mistake], text, REGISTRY)]
    (edit,) = next(fix for fix in fixes if fix.title == "Declare 'mine' under 'blackboard:'").edits
    lines = Lines(text, file=str(file))
    assert text[: lines.index(edit.start)] + edit.text + text[lines.index(edit.end) :] == after
    assert errors(diagnose(desk, after, file)) == []
