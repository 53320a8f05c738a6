"""Compares two trees on recorded runs: which queries would have gone another way, where, and how they had ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bt_runtime import Place, Registry, TreeDefinition
from oracle.core.chunks import TerminationReason
from oracle.replay.courses import Course, course_of
from oracle.replay.playing import Effect, NodeResult, PlayedStep
from oracle.replay.recorded import RecordedRun, UnreplayableError
from oracle.replay.tracks import Track, tracks

Verdict = Literal["same", "another_way", "differs", "unknown"]
"""`same`: the same nodes, the same effects. `another_way`: other nodes, the same effects. `differs`: the model, a tool
or the user would notice. `unknown`: the recording fits neither tree, or cannot be repeated."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """Where two trees part on a recorded run.

    Args:
        tick: the recorded tick.
        path: the first node that does something else; empty if only the effects differ.
        place: the line of that node; `None` without a node.
        is_new: the node is one of the new tree.
        old: what the old tree does; empty: nothing.
        new: what the new tree does; empty: nothing.
    """

    tick: int
    path: str
    place: Place | None
    is_new: bool
    old: str
    new: str

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        place = self.place
        return {
            "tick": self.tick,
            "path": self.path,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "in": "new" if self.is_new else "old",
            "old": self.old,
            "new": self.new,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A recorded run on two trees.

    Args:
        old_end: why the query ends under the old tree; `None` if that is not known.
        new_end: the same under the new tree.
        unknown: why an end, or the comparison, is not known; empty if it is.
        tracks: what the nodes that differ did around the difference.
        turns_saved: how many turns of the model less the new tree would have taken; `None` if an end is not known.
        tokens_saved: the same of tokens.
    """

    run_id: str
    question: str
    verdict: Verdict
    difference: FirstDifference | None = None
    old_end: TerminationReason | None = None
    new_end: TerminationReason | None = None
    unknown: str = ""
    tracks: tuple[Track, ...] = ()
    turns_saved: int | None = None
    tokens_saved: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "run_id": self.run_id,
            "question": self.question,
            "verdict": self.verdict,
            "difference": self.difference and self.difference.to_json(),
            "old_end": self.old_end,
            "new_end": self.new_end,
            "unknown": self.unknown or None,
            "turns_saved": self.turns_saved,
            "tokens_saved": self.tokens_saved,
            "tracks": [track.to_json() for track in self.tracks],
        }


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
    unknown = after.unknown or before.unknown
    shown = () if difference is None else tracks(before, after, tick=difference.tick)
    saved = _saved(before, after)
    return Comparison(run_id, question, verdict, difference, before.reason, after.reason, unknown, shown, *saved)


def _saved(before: Course, after: Course) -> tuple[int, int] | tuple[None, None]:
    """Turns and tokens that the new tree takes less."""
    if before.reason is None or after.reason is None:
        return None, None
    (turns, tokens), (new_turns, new_tokens) = before.turns(), after.turns()
    return turns - new_turns, tokens - new_tokens


def _first_effect(before: Course, after: Course) -> FirstDifference | None:
    """Where the first effect differs; `None` if none does."""
    for at in range(max(len(before.steps), len(after.steps))):
        old, new = _step(before, at), _step(after, at)
        tick = (new or old or PlayedStep(0, (), ())).tick
        if (old is None or new is None) and (before.unknown or after.unknown):
            return None  # what follows is not known
        missed, added = _unlike(old.effects if old else (), new.effects if new else ())
        if missed or added:
            path, place, is_new = _node(before, after, at, effects=(missed, added))
            return FirstDifference(tick, path, place, is_new, _words(missed), _words(added))
    if before.reason != after.reason and not (before.unknown or after.unknown):
        at = min(len(before.steps), len(after.steps)) - 1
        path, place, is_new = _node(before, after, at, effects=((), ()))
        return FirstDifference(
            after.steps[at].tick, path, place, is_new, f"ends as {before.reason}", f"ends as {after.reason}"
        )
    return None


def _first_way(before: Course, after: Course) -> FirstDifference | None:
    """Where the trees first visit other leaves, or get other results; `None` if nowhere."""
    for at, (old, new) in enumerate(zip(before.steps, after.steps, strict=False)):
        if old.results != new.results:
            path, place, is_new = _node(before, after, at, effects=((), ()))
            return FirstDifference(new.tick, path, place, is_new, "", "")
    return None


def _step(course: Course, at: int) -> PlayedStep | None:
    return course.steps[at] if at < len(course.steps) else None


def _unlike(old: Sequence[Effect], new: Sequence[Effect]) -> tuple[list[Effect], list[Effect]]:
    """The effects of each side from the first one on that differs; an ordinary difference is of one effect."""
    for at, (was, would_be) in enumerate(zip(old, new, strict=False)):
        if (was.kind, was.digest) != (would_be.kind, would_be.digest):
            return [was], [would_be]
        if at + 1 == min(len(old), len(new)):
            break
    shared = min(len(old), len(new))
    return list(old[shared : shared + 1]), list(new[shared : shared + 1])


def _words(effects: Sequence[Effect]) -> str:
    return effects[0].text if effects else ""


def _node(
    before: Course, after: Course, at: int, *, effects: tuple[Sequence[Effect], Sequence[Effect]]
) -> tuple[str, Place | None, bool]:
    """The node that makes the difference: the first leaf that both trees have and that returns something else there.

    If there is none: the first leaf of the new tree alone that is visited, then the first one that only one of them
    visits; else the node that made the request.
    """
    old, new = _step(before, at), _step(after, at)
    was, would_be = (old.results if old else ()), (new.results if new else ())
    places_before, places_after = _places(before.definition), _places(after.definition)
    shared_before = [each for each in was if each.path in places_after]
    shared_after = [each for each in would_be if each.path in places_before]
    for path, is_new in (
        (_first_other_result(shared_before, shared_after), True),
        (next((each.path for each in would_be if each.path not in places_before), ""), True),
        (_first_unlike(shared_before, shared_after), True),
        (next((each.path for each in was if each.path not in places_after), ""), False),
        (next((each.path for each in effects[1] if each.path), ""), True),
        (next((each.path for each in effects[0] if each.path), ""), False),
    ):
        place = (places_after if is_new else places_before).get(path)
        if place is not None:
            return path, place, is_new
    return "", None, True


def _first_other_result(old: Sequence[NodeResult], new: Sequence[NodeResult]) -> str:
    """The first leaf that returns something else, if both lists have the same leaves up to it."""
    for was, would_be in zip(old, new, strict=False):
        if was != would_be:
            return would_be.path if was.path == would_be.path else ""
    return ""


def _first_unlike(old: Sequence[NodeResult], new: Sequence[NodeResult]) -> str:
    """The first leaf whose result differs; where one list ends, the next leaf of the other."""
    for was, would_be in zip(old, new, strict=False):
        if was != would_be:
            return would_be.path
    longer = new if len(new) > len(old) else old
    shared = min(len(old), len(new))
    return longer[shared].path if len(longer) > shared else ""


def _places(definition: TreeDefinition) -> dict[str, Place]:
    return {node.path: node.place for node in definition.nodes()}
