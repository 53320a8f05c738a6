"""Rules where nothing enforces them: they can be declared, and a tree that wants more is refused when it is read."""

import sys

import pytest

from bt_runtime import TreeFileError, TreeLibrary
from oracle.agent.control.opening import open_agent
from oracle.agent.conversations.memory import MemoryConversations
from oracle.agent.equipment import Equipment
from oracle.agent.nodes import REGISTRY
from oracle.agent.query import Query
from oracle.core.errors import TreeAuthorError
from oracle.decision import AgentConfig
from oracle.runs.repeating import StillClock, UnaskedModel
from oracle.server.settings.reading import read_settings
from oracle.server.wiring.agent import tree_library
from oracle.tools import ToolRegistry

TREE = """\
tree: careful
rules:
  - name: few_writes
    text: A query writes at most three notes.
    at_most: { tool: any, times: 3 }
    enforce: stop
root:
  stop: completed
"""
WHY = "the rule 'few_writes' cannot be enforced: the feature 'rules' is left out, or not installed"


@pytest.fixture
def left_out(monkeypatch):
    monkeypatch.setenv("ORACLE_FEATURES", "-rules,-judging,-verifier,-explaining")


@pytest.mark.usefixtures("left_out")
def test_a_tree_that_wants_a_rule_enforced_is_refused_when_it_is_read():
    library = tree_library(read_settings())
    with pytest.raises(TreeFileError) as caught:
        library.read_text(TREE)
    [mistake] = caught.value.mistakes
    assert (mistake.message, mistake.place.line) == (WHY, 6)
    assert mistake.hint == "remove 'enforce': the rule can be verified and judged without"


@pytest.mark.usefixtures("left_out")
def test_rules_that_are_only_declared_are_read_and_the_shipped_trees_with_them():
    library = tree_library(read_settings())
    [rule] = library.read_text(TREE.replace("    enforce: stop\n", "")).rules
    assert rule.enforce is None
    assert library.load("oracle").rules


@pytest.mark.usefixtures("left_out")
def test_trees_check_reports_it(oracle, tmp_path):
    file = tmp_path / "careful.yaml"
    file.write_text(TREE)
    checked = oracle("trees", "check", str(file))
    assert checked.code == 1
    assert WHY in checked.out + checked.err


def test_a_host_that_has_read_such_a_tree_cannot_open_it_where_nothing_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "oracle.features.rules.enforcing", None)  # as if there were no such module
    tree = TreeLibrary((), registry=REGISTRY).read_text(TREE)
    query = Query("run", "Where is auth?", "local", "conversation", AgentConfig(), tree="careful")
    equipment = Equipment(model=UnaskedModel("none"), tools=ToolRegistry([]), clock=StillClock())
    store = MemoryConversations(new_id=lambda: "conversation")
    with pytest.raises(TreeAuthorError, match="rules of 'careful' need the feature 'rules', which is not"):
        open_agent(query, tree, equipment=equipment, store=store)
    assert open_agent(query, tree, equipment=equipment, store=store, rules="none").rules is None
