"""The course that a recorded run takes on a tree, as far as the recording allows to know it.

The recording knows what the model and the tools answered to what they were asked. A tree that asks them the same gets
the same; from the first request that was never made, nothing more is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from bt_runtime import Registry, Trace, TreeDefinition, Visit
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
