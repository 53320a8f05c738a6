"""What the nodes say that offer tools."""

from typing import Any

from bt_runtime import Status, Words
from bt_runtime.text.phrases import counted
from oracle.agent.nodes.base import AgentNode


def offer_words(node: AgentNode[Any]) -> Words:
    """How many tools are offered now, or why no further ones."""
    offered = counted(len(node.agent.offered), "tool")
    if node.status is Status.SUCCESS:
        return Words(f"now offered: {offered}", f"More tools are offered: {offered} now.")
    if not node.agent.will_run_tools():
        return Words(f"still offered: {offered}", "Nothing is offered before a turn whose calls are not run.")
    return Words(f"offered already: {offered}", "All of these tools are offered already.")
