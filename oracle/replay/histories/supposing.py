"""What a recorded run would have done on another tree, with its reasons, as far as the recording allows to know it.

The course of the run on that tree is written as a log, and explained like the log of a run.
"""

from collections.abc import Iterator
from dataclasses import replace

from bt_runtime import Registry, TreeDefinition
from oracle.core.chunks import SourceFound, Thinking, ToolCalled, ToolReturned
from oracle.replay.courses import Course, course_of
from oracle.replay.histories.explaining import Explainer
from oracle.replay.histories.model import History
from oracle.replay.recorded import RecordedRun
from oracle.runs.record.events import ChunkSent, LogEvent, RuleBroken, Ticked, encode, ended
from oracle.runs.record.ticks import is_kept_apart
from oracle.runs.storage.records import LogEntry
from oracle.runs.storage.trees import TreeVersion


def supposed_history(run: RecordedRun, definition: TreeDefinition, *, registry: Registry) -> History:
    """The history that a recorded run would have had on a tree.

    It ends where the tree asks for something that was never asked: its `problem` says so, and it has no end then. Of
    the texts it has those that the recorded requests have brought.

    Args:
        run: the recorded query that is played on the tree.
        definition: the other tree.
        registry: the kinds that both trees are read with.

    Raises:
        UnreplayableError: the run's own version of the tree cannot be read any more.
    """
    recorded = run.tree(registry)
    answered = course_of(run, recorded, registry=registry).requests()
    course = course_of(run, definition, registry=registry, answered=answered)
    version = TreeVersion(definition.sha, definition.name, definition.paths, dict(definition.sources))
    record = replace(run.record, tree_sha=definition.sha, status="running", error=None, termination_reason=None)
    explainer = Explainer(record, version, registry=registry)
    explainer.feed_all(_entries(run, course))
    reason = course.reason
    ended = replace(record, status="finished", termination_reason=reason) if reason is not None else record
    explainer.ended(ended)
    history = explainer.history
    history.problem = "; ".join(each for each in (history.problem, course.unknown) if each)
    return history


def _entries(run: RecordedRun, course: Course) -> Iterator[LogEntry]:
    """The log that the run would have had."""
    for number, (at_s, event) in enumerate(_events(run, course), start=1):
        at = run.record.created_at + at_s - run.opened.start_s
        yield LogEntry(run.record.id, number, event.kind, encode(event), at)


def _events(run: RecordedRun, course: Course) -> Iterator[tuple[float, LogEvent]]:
    """The ticks of the course, and before each what had come by then."""
    last = 0
    yield run.opened.start_s, run.opened
    for step in course.steps:
        for record in step.records[:1]:
            for tick, chunk in run.chunks:
                if last < tick <= step.tick and isinstance(chunk, Thinking | ToolCalled | ToolReturned | SourceFound):
                    yield record.at_s, ChunkSent(chunk)
            breach = run.stops.get(step.tick)
            if breach is not None:
                yield record.at_s, RuleBroken(breach)
        last = step.tick
        for record in step.records:
            for outcome in filter(is_kept_apart, record.outcomes):
                yield outcome.at_s, ended(outcome)
            yield record.at_s, Ticked(record)
