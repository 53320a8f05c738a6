"""The part of docs/testing.md on rules: its examples are right and do what the page says."""

import re
import textwrap
from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from tests.acceptance.harness import ACTION_QUESTION, answers, calls, harness, says

DOCS = Path(__file__).parents[1] / "docs"
PAGES = [path.read_text(encoding="utf-8") for path in (DOCS / "testing.md", DOCS / "internals" / "testing.md")]
BLOCKS = [block for page in PAGES for block in re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)]
WHOLE = [block for block in BLOCKS if block.startswith("tree: ") and "\nrules:" in block]
RULES = [block.removeprefix("# a rule\n") for block in BLOCKS if block.startswith("# a rule\n")]


def in_a_tree(rule: str) -> str:
    item = textwrap.indent(rule, "    ").replace("    ", "  - ", 1)
    return f"tree: sample\nrules:\n{item}root: {{subtree: oracle}}\n"


async def run(text: str, script, question: str = ACTION_QUESTION):
    async with harness(script, wire=False) as it:
        name = text.partition("\n")[0].removeprefix("tree: ")
        it.write_tree(name, text)
        answered = await it.ask(question, tree=name)
        return answered, {path.name for path in it.vault.rglob("*.md")}


def test_the_page_has_one_tree_with_rules_and_some_rules():
    assert (len(WHOLE), len(RULES) > 3) == (1, True)


@pytest.mark.parametrize("rule", RULES, ids=[rule.partition("\n")[0] for rule in RULES])
def test_a_rule_of_the_page_has_no_mistake(rule: str):
    tree = TreeLibrary([trees.FOLDER], registry=REGISTRY).read_text(in_a_tree(rule))
    assert tree.rules[0].tree == "sample"


async def test_nothing_is_written_before_something_was_read():
    write = calls("vault_write", path="drafts/a.md", body="# A")
    answered, files = await run(WHOLE[0], [says("", write), answers()])
    [result] = answered.results
    assert result.tool_result == "Not run: A note is written only after something was read."
    assert "a.md" not in files


async def test_notes_are_written_below_drafts_alone_and_at_most_three_of_them():
    read = calls("vault_read", path="plans/release.md")
    writes = [calls("vault_write", path=f"drafts/{name}.md", body="# N") for name in "abcd"]
    elsewhere = calls("vault_write", path="plans/new.md", body="# N")
    script = [says("", read), says("", elsewhere, *writes[:3]), says("", writes[3]), answers()]
    answered, files = await run(WHOLE[0], script)
    assert {"a.md", "b.md", "c.md"} <= files
    assert not files & {"d.md", "new.md"}
    assert answered.reason == "error"
    assert answered.failures[0].error.startswith("A run writes at most three notes.")


async def test_an_expensive_run_is_reported_before_done():
    (rule,) = [rule for rule in RULES if "expensive" in rule]
    answered, _ = await run(in_a_tree(rule.replace("40000", "10")), [answers()])
    assert answered.types[-2:] == ["system", "done"]
