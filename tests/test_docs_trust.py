"""docs/trust.md: its trees are right, and do what the page says."""

import re
from pathlib import Path

import pytest

import trees
from bt_runtime import TreeLibrary
from oracle.agent.nodes import REGISTRY
from oracle.agent.nodes.events import ACTION_LABELS, LABELS
from oracle.agent.nodes.tool_calls import RunToolsSettings
from oracle.tools import tool
from oracle.tools.labels import labels_of
from oracle.tools.protocol import READS, WRITES
from tests.acceptance.harness import CODE_QUESTION, answers, calls, harness, says

PAGE = (Path(__file__).parents[1] / "docs" / "trust.md").read_text(encoding="utf-8")
LEAKS = PAGE.partition("## Nothing leaks\n")[2].partition("\n## ")[0]
[TREE] = re.findall(r"^```yaml\n(tree: guarded\n.*?)^```$", LEAKS, re.DOTALL | re.MULTILINE)
[POLICY] = re.findall(r"^run_tools: (.*)$", LEAKS, re.MULTILINE)


@tool(group="tickets", name="tickets.reply", when_to_use="Now.", query_types="always")
async def reply(text: str) -> str:
    """Reply to a ticket."""
    return f"Replied: {text}"


async def asked(text: str, decision: str = "refuse") -> list[str]:
    script = [says("", calls("list_files")), says("", calls("tickets.reply", text="Hello")), answers()]
    async with harness(script, wire=False, tools=[reply]) as it:
        it.write_tree("guarded", text)
        if POLICY in text:
            it.edit_tree("use_tools", "hold_back_calls, run_tools]", f"hold_back_calls, run_tools: {POLICY}]")
        underway = await it.start(CODE_QUESTION, tree="guarded", decide=lambda _: {"decision": decision})
        return [result.tool_result for result in (await underway.result()).results]


async def test_the_tree_of_the_page_refuses_what_would_leak():
    assert (await asked(TREE))[-1] == "Not run: After untrusted text was read, nothing is sent without an approval."


@pytest.mark.parametrize(
    ("decision", "result"), [("approve", "Replied: Hello"), ("refuse", "Not run: a person refused")]
)
async def test_a_person_decides_where_the_policy_of_the_page_stands(decision, result):
    assert (await asked(f"{TREE}# {POLICY}\n", decision))[-1].startswith(result)


def test_every_label_is_named_and_every_word_is_one():
    assert all(f"`reads: {label}`" in LEAKS for label in READS)
    assert all(f"`writes: {label}`" in LEAKS for label in WRITES)
    assert all(f"`{word}`" in LEAKS for word in (*READS.values(), *WRITES.values()))
    assert ACTION_LABELS == "tool_labels"
    assert all(f"`{label}`" in LABELS for label in (*READS, *WRITES))
    assert labels_of({"reads": "untrusted", "writes": "outward"}) == {"untrusted", "outward"}


def test_the_page_has_a_tree_without_mistakes_and_a_policy():
    tree = TreeLibrary([trees.FOLDER], registry=REGISTRY).read_text(TREE)
    assert [rule.template for rule in tree.rules if rule.name == "nothing_leaks"] == ["not_succession"]
    [policy] = RunToolsSettings(approve=[{"tool": "*", "writes": "outward", "after": "untrusted"}]).policy
    assert (policy.writes, policy.after) == ("outward", "untrusted")
