"""Judges what keeps the provider's cache from having a conversation: rounds in which what stands before it changes.

Each request begins with the one before, which the provider reads from its cache as long as model, tools and system
prompt stay as they are. What changes them once, or on a condition, is the author's choice; what does so in each round
pays the whole conversation again each time.
"""

from collections.abc import Iterator

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow, said, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import ASKS_MODEL, OFFERS_TOOLS
from oracle.authoring.costs import CACHE_MISSED, TYPICAL_TOKENS

CODES = (
    Code(
        CACHE_MISSED,
        "Every round changes the model or the tools, so the provider's cache is missed.",
        "Cached input costs a tenth. Keep the model and the tools the same in all rounds, or change them only once.",
    ),
)

_PLAIN = frozenset({"sequence", "force_success", "subtree"})
_WITHOUT_CHANGES = "for a model that accepts no changes of its tools during a conversation"


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for loop in flow.all_nodes.values():
        if loop.kind == "loop" and flow.walk.further_rounds.get(loop.path):
            steps = [node for node in loop.walk() if flow.is_reached(node) and _is_in_each_round(flow, loop, node)]
            yield from _round(flow, loop, steps)


def _round(flow: Flow, loop: NodeDefinition, steps: list[NodeDefinition]) -> Iterator[Mistake]:
    answering: list[NodeDefinition] = []
    for node in steps:
        if node.has(ASKS_MODEL):
            first = answering[0] if answering else node
            if _setting(node, "model") != _setting(first, "model"):
                why = f"each round asks another model here than at {said(flow, first)}, and each has its own cache"
                yield from _missed(flow, node, why, "ask one model in all rounds, and another only on a condition")
            elif _has_tools(first) and not _has_tools(node):
                why = f"each round of {said(flow, loop)} has this turn without tools, which invalidates the cache"
                yield from _missed(
                    flow, node, f"{why} {_WITHOUT_CHANGES}", "ask this on a condition, or after the loop"
                )
            else:
                answering.append(node)
        elif answering and (node.has(OFFERS_TOOLS) or node.kind == "offer_all_reading_tools"):
            why = f"tools are added after a turn in {said(flow, loop)}, which invalidates the cache {_WITHOUT_CHANGES}"
            yield from _missed(flow, node, why, "offer them before the loop, or on a condition")


def _missed(flow: Flow, node: NodeDefinition, why: str, hint: str) -> Iterator[Mistake]:
    if node.place.file == flow.file:
        message = f"{why}: each time, some {TYPICAL_TOKENS:,} tokens are written to it instead of read"
        yield warning(flow, node, CACHE_MISSED, message, hint)


def _has_tools(turn: NodeDefinition) -> bool:
    return bool(_setting(turn, "visible") and _setting(turn, "tools"))


def _setting(node: NodeDefinition, name: str) -> object:
    return getattr(node.settings, name, None)


def _is_in_each_round(flow: Flow, loop: NodeDefinition, node: NodeDefinition) -> bool:
    """Whether nothing between a node and its loop decides if it comes."""
    below = node
    for above in flow.above(node):
        if above is loop:
            return True
        if above.kind not in _PLAIN:
            return False
        before = above.children["children"] if above.kind == "sequence" else (below,)
        if any(each.kind == "condition" for each in before[: before.index(below)]):
            return False
        below = above
    return False
