"""Every built-in kind keeps the contract of its docstring's form, and its snippet runs."""

import re

import pytest

from bt_runtime import BUILTIN_KINDS, Status, TreeLibrary
from bt_runtime.testing import FakeHost, Scripted, registry_of, run_tree
from tests.bt_runtime.running import tree

KINDS = [pytest.param(kind, id=kind.name) for kind in (*BUILTIN_KINDS, Scripted.kind)]
SNIPPET = re.compile(r"```yaml\n(.*?)```", re.DOTALL)
GREET = """\
tree: greet
parameters: {times: {type: int, default: 1}}
blackboard: {count: {type: int, default: 0}, greeted: {type: int, default: 0, private: true}}
root: {set: {greeted: greeted + times, count: count + times}}
"""
ENDS = {
    "selector": Status.SUCCESS,
    "inverter": Status.FAILURE,
    "force_failure": Status.FAILURE,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_docstring_of_a_kind_says_when_it_returns_which_status(kind):
    assert kind.summary.endswith(".")
    assert kind.name == "subtree" or re.search("SUCCESS|FAILURE", kind.doc)
    if kind.waits:
        assert "RUNNING" in kind.doc


@pytest.mark.parametrize("kind", KINDS)
async def test_the_snippet_of_a_kind_runs(kind, tmp_path):
    (snippet,) = SNIPPET.findall(kind.doc)
    assert snippet.startswith(f"{kind.name}:")
    (tmp_path / "greet.yaml").write_text(GREET)
    (tmp_path / "demo.yaml").write_text(tree(snippet))
    registry = registry_of()
    host = FakeHost({"vault_search": ["a note"]})
    run = await run_tree(TreeLibrary([tmp_path], registry=registry).load("demo"), registry=registry, host=host)
    assert run.tree.root.definition.kind == kind.name
    assert run.result.errors == ()
    assert run.result.error is None
    assert run.status is ENDS.get(kind.name, Status.SUCCESS)
