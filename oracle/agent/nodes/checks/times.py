"""Judges times against the longest that a query has."""

from collections.abc import Iterator

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.flow import Flow
from bt_runtime.analysis.warnings import number_of, warning
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.text import Mistake
from oracle.agent.nodes.roles import LIMITS_TIME, LIMITS_TURNS, WORK

CODES = (Code("longer-than-query", "A time or a number of turns is beyond what any query has."),)
_MOST_S = 600
"""The highest `timeout_seconds` that a user can ask for."""
_ORDINARY_S = 120
"""Its default."""
_MOST_TURNS = 50
"""The highest `max_iterations` that a user can ask for."""
_HINT = "times are seconds, not milliseconds"


def judge(flow: Flow) -> Iterator[Mistake]:
    """All warnings of this module."""
    for node in flow.nodes:
        if flow.is_reached(node):
            yield from _limit(flow, node)
            if node.kind == "wait":
                yield from _pause(flow, node)


def _limit(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    name = "timeout_s" if node.kind == "wait" or node.has(*WORK) else "seconds"
    seconds = number_of(node, name)
    is_limit = name == "timeout_s" or node.kind == "timeout" or node.has(LIMITS_TIME)
    if is_limit and seconds is not None and seconds > _MOST_S:
        message = f"{seconds:g} s are never reached: a query has {_MOST_S} s at most"
        yield warning(flow, node, "longer-than-query", message, _HINT)
    turns = number_of(node, "limit") if node.has(LIMITS_TURNS) else None
    if turns is not None and turns > _MOST_TURNS:
        message = f"{turns:g} turns are never reached: a query has {_MOST_TURNS} at most"
        yield warning(flow, node, "longer-than-query", message, "write a lower limit, or none")


def _pause(flow: Flow, node: NodeDefinition) -> Iterator[Mistake]:
    """A pause of the whole query: one in parallel with other work may be there to be interrupted."""
    seconds = number_of(node, "seconds")
    above = tuple(flow.above(node))
    if seconds is None or any(each.kind in {"parallel", "timeout", "guarded"} for each in above):
        return
    rounds = 1
    for each in above:
        rounds *= _rounds(each)
    if seconds > _ORDINARY_S or seconds * rounds > _MOST_S:
        times = f" in each of {rounds} rounds" if rounds > 1 else ""
        message = (
            f"this waits {seconds:g} s{times}, and a query has {_ORDINARY_S} s unless its user allows more (at most "
            f"{_MOST_S} s)"
        )
        yield warning(flow, node, "longer-than-query", message, _HINT)


def _rounds(node: NodeDefinition) -> int:
    """How often a node ticks its child, as far as that is written there."""
    if node.kind == "for_each":
        items = getattr(node.settings, "items", None)
        return len(items) if isinstance(items, list) and items else 1
    times = getattr(node.settings, "times", 1) if node.kind == "repeat" else 1
    return times if isinstance(times, int) else 1
