"""Recorded queries replayed on another tree, and what its nodes would have answered, from which values."""

from dataclasses import dataclass
from typing import Any

from bt_runtime import NodeDefinition, Registry, Status, TreeDefinition, Visit
from oracle.core.errors import UserError
from oracle.replay.comparing import Comparison, compare
from oracle.replay.courses import visits_at
from oracle.replay.histories.model import EvaluationFacts, OperandFacts
from oracle.replay.histories.nodes import evaluation_facts
from oracle.replay.histories.steps import innermost
from oracle.replay.recorded import UnreplayableError, read_run
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord

_YES = {Status.SUCCESS: True, Status.FAILURE: False}
_ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class ConditionAnswer:
    """What a condition answered.

    Args:
        yes: whether the condition was true.
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


@dataclass(frozen=True, slots=True)
class Replayed:
    """A recorded query on two trees.

    Args:
        comparison: where the trees part on it, and how it ends on each.
        answer: what the new tree's node that makes the difference would have answered; `None` if it has no condition.
    """

    comparison: Comparison
    answer: ConditionAnswer | None = None

    def to_json(self) -> dict[str, Any]:
        """The wire form: that of the comparison, with the answer in its difference."""
        found = self.comparison.to_json()
        if found["difference"] is not None:
            found["difference"]["answer"] = self.answer and self.answer.to_json()
        return found


async def queries_of(archive: Archive, tree: str, *, runs: int, run_id: str | None = None) -> list[RunRecord]:
    """The recorded queries that named a tree.

    Args:
        archive: the recorded runs.
        tree: the name of the tree.
        runs: the latest N of them.
        run_id: the beginning of a query's id, which is returned alone.

    Raises:
        UserError: there is none, or the one has named another tree.
        UnclearRunError: no query, or more than one, has an id that begins so.
    """
    if run_id is None:
        records = await archive.runs(tree=tree, limit=runs)
    else:
        records = [await archive.find(run_id)]
        if records[0].tree != tree:
            message = f"the query {run_id[:_ID_CHARS]} named the tree {records[0].tree!r}, not {tree!r}"
            raise UserError(message)
    if not records:
        raise UserError(f"there are no recorded queries of the tree {tree!r}")
    return records


async def replay_query(
    record: RunRecord, archive: Archive, old: TreeDefinition, new: TreeDefinition, *, registry: Registry
) -> Replayed:
    """Replay a recorded query on two trees."""
    try:
        run = await read_run(archive, record)
    except UnreplayableError as error:
        return Replayed(Comparison(record.id, str(record.input.get("question", "")), "unknown", unknown=str(error)))
    found = compare(run, old, new, registry=registry)
    difference = found.difference
    if difference is None or not difference.is_new:
        return Replayed(found)
    node = next((each for each in new.nodes() if each.path == difference.path), None)
    if node is None or node.kind != "condition":
        return Replayed(found)
    visit = visits_at(run, new, tick=difference.tick, registry=registry).get(difference.path)
    return Replayed(found, None if visit is None else _answer_in(node, visit))


def _answer_in(node: NodeDefinition, visit: Visit) -> ConditionAnswer | None:
    """What a condition answered in a visit, and from which values; `None` if it could not be evaluated."""
    evaluation = next((each for each in visit.evaluations if not each.error), None)
    if evaluation is None or visit.status not in _YES:
        return None
    return _answer(_YES[visit.status], evaluation_facts(node, evaluation))


def _answer(yes: bool, evaluation: EvaluationFacts) -> ConditionAnswer:  # noqa: FBT001  it is the answer
    deciding = [] if yes else [each for each in innermost(evaluation) if each.asked and not each.value]
    if len(deciding) != 1:
        return ConditionAnswer(yes, evaluation.text, evaluation.operands)
    start, end = deciding[0].start, deciding[0].end
    read = (each for each in evaluation.operands if any(start <= at < end for at in each.at))
    return ConditionAnswer(yes, evaluation.text[start:end].strip(), tuple(read))
