"""The events of a run from its record, in the order of `oracle.agent.rules.stream`."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bt_runtime import Event, Outcome, Status, TickRecord
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.agent.rules.stream import EventStream
from oracle.agent.tool_calls import NOT_RUN, OWN_CALL
from oracle.core.chunks import Chunk, ToolCalled, ToolReturned

Fact = Chunk | Outcome | TickRecord
"""What a record consists of."""


class Happening(NamedTuple):
    """An event, and the tick that it belongs to (the next one, for what ended before a tick)."""

    tick: int
    event: Event


def events_of(facts: Sequence[Fact], paths: Sequence[str]) -> list[Happening]:
    """The events of a run.

    Args:
        facts: what was recorded, in order: chunks, outcomes of turns and tools, tick records.
        paths: of the tree's nodes, by index.
    """
    return list(_Reading(facts, paths).read())


class _Reading:
    """Reads one record. It knows the end: what began is known by how it ended."""

    def __init__(self, facts: Sequence[Fact], paths: Sequence[str]) -> None:
        self._facts = facts
        self._paths = paths
        self._stream = EventStream(paths)
        self._ends = _ends(facts)
        self._refused = _refused(facts)
        self._running: set[str] = set()

    def read(self) -> Iterator[Happening]:
        tick = 0
        for fact in self._facts:
            if self._stream.is_over:
                return
            if isinstance(fact, TickRecord):
                tick = fact.tick
                events = (*self._stream.tick(fact), *self._begun(fact))
                yield from (Happening(tick, event) for event in events)
            elif isinstance(fact, Outcome):
                yield from (Happening(tick + 1, event) for event in self._stream.outcome(fact))
            else:
                yield from (Happening(tick, event) for event in self._chunk(fact))

    def _chunk(self, chunk: Chunk) -> Iterator[Event]:
        yield from self._stream.chunk(chunk)
        if isinstance(chunk, ToolCalled) and chunk.tool_call.id.startswith(OWN_CALL):
            call = chunk.tool_call
            if call.id in self._refused:
                self._stream.forget(call.id)
            else:
                yield self._stream.tool(call.name, call.arguments)

    def _begun(self, record: TickRecord) -> Iterator[Event]:
        """The turns and tools that began after a tick: the node waits now, and did not wait for the same before."""
        ended = {outcome.key.rpartition("@")[0] for outcome in record.outcomes}
        began: list[str] = []
        changed = {self._paths[index]: status for index, status in record.changes}
        for path, status in changed.items():
            (self._running.add if status is Status.RUNNING else self._running.discard)(path)
        for index in dict.fromkeys(record.visited):
            path = self._paths[index]
            if path in self._ends and path in self._running and (path in changed or path in ended):
                began.append(path)
        for path in began:
            ends = self._ends[path]
            value = ends.popleft() if ends else None
            if isinstance(value, TurnOutcome):
                yield self._stream.turn(is_side=value.is_side)
            elif isinstance(value, ToolsOutcome):
                for result in value.results:
                    if result.has_begun:
                        yield self._stream.tool(result.call.name, result.call.arguments)


def _ends(facts: Iterable[Fact]) -> dict[str, deque[TurnOutcome | ToolsOutcome]]:
    """How the turns and tools of each node ended, by its path, in order."""
    ends: dict[str, deque[TurnOutcome | ToolsOutcome]] = {}
    for fact in facts:
        if isinstance(fact, Outcome) and isinstance(fact.value, TurnOutcome | ToolsOutcome):
            ends.setdefault(fact.key.rpartition("@")[0], deque()).append(fact.value)
    return ends


def _refused(facts: Iterable[Fact]) -> set[str]:
    """The ids of the tree's own calls that were not run."""
    return {
        fact.tool_call_id
        for fact in facts
        if isinstance(fact, ToolReturned) and fact.is_error and fact.tool_result.startswith(NOT_RUN)
    }
