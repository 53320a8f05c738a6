"""The course of a recorded run: its turns, its signals, and the results of its tool calls.

It is read from the log at once, and decoded in a thread, so that the streams of other runs go on meanwhile.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from oracle.agent.outcome_json import decode_outcome
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.chunks import Source, SourceFound, ToolReturned, read_chunk
from oracle.encoding import from_json
from oracle.runs.opened import Opened
from oracle.storage import Event, EventKind, Store
from oracle.tools import ToolResult

_MOST_EVENTS: Final = 100_000
_KINDS: Final[frozenset[EventKind]] = frozenset({"opened", "chunk", "turn_end", "tool_end", "signal"})


@dataclass(slots=True)
class Course:
    """What happened in a run.

    Args:
        opened: what it began with; `None` if its log does not say.
        turns: the visible turns of the model that ended without a fault, in order.
        results: of the tool calls that ran to their end, in order.
        sources: what a call has cited, by its id.
        signals: types of the model's signals, in order.
    """

    opened: Opened | None = None
    turns: list[TurnOutcome] = field(default_factory=list)
    results: list[CallResult] = field(default_factory=list)
    sources: dict[str, tuple[Source, ...]] = field(default_factory=dict)
    signals: list[str] = field(default_factory=list)

    def result_of(self, result: CallResult) -> ToolResult:
        """The result of a call as its tool has returned it."""
        sources = self.sources.get(result.call.id, ())
        return ToolResult(result.text, is_error=result.is_error, sources=sources, is_empty=result.is_empty)


async def read_course(store: Store, run_id: str) -> Course:
    """Read the course of a run.

    Raises:
        ValueError: its log is damaged.
        StoreUnavailableError: the database cannot be read at present.
    """
    events = await store.log.events(run_id, kinds=_KINDS, limit=_MOST_EVENTS)
    return await asyncio.to_thread(course_of, events)


def course_of(events: Sequence[Event]) -> Course:
    """The course that the events of a run tell.

    Raises:
        ValueError: they are damaged.
    """
    course, call_id = Course(), ""
    for event in events:
        match event.kind:
            case "opened":
                course.opened = Opened.from_json(event.data)
            case "signal":
                course.signals += _signal_types(from_json(event.data))
            case "chunk" if b'"tool_result"' in event.data or b'"source"' in event.data:
                call_id = _take_chunk(course, event.data, call_id)
            case "turn_end" | "tool_end":
                _take_outcome(course, decode_outcome(event.data).value)
    return course


def _take_chunk(course: Course, data: bytes, call_id: str) -> str:
    """Note a source, which follows the result of the call that has found it; returns the call of the latest result."""
    match read_chunk(data):
        case ToolReturned(tool_call_id=name):
            return name
        case SourceFound(source=source):
            course.sources[call_id] = (*course.sources.get(call_id, ()), source)
    return call_id


def _take_outcome(course: Course, value: object) -> None:
    match value:
        case TurnOutcome(is_side=False, fault=None):
            course.turns.append(value)
        case ToolsOutcome():
            course.results += [result for result in value.results if result.counts]


def _signal_types(fields: Mapping[str, object]) -> list[str]:
    """The type of a signal's record; none of a response without one.

    The type of a malformed one is the model's own word, and may be anything.
    """
    match fields.get("outcome"):
        case "absent":
            return []
        case "malformed":
            return ["malformed"]
    return [str(fields.get("type"))]
