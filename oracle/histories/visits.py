"""The visits of a trace as facts; a visit that repeats what its node did before is kept once."""

from collections.abc import Iterator, Mapping, Sequence

from bt_runtime import NodeDefinition, Status, Visit
from oracle.histories.model import FigureFacts, StatusName, VisitFacts
from oracle.histories.nodes import as_json, evaluation_facts

STATUS_NAMES: Mapping[Status, StatusName] = {
    Status.SUCCESS: "SUCCESS",
    Status.FAILURE: "FAILURE",
    Status.RUNNING: "RUNNING",
    Status.INVALID: "INVALID",
}
_PLAIN = frozenset({bool, int, float, str, type(None)})


class Visits:
    """Makes the facts.

    Args:
        nodes: of the tree, by index.
    """

    def __init__(self, nodes: Sequence[NodeDefinition]) -> None:
        self._nodes = nodes
        self._last: dict[int, tuple[Visit, VisitFacts]] = {}

    def facts(self, visit: Visit) -> VisitFacts:
        """The facts of a visit: those of the last one of its node, if it is the same again."""
        known = self._last.get(visit.index)
        if known is not None and (visit is known[0] or _is_same(visit, known[0])):
            return known[1]
        words, node = visit.words, self._nodes[visit.index]
        facts = VisitFacts(
            visit.index,
            STATUS_NAMES[visit.status],
            visit.parent,
            visit.decider,
            words.text,
            words.sentence,
            tuple(FigureFacts(*figure) for figure in words.figures),
            tuple(evaluation_facts(node, each) for each in visit.evaluations),
            tuple((key, as_json(value)) for key, value in visit.writes),
            tuple(each.error for each in visit.errors),
        )
        self._last[visit.index] = (visit, facts)
        return facts


def _is_same(visit: Visit, before: Visit) -> bool:
    """Whether two visits have the same facts; 1, 1.0 and true are equal, and not the same."""
    return visit == before and all(
        one is other or (type(one) is type(other) and type(one) in _PLAIN)
        for one, other in zip(_values(visit), _values(before), strict=True)
    )


def _values(visit: Visit) -> Iterator[object]:
    for _, value in visit.writes:
        yield value
    for evaluation in visit.evaluations:
        yield evaluation.value
        for operand in evaluation.operands:
            yield operand.value
