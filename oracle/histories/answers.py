"""What a node of another tree would have answered in a tick of a recorded run, and from which values."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bt_runtime import Registry, TreeDefinition
from oracle.histories.model import ClauseFacts, EvaluationFacts, History, OperandFacts
from oracle.histories.supposing import supposed_history
from oracle.replays import RecordedRun

_YES = {"SUCCESS": True, "FAILURE": False}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a condition answered.

    Args:
        yes: it is true.
        text: the clause that decided it, or the whole condition.
        operands: the values that this text has read.
    """

    yes: bool
    text: str
    operands: tuple[OperandFacts, ...]

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        operands = [{"name": each.name, "value": each.value} for each in self.operands]
        return {"yes": self.yes, "text": self.text, "operands": operands}


def supposed_answer(
    run: RecordedRun, definition: TreeDefinition, *, tick: int, path: str, registry: Registry
) -> Answer | None:
    """What a node of a tree would have answered, and from which values.

    Args:
        run: what was recorded.
        definition: the tree.
        tick: of the run.
        path: of the node.
        registry: the kinds that both trees are read with.

    Returns:
        `None` if the node has no condition, or was not asked.

    Raises:
        UnreplayableError: the run's own version of the tree cannot be read any more.
    """
    return answer_in(supposed_history(run, definition, registry=registry), tick=tick, path=path)


def answer_in(history: History, *, tick: int, path: str) -> Answer | None:
    """What a node answered in a tick, and from which values; `None` if it has no condition, or was not asked."""
    nodes = history.tree.nodes if history.tree is not None else ()
    visits = (visit for each in history.ticks if each.tick == tick for visit in each.visits)
    for visit in visits:
        yes = _YES.get(visit.status)
        if yes is None or visit.node >= len(nodes):
            continue
        node = nodes[visit.node]
        if node.path != path or node.kind != "condition":
            continue
        for evaluation in visit.evaluations:
            if not evaluation.error:
                return _answer(yes, evaluation)
    return None


def _answer(yes: bool, evaluation: EvaluationFacts) -> Answer:  # noqa: FBT001  it is the answer
    deciding = [] if yes else [each for each in _innermost(evaluation.clauses) if each.asked and not each.value]
    if len(deciding) != 1:
        return Answer(yes, evaluation.text, evaluation.operands)
    start, end = deciding[0].start, deciding[0].end
    read = (each for each in evaluation.operands if any(start <= at < end for at in each.at))
    return Answer(yes, evaluation.text[start:end].strip(), tuple(read))


def _innermost(clauses: tuple[ClauseFacts, ...]) -> Iterator[ClauseFacts]:
    """Those that have no other one in them."""
    for clause in clauses:
        inside = (other for other in clauses if other is not clause)
        if not any(clause.start <= other.start and other.end <= clause.end for other in inside):
            yield clause
