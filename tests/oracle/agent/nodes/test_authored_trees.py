"""The judgment of trees that were written without knowledge of the checker: sensible ones, and plausible mistakes.

Each file of `authored_trees` holds many trees, separated by `=== NAME`, with `--- NAME` before a further file of the
same case. `# <-- CODE` stands on the line that must have the warning.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from bt_runtime.analysis.files import check_files
from bt_runtime.analysis.flow import flow_of
from bt_runtime.analysis.host import Budget, OverBudgetError
from oracle.agent.nodes import REGISTRY
from tests.support.shares import some

FOLDER = Path(__file__).parents[3] / "data" / "authored_trees"
LIBRARY = TreeLibrary([trees.FOLDER], registry=REGISTRY)
MARK = re.compile(r" *# <-- ([\w-]+)$", re.MULTILINE)


def cases(sort: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The name of each case of a sort, and its files."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob(f"{sort}*.txt")))
    for block in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        case, _, body = block.partition("\n")
        first, *others = re.split(r"^--- (\w+)\n", body, flags=re.MULTILINE)
        files = {case: first, **dict(zip(others[::2], others[1::2], strict=True))}
        yield case, {tree: f"tree: {tree}\n{text}" for tree, text in files.items()}


def said(files: dict[str, str], folder: Path) -> set[tuple[str, int, str]]:
    """File, line and code of everything that the check says."""
    for tree, text in files.items():
        (folder / f"{tree}.yaml").write_text(MARK.sub("", text), encoding="utf-8")
    report = check_files(LIBRARY, [folder])
    return {(Path(each.place.file).stem, each.place.line, each.code) for each in (*report.mistakes, *report.warnings)}


BAD, GOOD = dict(cases("bad")), dict(cases("good"))


@pytest.mark.parametrize("name", some(BAD))
def test_a_plausible_mistake_has_its_warning_on_its_line(name: str, tmp_path: Path) -> None:
    marked = {
        (tree, number, match[1])
        for tree, text in BAD[name].items()
        for number, line in enumerate(text.splitlines(), 1)
        if (match := MARK.search(line))
    }
    assert marked
    assert marked <= said(BAD[name], tmp_path)


@pytest.mark.parametrize("name", some(GOOD))
def test_a_sensible_tree_has_no_warning(name: str, tmp_path: Path) -> None:
    found = said(GOOD[name], tmp_path)
    assert {each for each in found if each[2] != "key-not-delivered"} == set()  # programs of their own run some of them


@pytest.mark.long("walks to the bound twice")
def test_the_walks_of_one_check_stop_at_a_common_bound(tmp_path: Path) -> None:
    body = "{ set: { c0: c0 + 1 } }"
    for at in range(8):
        rounds = f"sequence: [{body}, set: {{ c{at}: c{at} + 1 }}, once: {{ set: {{ c{at + 1}: c{at + 1} + 1 }} }}]"
        body = f"{{ loop: {{ until: c{at} > {at + 3}, child: {{ {rounds} }} }} }}"
    keys = "".join(f"  c{at}: {{ type: int, default: 0 }}\n" for at in range(9))
    path = tmp_path / "nested.yaml"
    path.write_text(f"tree: nested\nblackboard:\n{keys}root:\n  sequence:\n    - {body}\n    - llm_turn\n")
    (tree,) = [file.tree for file in check_files(LIBRARY, [path]).files]
    assert tree is not None
    budget = Budget()
    with pytest.raises(OverBudgetError):
        flow_of(tree, registry=REGISTRY, budget=budget)
    with pytest.raises(OverBudgetError):
        flow_of(tree, registry=REGISTRY, budget=budget)
