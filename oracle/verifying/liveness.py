"""Which nodes a run can still tick before the next turn of the answer, or its tools, have ended.

A turn that succeeds replaces everything that the blackboard says about the turn before. So what is known of the turn
before matters only to nodes that can be ticked until then: those after the node that waits, those that a guard leads
to, and those that follow if the turn fails. The answer errs on the side of more nodes.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from bt_runtime import Status
from bt_runtime.nodes import Node
from oracle.nodes.llm_turn import LlmTurn
from oracle.nodes.refuse_tools import RefuseTools
from oracle.nodes.run_tools import RunTools

OF_THE_TOOLS = frozenset({"nothing_found"})
"""The keys that the tools of a turn replace when they have run or were refused."""

OF_ONE_TURN = frozenset(
    {
        *("failed", "tool_calls", "cut_off", "said_nothing", "asks_user", "signal", "confidence"),
        *("malformed_signal", "signal_reason", "capability", "blocker", "intent"),
    }
)
"""The keys that a turn of the answer replaces when it succeeds."""

S, F = Status.SUCCESS, Status.FAILURE
_BOTH = frozenset({S, F})
_NONE: frozenset[Status] = frozenset()
_SUCCEED = frozenset(
    {
        *("classify_query", "compose_prompt", "warn_near_limits", "refuse_tools", "grant_turn"),
        *("classify_response", "say", "stop", "explain_stop", "note", "require_answer"),
    }
)
"""Leaves that succeed, as their contracts say."""


class Before:
    """Finds, by the structure of a tree, the nodes that can be ticked before something is replaced.

    Args:
        root: of the live tree.
        replaces: whether a node replaces it when it succeeds.
    """

    def __init__(self, root: Node[Any], replaces: Callable[[Node[Any]], bool]) -> None:
        self._replaces = replaces
        self._parents = {child.index: node for node in root.walk() for child in node.child_nodes}
        self.after = lru_cache(maxsize=1024)(self._after)

    def _after(self, waiting: Node[Any]) -> frozenset[Node[Any]]:
        """The nodes that can be ticked before one of those succeeds, while and after this one waits."""
        found: set[Node[Any]] = {waiting}
        node, ends = waiting, frozenset({F}) if self._replaces(waiting) else _BOTH
        while (parent := self._parents.get(node.index)) is not None:
            ends = self._climb(parent, node, ends, found)
            node = parent
        return frozenset(found)

    def _climb(
        self, parent: Node[Any], node: Node[Any], ends: frozenset[Status], found: set[Node[Any]]
    ) -> frozenset[Status]:
        """How the parent can end, once the node can end like this; adds what is ticked on the way."""
        found.add(parent)
        own = vars(parent)
        match parent.definition.kind:
            case "sequence" | "selector" as kind:
                at = parent.child_nodes.index(node)
                early = _NONE
                if not parent.settings.memory:
                    early = self._in_order(parent.child_nodes[:at], kind, found)
                    early = frozenset({F if kind == "sequence" else S}) & early
                return early | self._in_order(parent.child_nodes[at + 1 :], kind, found, before=ends)
            case "guarded" if node is own["child"]:
                for guard in own["guards"]:
                    self._enter(guard, found)
                return ends | {F}
            case "loop" if node is own["child"]:
                for guard in own["guards"]:
                    self._enter(guard, found)
                stops = frozenset({S}) if own["guards"] else _NONE
                if S in ends:
                    stops |= frozenset({S}) | (self._enter(own["child"], found) & {F})
                return stops | (ends & {F})
            case "finally" if node is own["child"]:
                return self._enter(own["then"], found) if ends else _NONE
            case "subtree" | "finally":
                return ends
            case _:
                return self._mapped(parent, ends, found)

    def _enter(self, node: Node[Any], found: set[Node[Any]]) -> frozenset[Status]:
        """How a node that starts can end before one of those has succeeded."""
        found.add(node)
        own = vars(node)
        match node.definition.kind:
            case "sequence" | "selector" as kind:
                return self._in_order(node.child_nodes, kind, found)
            case "loop":
                for guard in own["guards"]:
                    self._enter(guard, found)
                inner = self._enter(own["child"], found)
                return (frozenset({S}) if own["guards"] or own["_until"] or S in inner else _NONE) | (inner & {F})
            case "finally":
                return self._enter(own["then"], found) if self._enter(own["child"], found) else _NONE
            case "subtree":
                return self._enter(own["root"], found)
            case _ if not node.child_nodes:
                if self._replaces(node):
                    return frozenset({F}) if node.definition.kind not in _SUCCEED else _NONE
                return frozenset({S}) if node.definition.kind in _SUCCEED else _BOTH
            case _ if len(node.child_nodes) == 1:
                return self._mapped(node, self._enter(node.child_nodes[0], found), found)
            case _:
                return self._mapped(node, _BOTH, found)

    def _mapped(self, node: Node[Any], ends: frozenset[Status], found: set[Node[Any]]) -> frozenset[Status]:
        """How a decorator ends when its child ends like this; of any other kind everything is ticked."""
        match node.definition.kind:
            case "force_success":
                return frozenset({S}) if ends else _NONE
            case "force_failure":
                return frozenset({F}) if ends else _NONE
            case "inverter":
                return frozenset({F if end is S else S for end in ends})
            case "timeout":
                return ends | {F}
            case _:
                found.update(node.walk())
                return _BOTH

    def _in_order(
        self,
        children: Iterable[Node[Any]],
        kind: str,
        found: set[Node[Any]],
        *,
        before: frozenset[Status] | None = None,
    ) -> frozenset[Status]:
        """How a sequence or selector ends, from these children on.

        Args:
            children: in order.
            kind: which of the two.
            found: gets the nodes that are ticked.
            before: how the child before them can end; `None`: there is none.
        """
        on = S if kind == "sequence" else F
        off = F if on is S else S
        begins = frozenset({on}) if before is None else before
        ends = begins & {off}
        for child in children:
            if on not in begins:
                return ends
            begins = self._enter(child, found)
            ends |= begins & {off}
        return ends | (begins & {on})


def speaks(node: object) -> bool:
    """Whether the node is a turn of the answer."""
    return isinstance(node, LlmTurn) and node.settings.visible


def answers_calls(node: object) -> bool:
    """Whether the node gives each open tool call a result."""
    return isinstance(node, RunTools | RefuseTools)
