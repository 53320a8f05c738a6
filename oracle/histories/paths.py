"""The way from the root to a node in one tick, and the conditions that were asked on it."""

from collections.abc import Sequence
from itertools import pairwise

from bt_runtime.text.phrases import joined, value_of
from oracle.histories.model import EvaluationFacts, History, TickFacts, VisitFacts
from oracle.histories.naming import lowered, node_of

_MOST_OPERANDS = 3


class Paths:
    """The visits of one tick, by their nodes."""

    def __init__(self, history: History, tick: TickFacts) -> None:
        self._history = history
        self._by_node = {visit.node: visit for visit in tick.visits}
        self._children: dict[int | None, list[VisitFacts]] = {}
        for visit in tick.visits:
            self._children.setdefault(visit.parent, []).append(visit)

    def to(self, node: int | None) -> tuple[VisitFacts, ...]:
        """The visits from the root to a node; empty if it was not ticked."""
        found: list[VisitFacts] = []
        while node is not None and node in self._by_node and len(found) < len(self._by_node):
            found.append(self._by_node[node])
            node = self._by_node[node].parent
        return tuple(reversed(found))

    def before(self, child: VisitFacts) -> list[VisitFacts]:
        """The siblings that were asked before a node."""
        siblings = self._children.get(child.parent, [])
        return siblings[: next((at for at, visit in enumerate(siblings) if visit is child), 0)]

    def because(self, path: Sequence[VisitFacts]) -> str:
        """What the last condition before the end of a path has read: `strategies is 0 and turn_left is true`."""
        for _, child in reversed(tuple(pairwise(path))):
            for visit in reversed(self.before(child)):
                evaluation = self.condition_of(visit)
                if evaluation is not None and evaluation.operands:
                    operands = evaluation.operands[:_MOST_OPERANDS]
                    return joined(f"{each.name} is {value_of(each.value)}" for each in operands)
        return ""

    def condition_of(self, visit: VisitFacts) -> EvaluationFacts | None:
        """The condition that decided a visit: its own, or that of the child that decided it."""
        last = self._deepest(visit)
        node = node_of(self._history, last.node)
        return last.evaluations[-1] if last.evaluations and node is not None and node.category == "condition" else None

    def _deepest(self, visit: VisitFacts) -> VisitFacts:
        """The visit itself, or that of the child that decided it, and so on."""
        seen = {visit.node}
        while visit.decider in self._by_node and visit.decider not in seen:
            visit = self._by_node[visit.decider]
            seen.add(visit.node)
        return visit


def with_because(sentence: str, reason: str) -> str:
    """The sentence as a consequence, as in `Because signal is "stuck", the query stops as stuck`."""
    return f"Because {reason}, {lowered(sentence)}" if reason and sentence else sentence
