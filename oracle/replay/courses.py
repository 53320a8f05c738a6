"""The course that a recorded run takes on a tree, as far as the recording has it known, and where two of them part.

The recording knows what the model and the tools answered to what they were asked. A tree that asks them the same gets
the same; from the first request that was never made, nothing more is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, cast

from bt_runtime import NodeDefinition, Registry, Status, Trace, TreeDefinition, Visit
from bt_runtime.text.data import dataclass
from oracle.agent.outcomes import TurnOutcome
from oracle.core.chunks import TerminationReason
from oracle.replay.playing import Effect, EffectKind, PlayedStep, Playing
from oracle.replay.recorded import RecordedRun

_ASKED: Mapping[EffectKind, str] = {
    "turn": "the model would be asked something else",
    "tools": "other tools would run",
    "call": "another tool would be called",
}
Requests = Mapping[EffectKind, Sequence[str]]
"""The digests of the requests of a run, by kind, in order."""


@dataclass(frozen=True, slots=True)
class Course:
    """What a tree does with a recorded run.

    Args:
        definition: the tree.
        steps: what it did about each event, up to its end or to where nothing more is known.
        reason: why the query ends; `None` if that is not known.
        unknown: why the rest is not known; empty if the end is.
    """

    definition: TreeDefinition
    steps: tuple[PlayedStep, ...]
    reason: TerminationReason | None = None
    unknown: str = ""

    def turns(self) -> tuple[int, int]:
        """How many turns of the model have ended in it, and the tokens that they took."""
        outcomes = (each for step in self.steps for record in step.records for each in record.outcomes)
        tokens = [each.value.tokens for each in outcomes if isinstance(each.value, TurnOutcome)]
        return len(tokens), sum(tokens)

    def requests(self) -> Requests:
        """What it asked of model and tools."""
        asked: dict[EffectKind, list[str]] = {kind: [] for kind in _ASKED}
        for step in self.steps:
            for effect in step.effects:
                if effect.kind in asked:
                    asked[effect.kind].append(effect.digest)
        return asked


def course_of(
    run: RecordedRun, definition: TreeDefinition, *, registry: Registry, answered: Requests | None = None
) -> Course:
    """Play a recorded run on a tree.

    Args:
        run: the recorded run, with the values of all outcomes.
        definition: the tree that it ran, or another one.
        registry: the kinds that the tree was read with.
        answered: the requests of the recorded tree, whose answers are known; `None`: this is that tree.
    """
    playing = Playing(run, definition, registry=registry)
    steps: list[PlayedStep] = []
    asked: dict[EffectKind, int] = dict.fromkeys(_ASKED, 0)
    for event in playing.events:
        if not playing.is_running:
            break
        step = playing.step(event)
        steps.append(step)
        unknown = _unanswered(step.effects, asked, answered) if answered is not None else ""
        if unknown:
            return Course(definition, tuple(steps), unknown=unknown)
    if playing.is_running and not playing.is_closing:
        waiting = ", ".join(playing.waits_for)
        return Course(
            definition, tuple(steps), unknown=f"the recording ends while it waits for {waiting or 'an event'}"
        )
    reason, effects = playing.end()
    if effects and steps:
        last = steps[-1]
        steps[-1] = replace(last, effects=(*last.effects, *effects))
    return Course(definition, tuple(steps), reason)


def visits_at(run: RecordedRun, definition: TreeDefinition, *, tick: int, registry: Registry) -> Mapping[str, Visit]:
    """The last visit of each node when the tree is given the event of a recorded tick, by the node's path.

    Args:
        run: the recorded run, with the values of all outcomes.
        definition: the tree that it ran, or another one.
        tick: the number of the recorded tick that the event caused.
        registry: the kinds that the tree was read with.

    Returns:
        Empty if the tree has ended before.
    """
    trace = Trace()
    playing = Playing(run, definition, registry=registry, trace=trace)
    for event in playing.events:
        if not playing.is_running:
            break
        trace.is_on = event.tick == tick
        playing.step(event)
        if event.tick == tick:
            paths = definition.paths
            return {paths[visit.index]: visit for visit in trace.take()}
    return {}


def _unanswered(effects: Sequence[Effect], asked: dict[EffectKind, int], answered: Requests) -> str:
    """Why the answer to one of these requests is not known; empty if all are."""
    for effect in effects:
        if effect.kind in asked:
            nth, known = asked[effect.kind], answered[effect.kind]
            asked[effect.kind] += 1
            if nth >= len(known):
                return f"it {effect.text} once more than was recorded"
            if known[nth] != effect.digest:
                return _ASKED[effect.kind]
    return ""


MOST_ROWS: Final = 6
"""Nodes that differ; the turns of the model come with them."""
_AROUND: Final = 30  # ticks before and behind the first difference
_TURN: Final = "llm_turn"
_UNKNOWN: Final = 1 << 30

CellStatus = Literal["success", "failure", "running", "invalid"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A tick in which a node was asked, with its status at the end."""

    tick: int
    status: CellStatus


@dataclass(frozen=True, slots=True)
class Track:
    """What one node did.

    Args:
        label: the name of the node, or of the tree that it includes, or its kind.
        old: the ticks in which the old tree asked it.
        new: the same under the new tree.
    """

    path: str
    label: str
    old: tuple[Cell, ...]
    new: tuple[Cell, ...]


def tracks(before: Course, after: Course, *, tick: int) -> tuple[Track, ...]:
    """The turns of the model, and the nodes that do something else from a tick on; the nearest to it first are kept.

    Args:
        before: the course of the old tree.
        after: the course of the new one.
        tick: the recorded tick in which they first differ.
    """
    was, would_be = _cells(before), _cells(after)
    nodes = {node.path: node for course in (before, after) for node in course.definition.nodes()}
    differing = {
        path: _parting(was.get(path, {}), would_be.get(path, {}))
        for path, node in nodes.items()
        if _is_telling(node) and was.get(path, {}) != would_be.get(path, {})
    }
    nearest = set(sorted(differing, key=lambda path: differing[path])[:MOST_ROWS])
    return tuple(
        Track(path, node.title, _around(was.get(path, {}), tick), _around(would_be.get(path, {}), tick))
        for path, node in nodes.items()
        if path in nearest or (node.kind == _TURN and (path in was or path in would_be))
    )


def _cells(course: Course) -> dict[str, dict[int, Status]]:
    """By path and recorded tick: the status of each node that was asked in it."""
    paths = [node.path for node in course.definition.nodes()]
    statuses: list[Status] = [Status.INVALID] * len(paths)
    found: dict[str, dict[int, Status]] = {}
    for step in course.steps:
        for record in step.records:
            for index, status in record.changes:
                statuses[index] = status
            for index in record.visited:
                found.setdefault(paths[index], {})[step.tick] = statuses[index]
    return found


def _is_telling(node: NodeDefinition) -> bool:
    """It has a name, includes a tree, or acts: what is between says no more."""
    is_leaf = not any(node.children.values())
    return node.name is not None or node.kind == "subtree" or (is_leaf and node.kind != "condition")


def _parting(old: Mapping[int, Status], new: Mapping[int, Status]) -> int:
    """The first tick in which they are not alike."""
    ticks: Sequence[int] = sorted({*old, *new})
    return next((tick for tick in ticks if old.get(tick) != new.get(tick)), _UNKNOWN)


def _around(cells: Mapping[int, Status], tick: int) -> tuple[Cell, ...]:
    near = sorted((at, status.name.lower()) for at, status in cells.items() if abs(at - tick) <= _AROUND)
    return tuple(Cell(at, cast("CellStatus", status)) for at, status in near)
