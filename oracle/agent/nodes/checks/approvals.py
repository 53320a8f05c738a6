"""Judges whether what a rule wants approved is put to a person."""

from collections.abc import Iterator

from bt_runtime import Rule
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_PERSON, RUNS_CALLS
from oracle.agent.rules.vocabulary import IS_APPROVED

_ORDERS = frozenset(f"{how}{what}" for how in ("", "alternate_", "chain_") for what in ("precedence", "succession"))
"""The templates that say what comes before the second event."""
CODES = (Code("approval-missing", "A tool runs without the approval that a rule of the tree asks for."),)


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    nodes = flow.all_nodes.values()
    withheld = {name for node in nodes if node.kind == "withhold_tools" for name in getattr(node.settings, "tools", ())}
    for rule in flow.tree.rules:
        for tool in sorted(_wants_approval(rule) - withheld):
            for node in nodes:
                if flow.is_reached(node) and _runs(flow, node, tool):
                    message = f"{tool!r} would run here without the approval that the rule {rule.name!r} asks for"
                    yield warning(flow, node, "approval-missing", message, _hint(node, tool))


def _wants_approval(rule: Rule) -> set[str]:
    """The tools of which a rule says that each call, or the first one, comes after an approval."""
    tools = [set(event.names or ()) for event in rule.events if event.type == "tool"]
    if rule.template == "absence" and tools:
        return tools[0] if IS_APPROVED in names_in(rule.events[0].where or "true") else set()
    return tools[-1] if tools and rule.template in _ORDERS and rule.events[0].type == "approval" else set()


def _runs(flow: Flow, node: NodeDefinition, tool: str) -> bool:
    if node.has(RUNS_CALLS):
        return not any(each.covers(tool) for each in getattr(node.settings, "policy", ()))
    if not node.has(CALLS_HOST) or getattr(node.settings, "call", None) != tool:
        return False
    return not any(above.has(ASKS_PERSON) for above in flow.above(node))


def _hint(node: NodeDefinition, tool: str) -> str:
    return f"write 'approve: [{tool}]' in it" if node.has(RUNS_CALLS) else "put it into an 'approve'"
