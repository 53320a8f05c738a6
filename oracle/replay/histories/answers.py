"""Recorded queries replayed on another tree, and what its nodes would have answered, from which values."""

from dataclasses import replace

from bt_runtime import NodeDefinition, Registry, Status, TreeDefinition, Visit
from oracle.core.errors import UserError
from oracle.replay.comparing import Comparison, ConditionAnswer, ReadValue, compare
from oracle.replay.courses import visits_at
from oracle.replay.histories.nodes import evaluation_facts
from oracle.replay.histories.steps import innermost
from oracle.replay.recorded import UnreplayableError, read_run
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord

_ID_CHARS = 8


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
) -> Comparison:
    """Replay a recorded query on two trees; a difference says what a condition of the new one would have answered."""
    try:
        run = await read_run(archive, record)
    except UnreplayableError as error:
        return Comparison(record.id, str(record.input.get("question", "")), "unknown", unknown=str(error))
    found = compare(run, old, new, registry=registry)
    difference = found.difference
    node = next((each for each in new.nodes() if difference is not None and each.path == difference.path), None)
    if difference is None or difference.in_ == "old" or node is None or node.kind != "condition":
        return found
    visit = visits_at(run, new, tick=difference.tick, registry=registry).get(difference.path)
    answer = None if visit is None else _answer_in(node, visit)
    return replace(found, difference=replace(difference, answer=answer))


def _answer_in(node: NodeDefinition, visit: Visit) -> ConditionAnswer | None:
    """What a condition answered in a visit, and from which values; `None` if it could not be evaluated."""
    evaluation = next((each for each in visit.evaluations if not each.error), None)
    if evaluation is None or visit.status not in (Status.SUCCESS, Status.FAILURE):
        return None
    yes, facts = visit.status is Status.SUCCESS, evaluation_facts(node, evaluation)
    text, read = facts.text, facts.operands
    deciding = [] if yes else [each for each in innermost(facts) if each.asked and not each.value]
    if len(deciding) == 1:
        start, end = deciding[0].start, deciding[0].end
        text = text[start:end].strip()
        read = tuple(each for each in read if any(start <= at < end for at in each.at))
    return ConditionAnswer(yes, text, tuple(ReadValue(each.name, each.value) for each in read))
