"""The kinds of faults that a tree names are tried, each once, and one that it does not name."""

import re
from pathlib import Path

import pytest

from tests.oracle.features.verifier.verified import tree_of, verified

PAGE = (Path(__file__).parents[4] / "docs" / "models.md").read_text(encoding="utf-8")
TREE = next(text for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if text.startswith("tree: "))


def result(text):
    return verified(tree_of(text), turns=2).result("rule down_is_no_end")


def test_a_provider_that_is_down_ends_no_query_while_the_other_one_answers():
    assert result(TREE).verdict == "proven"


@pytest.mark.parametrize("kind", ["overloaded", "unreachable", "timeout", "auth"])
def test_a_branch_that_leaves_out_a_kind_of_fault_is_refuted_with_that_kind(kind):
    found = result(TREE.replace('model_fault != "refused"', f'model_fault not in ["refused", "{kind}"]'))
    assert found.verdict == "refuted"
    said = [step.text for step in found.story.steps]
    assert any(f"({kind})" in text or kind in ("overloaded", "timeout") for text in said), said
