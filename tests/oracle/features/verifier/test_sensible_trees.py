"""No sensible tree is refuted: those that were written without knowledge of the verifier, and the documented ones."""

import re
from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from tests.oracle.agent.nodes.test_authored_trees import GOOD
from tests.oracle.features.verifier.verified import verified

PAGE = Path(__file__).parents[4] / "docs" / "control.md"
TREE = re.compile(r"^```yaml\n(tree: (\S+)\n.*?)^```", re.DOTALL | re.MULTILINE)
DOCUMENTED = {name: text for text, name in TREE.findall(PAGE.read_text(encoding="utf-8"))}
WHOLE = [name for name, text in DOCUMENTED.items() if "parameters:" not in text and "internal:" not in text]
SENSIBLE = {**GOOD, **dict.fromkeys(WHOLE, DOCUMENTED)}
STRIDE = 8
"""`make test` and `make check` verify one of so many, `make soak` the others."""
COSTLY = {"empty_responses", "half_way", "timeout_above_the_guard"}
"""Of those of `make check`, what takes more than half a second."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.soak)
        if at % STRIDE
        else pytest.param(name, marks=pytest.mark.long("explores a whole tree"))
        if name in COSTLY
        else name
        for at, name in enumerate(["one_round", *sorted(SENSIBLE.keys() - {"one_round"})])
    ],
)
def test_a_sensible_tree_is_not_refuted(name, tmp_path):
    for tree, text in SENSIBLE[name].items():
        (tmp_path / f"{tree}.yaml").write_text(text, encoding="utf-8")
    report = verified(TreeLibrary([tmp_path, trees.FOLDER], registry=REGISTRY).load(name), turns=2, states=40)
    assert report.verdict != "refuted", "\n".join(report.lines())
