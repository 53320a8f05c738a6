"""Which nodes a run can still tick before the next turn of the answer, or its tools, have ended.

A turn that succeeds replaces everything that the blackboard says about the turn before. So what is known of the turn
before matters only to nodes that can be ticked until then: those after the node that waits, those that a guard leads
to, and those that follow if the turn fails. The answer errs on the side of more nodes.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from bt_runtime import Status
from bt_runtime.language.flow import LeafFlow
from bt_runtime.nodes.base import ANY_END, Ends, Node
from bt_runtime.nodes.context import Requester
from oracle.agent.nodes.roles import ASKS_MODEL, REFUSES_CALLS, RUNS_CALLS

OF_THE_TOOLS = frozenset({"nothing_found"})
"""The keys that say something about the last tools that ran."""

OF_ONE_TURN = frozenset(
    {
        *("failed", "tool_calls", "cut_off", "said_nothing", "asks_user", "signal", "confidence"),
        *("malformed_signal", "signal_reason", "capability", "may_be_supplied", "blocker", "suggestions", "intent"),
    }
)
"""The keys that say something about the last turn alone."""


class Before:
    """Finds, by the structure of a tree, the nodes that can be ticked before something is replaced.

    Args:
        replaces: whether a node replaces it when it succeeds.
    """

    def __init__(self, root: Node[Any], replaces: Callable[[Any], bool]) -> None:
        self._replaces = replaces
        self._parents = {child.index: node for node in root.walk() for child in node.child_nodes}
        self.after = lru_cache(maxsize=1024)(self._after)

    def _after(self, waiting: Node[Any]) -> frozenset[Node[Any]]:
        """The nodes that can be ticked before one of those succeeds, while and after this one waits."""
        found: set[Node[Any]] = {waiting}

        def enter(node: Node[Any]) -> Ends:
            found.add(node)
            ends = node.ends(enter) if node.child_nodes else _ends_of_leaf(node)
            return ends - {Status.SUCCESS} if self._replaces(node) else ends

        node = waiting
        ends = ANY_END - {Status.SUCCESS} if self._replaces(waiting) else ANY_END
        while (parent := self._parents.get(node.index)) is not None:
            found.add(parent)
            ends = parent.ends_after(node, ends, enter)
            node = parent
        return frozenset(found)


def _ends_of_leaf(node: Node[Any]) -> Ends:
    """Both ways; SUCCESS alone for one that ends at once, if no case of its kind fails other than by a fault."""
    flow = node.kind.flow
    if node.kind.waits or not isinstance(flow, LeafFlow):
        return ANY_END
    fails = any(case.result == "failure" and not case.fault for case in flow.cases(node.settings))
    return ANY_END if fails else frozenset({Status.SUCCESS})


def speaks(node: Requester) -> bool:
    """Whether the node is a turn of the answer."""
    return ASKS_MODEL in node.facts.roles and bool(getattr(node.settings, "visible", True))


def answers_calls(node: Requester) -> bool:
    """Whether the node gives each open tool call a result."""
    return RUNS_CALLS in node.facts.roles or REFUSES_CALLS in node.facts.roles
