"""How kinds that choose a child pass states on to it."""

import re
from collections.abc import Iterable

from bt_runtime.checking.effects import Paths
from bt_runtime.checking.states import State, States
from bt_runtime.checking.transfers.joining import both, child_of, merged
from bt_runtime.checking.walk import Walk
from bt_runtime.definition import NodeDefinition
from bt_runtime.expressions.syntax import LONGEST_EXPRESSION
from bt_runtime.kind import is_literal

_PLAIN_CASE = re.compile(r"[\w .-]*")


def if_(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The branch that its expression chooses."""
    true, false, raised = walk.split(node, str(getattr(node.settings, "when", "true")), states)
    then = walk.paths(child_of(node, "then"), true)
    if node.children.get("else"):
        other = walk.paths(child_of(node, "else"), false)
    else:
        other = Paths(tuple(state.succeeded(node.path) for state in false))
    failure = (*then.failure, *other.failure, *walk.failed(node, raised, fault=True))
    return merged(walk, (*then.success, *other.success), failure, (*then.waiting, *other.waiting))


def switch(walk: Walk, node: NodeDefinition, states: States) -> Paths:
    """The case that fits its expression."""
    value = str(getattr(node.settings, "value", "null"))
    _, _, raised = walk.split(node, value, states)
    found = Paths(failure=walk.failed(node, raised, fault=True))
    others: Iterable[State] = states
    for slot, children in node.children.items():
        if slot == "default":
            continue
        fitting, others = _fitting(walk, node, value, slot.partition(".")[2], others)
        for child in children:
            found = both(walk, found, walk.paths(child, fitting))
    if node.children.get("default"):
        return both(walk, found, walk.paths(child_of(node, "default"), others))
    return both(walk, found, Paths(failure=walk.failed(node, others)))


def _fitting(
    walk: Walk, node: NodeDefinition, value: str, case: str, states: Iterable[State]
) -> tuple[Iterable[State], Iterable[State]]:
    """The states in which the value of an expression may be a case, and in which it may be another one."""
    texts = [f"({value}) == '{case}'"]
    if is_literal(case):
        texts.append(f"({value}) == {case}")
    if not _PLAIN_CASE.fullmatch(case) or len(texts[0]) > LONGEST_EXPRESSION:
        return states, states
    fitting: list[State] = []
    for text in texts:
        true, states, _ = walk.split(node, text, states)
        fitting += true
    return fitting, states
