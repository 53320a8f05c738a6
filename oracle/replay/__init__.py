"""Recorded runs, played again without a model: on the tree that they ran, or on an edited one.

    run = await read_run(archive, await archive.find("a1b2"))
    comparison = compare(run, old, new, registry=registry)

`recorded` reads a run from the store, `rebuilding` makes its query and nodes anew and repeats it, `playing` gives them
the recorded events, `courses` says how far the recording carries a tree and what its nodes saw, `comparing` finds where
two trees part, `tracks` what the nodes did around that place.
"""

from oracle.replay.comparing import Comparison, FirstDifference, Verdict, compare
from oracle.replay.courses import Course, course_of, visits_at
from oracle.replay.rebuilding import RebuiltRun, rebuild_query, repeat
from oracle.replay.recorded import DELETED, RecordedRun, UnreplayableError, read_run

__all__ = [
    "DELETED",
    "Comparison",
    "Course",
    "FirstDifference",
    "RebuiltRun",
    "RecordedRun",
    "UnreplayableError",
    "Verdict",
    "compare",
    "course_of",
    "read_run",
    "rebuild_query",
    "repeat",
    "visits_at",
]
