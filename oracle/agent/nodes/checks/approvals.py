"""Judges what is put to people and expected from outside, and whether what the tree reports of its work is so."""

from collections.abc import Iterator
from itertools import pairwise

from bt_runtime import Rule
from bt_runtime.analysis.accesses import own_keys
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.conditions import names_in
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.keys import at_declaration
from bt_runtime.analysis.states import EndStates, States
from bt_runtime.analysis.transfers import child_of, merged
from bt_runtime.analysis.walk import Walk
from bt_runtime.analysis.warnings import steps_of, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.flow import Case
from bt_runtime.language.kind import CALLS_HOST
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_PERSON, RUNS_CALLS
from oracle.agent.rules.vocabulary import IS_APPROVED

_ORDERS = frozenset(f"{how}{what}" for how in ("", "alternate_", "chain_") for what in ("precedence", "succession"))
"""The templates that say what comes before the second event."""
CODES = (
    Code("approval-missing", "A tool runs without the approval that a rule of the tree asks for."),
    Code("key-not-delivered", "A key is declared with 'from: delivery', and no call of the service delivers one."),
    Code("question-without-end", "An 'ask_user' waits for ever where nobody answers."),
    Code("write-hidden", "A 'force_success' hides that a tool failed, and the next step reports what it did."),
)


def approve(walk: Walk, node: NodeDefinition, states: States) -> EndStates:
    """The flow of `approve`: the child, or a refusal; what others write meanwhile may have changed."""
    asked = walk.ends(node, states, (Case("success"), Case("failure"), Case("waiting")))
    ends = walk.paths(child_of(node), asked.success)
    return merged(walk, ends.success, (*ends.failure, *asked.failure), (*ends.waiting, *asked.waiting))


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    yield from _expects(flow)
    nodes = flow.all_nodes.values()
    withheld = {name for node in nodes if node.kind == "withhold_tools" for name in getattr(node.settings, "tools", ())}
    for rule in flow.tree.rules:
        for tool in sorted(_wants_approval(rule) - withheld):
            for node in nodes:
                if flow.is_reached(node) and _runs(flow, node, tool):
                    message = f"{tool!r} would run here without the approval that the rule {rule.name!r} asks for"
                    yield warning(flow, node, "approval-missing", message, _hint(node, tool))


def _expects(flow: Flow) -> Iterator[Mistake]:
    """Keys that nothing delivers, questions without an end, and reports of what may have failed."""
    for declared in own_keys(flow):
        if declared.key.deliverable:
            message = f"no call of the service delivers {declared.key.name!r}: a wait for it ends by its 'timeout_s'"
            hint = "ask a person: 'ask_user' or 'approve'; where a program of your own delivers it, silence this"
            yield at_declaration(declared, "key-not-delivered", message, hint)
    for node in flow.nodes:
        if node.kind == "ask_user" and vars(node.settings)["expires"] is None:
            message = "where nobody answers, the query never ends: its deadline stands still meanwhile"
            yield warning(flow, node, "question-without-end", message, "write a time for 'expires', such as 7d")
        for step, report in pairwise(node.children["children"] if node.kind == "sequence" else ()):
            if step.kind != "force_success" or report.kind not in {"say", "notify", "note"}:
                continue
            *_, last = steps_of(step.children["child"][0])
            if last.has(CALLS_HOST) and vars(last.settings)["into"] is None:  # it is run for its effect alone
                message = f"{report.kind!r} says the same where {vars(last.settings)['call']!r} has failed"
                hint = f"put {report.kind!r} behind it, below 'force_success', or handle the failure in a 'selector'"
                yield warning(flow, last, "write-hidden", message, hint)


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
