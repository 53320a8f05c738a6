"""Recorded runs, played again without a model: on the tree that they ran, or on an edited one.

    run = await read_run(archive, await archive.find("a1b2"))
    comparison = compare(run, old, new, registry=registry)

`recorded` reads a run from the store, `rebuilding` makes its query and nodes anew, `repeating` and `playing` give them
the recorded events, `courses` says how far the recording carries a tree, `comparing` finds where two trees part,
`tracks` what the nodes did around that place, `visits` what they saw there.
"""

from oracle.replays.comparing import Comparison, Difference, Verdict, compare
from oracle.replays.courses import Course, course_of
from oracle.replays.playing import Effect, NodeResult, PlayedStep, Playing
from oracle.replays.rebuilding import RebuiltRun, rebuild, rebuild_query
from oracle.replays.recorded import DELETED, RecordedRun, UnreplayableError, read_run
from oracle.replays.repeating import repeat
from oracle.replays.tracks import Track
from oracle.replays.visits import visits_at

__all__ = [
    "DELETED",
    "Comparison",
    "Course",
    "Difference",
    "Effect",
    "NodeResult",
    "PlayedStep",
    "Playing",
    "RebuiltRun",
    "RecordedRun",
    "Track",
    "UnreplayableError",
    "Verdict",
    "compare",
    "course_of",
    "read_run",
    "rebuild",
    "rebuild_query",
    "repeat",
    "visits_at",
]
