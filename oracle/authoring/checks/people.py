"""Judges what is put to people, expected from them and said to them: approvals, questions, reports, timed notices."""

from collections.abc import Iterator
from itertools import pairwise

from bt_runtime import Rule
from bt_runtime.analysis.accesses import own_keys
from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, said, steps_of, warning
from bt_runtime.analysis.keys import at_declaration
from bt_runtime.analysis.states import EndStates, States, names_in
from bt_runtime.analysis.transfers import child_of, decided_by, merged
from bt_runtime.analysis.walk import Walk
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import CALLS_HOST, NOTIFIES, Case
from bt_runtime.text import Mistake
from oracle.agent.nodes.events import IS_APPROVED
from oracle.agent.nodes.roles import ASKS_PERSON, RUNS_CALLS, SPEAKS, WORK

_ORDERS = frozenset(f"{how}{what}" for how in ("", "alternate_", "chain_") for what in ("precedence", "succession"))
"""The templates that say what comes before the second event."""
_AGAIN = frozenset({"loop", "repeat", "retry", "for_each", "selector"})
CODES = (
    Code(
        "approval-missing",
        "A tool can run without the approval that a rule of the tree requires.",
        "With `enforce: refuse` every such call is refused. Ask with `approve` or the `approve` setting of "
        "`run_tools`.",
    ),
    Code(
        "key-not-delivered",
        "A key has `from: delivery`, but the service never delivers keys.",
        "A `wait` for it ends only by `timeout_s`. Use `ask_user` or `approve`. If your own program delivers it, "
        "silence the warning.",
    ),
    Code(
        "question-without-end",
        "An `ask_user` has `expires: null`.",
        "If nobody answers, the run never ends, because its deadline is paused meanwhile. Set a time.",
    ),
    Code(
        "write-hidden",
        "`force_success` hides a failed action, and the next step reports success.",
        "Remove `force_success`, or test the result before you report it.",
    ),
    Code(
        "notice-decides",
        "A delayed notice in a `parallel` decides when the work beside it ends.",
        "Use `until: first_end`, and add a long `wait` after the notice so that it does not win.",
    ),
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
                    hint = f"write 'approve: [{tool}]' in it" if node.has(RUNS_CALLS) else "put it into an 'approve'"
                    yield warning(flow, node, "approval-missing", message, hint)
    for node in flow.nodes:
        if node.kind == "parallel" and flow.is_reached(node):
            yield from _timed_notices(flow, node)


def _expects(flow: Flow) -> Iterator[Mistake]:
    """Keys that nothing delivers, questions without an end, and reports of what may have failed."""
    for declared in own_keys(flow):
        if declared.key.deliverable:
            message = f"no call of the service delivers {declared.key.name!r}: a wait for it ends by its 'timeout_s'"
            hint = "ask a person: 'ask_user' or 'approve'; if your own program delivers it, silence this"
            yield at_declaration(declared, "key-not-delivered", message, hint)
    for node in flow.nodes:
        if node.kind == "ask_user" and vars(node.settings)["expires"] is None:
            message = "if nobody answers, the run never ends, because its deadline is paused meanwhile"
            yield warning(flow, node, "question-without-end", message, "write a time for 'expires', such as 7d")
        for step, report in pairwise(node.children["children"] if node.kind == "sequence" else ()):
            if step.kind != "force_success" or report.kind not in {"say", "notify", "note"}:
                continue
            *_, last = steps_of(step.children["child"][0])
            if last.has(CALLS_HOST) and vars(last.settings)["into"] is None:  # it is run for its effect alone
                message = f"{report.kind!r} also reports success if {vars(last.settings)['call']!r} has failed"
                hint = f"put {report.kind!r} after it, below 'force_success', or handle the failure in a 'selector'"
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


# --- notices that are timed in parallel with work: whether the work waits for them, or ends with them


def _timed_notices(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    children = node.children["children"]
    work = next((child for child in children if _works(child)), None)
    needed, _ = decided_by(node)
    for child in children if work is not None else ():
        wait = None if _works(child) else _timed_notice(child)
        if work is None or wait is None or "success" not in flow.results(child):
            continue
        if needed == len(children):
            message = (
                f"the parallel also waits for this, so {said(flow, work)} never takes less, and the notice always comes"
            )
            hint = "write 'until: first_end', and 'wait: 600' after the notice so that it does not win"
            yield warning(flow, wait, "notice-decides", message, hint)
        elif needed == 1 and _last(child).has(NOTIFIES) and not _goes_on(flow, node):
            message = f"this notice ends the parallel: {said(flow, work)} is halted before it has ended"
            hint = "write 'wait: 600' after the notice, so that it does not win"
            yield warning(flow, _last(child), "notice-decides", message, hint)


def _works(node: NodeDefinition) -> bool:
    return any(below.has(*WORK) for below in node.walk())


def _timed_notice(node: NodeDefinition) -> NodeDefinition | None:
    """The wait for some seconds, behind which a notice follows."""
    nodes = tuple(node.walk())
    wait = next((at for at, below in enumerate(nodes) if getattr(below.settings, "seconds", None) is not None), None)
    if wait is None or nodes[wait].kind != "wait" or not any(each.has(NOTIFIES) for each in nodes[wait:]):
        return None
    return nodes[wait]


def _last(node: NodeDefinition) -> NodeDefinition:
    while node.kind == "sequence":
        node = node.children["children"][-1]
    return node


def _goes_on(flow: Flow, node: NodeDefinition) -> bool:
    """Whether words for the user may follow after a node."""
    below = node
    for above in flow.above(node):
        siblings = [child for children in above.children.values() for child in children]
        later = (node for child in siblings[siblings.index(below) + 1 :] for node in child.walk())
        if above.kind in _AGAIN or any(each.has(*WORK, SPEAKS) for each in later):
            return True
        below = above
    return False
