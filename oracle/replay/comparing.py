"""Compares two trees on recorded runs: which queries would have gone another way, where, from which values, and how."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, ConfigDict, Field, TypeAdapter

from bt_runtime import NodeDefinition, Place, Registry, Status, TreeDefinition, Visit
from bt_runtime.text.data import dataclass
from oracle.core.chunks import TerminationReason
from oracle.core.errors import UserError
from oracle.replay.courses import Course, Track, course_of, tracks, visits_at
from oracle.replay.histories.nodes import evaluation_facts
from oracle.replay.histories.steps import innermost
from oracle.replay.playing import Effect, PlayedStep
from oracle.replay.recorded import RecordedRun, UnreplayableError, read_run
from oracle.runs.storage.archive import Archive
from oracle.runs.storage.records import RunRecord

_Part = TypeVar("_Part")

Verdict = Literal["same", "another_way", "differs", "unknown"]
"""`same`: the same nodes, the same effects. `another_way`: other nodes, the same effects. `differs`: the model, a tool
or the user would notice. `unknown`: the recording fits neither tree, or cannot be repeated."""


@dataclass(frozen=True, slots=True)
class ReadValue:
    """A value that a condition has read."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class ConditionAnswer:
    """What a condition would have answered.

    Args:
        yes: whether the condition was true.
        text: the clause that decided it, or the whole condition.
        operands: the values that this text has read.
    """

    yes: bool
    text: str
    operands: tuple[ReadValue, ...]


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """Where two trees part on a recorded run.

    Args:
        tick: the recorded tick.
        path: the first node that does something else; empty if only the effects differ.
        file: in which that node stands; `None` without a node.
        line: of the file, from 1; `None` without a node.
        in_: the tree that the node is of; `in` on the wire.
        old: what the old tree does; empty: nothing. `None` for other users' queries.
        new: what the new tree does; empty: nothing. `None` for other users' queries.
        answer: what the node would have answered in the new tree; `None` if it has no condition, and for other users'
            queries.
    """

    tick: int
    path: str
    file: str | None
    line: int | None
    in_: Annotated[Literal["old", "new"], Field(validation_alias=AliasChoices("in", "in_"), serialization_alias="in")]
    old: str | None
    new: str | None
    answer: ConditionAnswer | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recorded run on two trees.

    Args:
        question: of the query; `None` for other users' queries.
        old_end: why the query ends under the old tree; `None` if that is not known.
        new_end: the same under the new tree.
        unknown: why an end, or the comparison, is not known; `None` if it is.
        turns_saved: how many turns of the model less the new tree would have taken; `None` if an end is not known.
        tokens_saved: the same of tokens.
        tracks: what the turns of the model and the nodes that differ did around the difference, in the order of the
            tree; empty if none differs.
    """

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    run_id: str
    question: str | None
    verdict: Verdict
    difference: FirstDifference | None = None
    old_end: TerminationReason | None = None
    new_end: TerminationReason | None = None
    unknown: str | None = None
    turns_saved: int | None = None
    tokens_saved: int | None = None
    tracks: tuple[Track, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        fields: dict[str, Any] = _adapter().dump_python(self, mode="json", by_alias=True, warnings=False)
        return fields


@cache
def _adapter() -> TypeAdapter[Comparison]:
    return TypeAdapter(Comparison)


def compare(run: RecordedRun, old: TreeDefinition, new: TreeDefinition, *, registry: Registry) -> Comparison:
    """Compare two trees on a recorded run."""
    run_id, question = run.record.id, str(run.record.input.get("question", ""))
    try:
        recorded = run.tree(registry)
    except UnreplayableError as error:
        return Comparison(run_id, question, "unknown", unknown=str(error))
    base = course_of(run, recorded, registry=registry)
    answered = base.requests()
    before = base if old.sha == recorded.sha else course_of(run, old, registry=registry, answered=answered)
    after = base if new.sha == recorded.sha else course_of(run, new, registry=registry, answered=answered)
    difference = _first_effect(before, after)
    if difference is not None:
        verdict: Verdict = "differs"
    elif before.unknown and after.unknown:
        verdict = "unknown"
    else:
        difference = _first_way(before, after)
        verdict = "another_way" if difference is not None else "same"
    unknown = after.unknown or before.unknown or None
    shown = () if difference is None else tracks(before, after, tick=difference.tick)
    turns, tokens = _saved(before, after)
    return Comparison(run_id, question, verdict, difference, before.reason, after.reason, unknown, turns, tokens, shown)


def _saved(before: Course, after: Course) -> tuple[int, int] | tuple[None, None]:
    """Turns and tokens that the new tree takes less."""
    if before.reason is None or after.reason is None:
        return None, None
    (turns, tokens), (new_turns, new_tokens) = before.turns(), after.turns()
    return turns - new_turns, tokens - new_tokens


def _first_effect(before: Course, after: Course) -> FirstDifference | None:
    """Where the first effect differs; `None` if none does."""
    is_open = bool(before.unknown or after.unknown)
    for steps in zip_longest(before.steps, after.steps):
        if None in steps and is_open:
            return None  # what follows is not known
        effects = _first_unlike(*(each.effects if each else () for each in steps))
        if effects != (None, None):
            return _parting(before, after, steps, effects=effects)
    if before.reason != after.reason and not is_open:
        found = _parting(before, after, list(zip(before.steps, after.steps, strict=False))[-1])
        return replace(found, old=f"ends as {before.reason}", new=f"ends as {after.reason}")
    return None


def _first_way(before: Course, after: Course) -> FirstDifference | None:
    """Where the trees first visit other leaves, or get other results; `None` if nowhere."""
    for old, new in zip(before.steps, after.steps, strict=False):
        if old.results != new.results:
            return _parting(before, after, (old, new))
    return None


def _first_unlike(old: Sequence[_Part], new: Sequence[_Part]) -> tuple[_Part | None, _Part | None]:
    """The first two that differ; `None` where a list has ended, or if none differ."""
    return next((pair for pair in zip_longest(old, new) if pair[0] != pair[1]), (None, None))


def _parting(
    before: Course,
    after: Course,
    steps: tuple[PlayedStep | None, PlayedStep | None],
    *,
    effects: tuple[Effect | None, Effect | None] = (None, None),
) -> FirstDifference:
    """The difference, at the node that makes it: the first leaf of both trees that returns something else there.

    If there is none: the first leaf of the new tree alone that is visited, then the first one that only one of them
    visits; else the node that made the request.
    """
    old, new = steps
    tick = (new or old or PlayedStep(0, (), ())).tick
    did, would_do = (each.text if each else "" for each in effects)
    was, would_be = (old.results if old else ()), (new.results if new else ())
    places_before, places_after = _places(before.definition), _places(after.definition)
    unlike = _first_unlike(
        [each for each in was if each.path in places_after], [each for each in would_be if each.path in places_before]
    )
    left, came = (each.path if each else "" for each in unlike)
    for path, is_new in (
        (came if came == left else "", True),
        (next((each.path for each in would_be if each.path not in places_before), ""), True),
        (came or left, True),
        (next((each.path for each in was if each.path not in places_after), ""), False),
        (effects[1].path if effects[1] else "", True),
        (effects[0].path if effects[0] else "", False),
    ):
        place = (places_after if is_new else places_before).get(path)
        if place is not None:
            return FirstDifference(tick, path, place.file, place.line, "new" if is_new else "old", did, would_do, None)
    return FirstDifference(tick, "", None, None, "new", did, would_do, None)


def _places(definition: TreeDefinition) -> dict[str, Place]:
    return {node.path: node.place for node in definition.nodes()}


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
            message = f"the run {run_id[:_ID_CHARS]} named the tree {records[0].tree!r}, not {tree!r}"
            raise UserError(message)
    if not records:
        raise UserError(f"there are no recorded runs of the tree {tree!r}")
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
