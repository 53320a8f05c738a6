"""Warnings about the blackboard in plausible mistakes of authors, and none in the trees of the documentation."""

import re
from pathlib import Path

import pytest

import trees
from bt_runtime import HostAction, TreeLibrary
from bt_runtime.analysis.files import check_files
from bt_runtime.text import Mistake
from oracle.agent.nodes import REGISTRY
from tests.bt_runtime.analysis.judging import BOARD_CODES
from tests.oracle.agent.nodes.running import tree_of

ROOT = Path(__file__).parents[4]
BROKEN = ROOT / "tests" / "data" / "broken_trees"
TEXT = HostAction(None, result="str")
LIBRARY = TreeLibrary(
    [trees.FOLDER], registry=REGISTRY.with_actions(dict.fromkeys(("search_code", "list_files", "read_note"), TEXT))
)


def said(folder: Path) -> list[Mistake]:
    """The warnings about the blackboard in the trees of a folder."""
    report = check_files(LIBRARY, [folder])
    assert report.files
    return [warning for warning in report.warnings if warning.code in BOARD_CODES]


@pytest.mark.parametrize(
    ("name", "line", "column", "code"),
    [
        ("adding_number_to_text", 12, 31, "operation-fails"),
        ("host_key_before_its_writer", 5, 18, "key-read-early"),
        ("into_wrong_type", 9, 41, "wrong-type"),
        ("null_compared", 17, 43, "key-never-written"),
        ("parallel_writers", 12, 58, "parallel-writers"),
        ("subtree_default_lost", 5, 3, "default-lost"),
        ("parameter_never_used", 4, 3, "parameter-unused"),
    ],
)
def test_a_mistake_with_the_blackboard_gets_its_warning_at_its_place(
    name: str, line: int, column: int, code: str
) -> None:
    found = [(each.place.line, each.place.column, each.code) for each in said(BROKEN / f"{name}.yaml")]
    assert (line, column, code) in found


def test_a_condition_whose_key_is_read_too_early_has_one_warning() -> None:
    (file,) = check_files(LIBRARY, [BROKEN / "host_key_before_its_writer.yaml"]).files
    codes = [warning.code for warning in file.warnings]
    assert "key-read-early" in codes
    assert "condition-always-false" not in codes


def test_the_shipped_trees_have_no_warning() -> None:
    assert said(trees.FOLDER) == []


def test_the_examples_of_the_documentation_have_no_warning(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "control.md").read_text(encoding="utf-8")
    for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)):
        whole = re.match(r"tree: (\w+)\n", block)
        if whole:
            (tmp_path / f"{whole[1]}.yaml").write_text(block, encoding="utf-8")
        elif block.startswith("# a fragment\n"):
            sample = tree_of(block.removeprefix("# a fragment\n")).replace("tree: sample", f"tree: sample_{number}")
            (tmp_path / f"sample_{number}.yaml").write_text(sample, encoding="utf-8")
    keys_of_samples = {"nothing reads or writes 'text'"}
    assert [str(each) for each in said(tmp_path) if each.message not in keys_of_samples] == []
