"""Judges notices that are timed in parallel with work: whether the work waits for them, or ends with them."""

from collections.abc import Iterator

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.transfers import decided_by
from bt_runtime.analysis.warnings import said, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.kind import NOTIFIES
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import SPEAKS, WORK

CODES = (Code("notice-decides", "A notice after some time decides how long the work beside it may take, or must."),)
_AGAIN = frozenset({"loop", "repeat", "retry", "for_each", "selector"})


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        if node.kind == "parallel" and flow.is_reached(node):
            yield from _parallel(flow, node)


def _parallel(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
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
            hint = "write 'until: first_end', and 'wait: 600' behind the notice so that it does not win"
            yield warning(flow, wait, "notice-decides", message, hint)
        elif needed == 1 and _last(child).has(NOTIFIES) and not _goes_on(flow, node):
            message = f"this notice ends the parallel: {said(flow, work)} is halted, and nothing goes on for it"
            hint = "write 'wait: 600' behind the notice, so that it does not win"
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
        if above.kind in _AGAIN or any(_speaks(child) for child in siblings[siblings.index(below) + 1 :]):
            return True
        below = above
    return False


def _speaks(node: NodeDefinition) -> bool:
    return any(below.has(*WORK, SPEAKS) for below in node.walk())
