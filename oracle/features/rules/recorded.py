"""The events of a run from its record, in the order of `oracle.features.rules.stream`."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bt_runtime import Event, Outcome, Status, TickRecord
from oracle.agent.journal import Fact
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.agent.tool_calls import NOT_RUN, OWN_CALL
from oracle.core.chunks import Answered, ApprovalRequested, Chunk, QuestionAsked, ToolCalled, ToolReturned
from oracle.features.rules.stream import EventStream


class Happening(NamedTuple):
    """An event, and the tick that it belongs to (the next one, for what ended before a tick)."""

    tick: int
    event: Event


def events_of(
    facts: Sequence[Fact],
    paths: Sequence[str],
    labels: Mapping[str, tuple[str, ...]] | None = None,
    read_before: Sequence[str] = (),
) -> list[Happening]:
    """The events of a run.

    Args:
        facts: what was recorded, in order: chunks, outcomes of turns and tools, tick records.
        paths: of the tree's nodes, by index.
        labels: what the tools read and where they write, by their names; `None`: no rule asks.
        read_before: what earlier runs of the conversation had read.
    """
    stream = EventStream(paths, labels=labels)
    before = (Happening(0, event) for event in stream.read_before(read_before))
    return [*before, *_Reading(facts, paths, stream).read(facts)]


def events_before(facts: Sequence[Fact], stream: EventStream, *, untaken: Collection[str]) -> list[Event]:
    """The events of a run up to a point at which it is to go on.

    Args:
        facts: what was recorded up to there.
        stream: of the run; it goes on from there.
        untaken: the keys of outcomes among the facts whose end is still to come to the run.
    """
    reading = _Reading(facts, stream.paths, stream)
    ended = [fact for fact in facts if not (isinstance(fact, Outcome) and fact.key in untaken)]
    return [happening.event for happening in reading.read(ended)]


class _Reading:
    """Reads one record. It knows the end: what began is known by how it ended."""

    def __init__(self, facts: Sequence[Fact], paths: Sequence[str], stream: EventStream | None = None) -> None:
        self._paths = paths
        self._stream = stream or EventStream(paths)
        self._asked = _asked(facts)
        self._is_asked = bool(self._asked) or any(
            isinstance(fact, QuestionAsked) and fact.interrupt.tool_call_id for fact in facts
        )
        self._ends, self._parts = _ends(facts, self._asked)
        self._refused = _refused(facts)
        self._running: set[str] = set()
        self._calls: set[str] = set()
        """Of the last turn of the answer."""
        self._is_lost = False
        """Whether the last turn of the answer was lost."""
        self._approved: list[str] = []
        """The calls that were approved since the last tick record."""

    def read(self, facts: Iterable[Fact]) -> Iterator[Happening]:
        tick = 0
        for fact in facts:
            if self._stream.is_over:
                return
            if isinstance(fact, TickRecord):
                tick = fact.tick
                events = (*self._stream.tick(fact), *self._begun(fact))
                yield from (Happening(tick, event) for event in events)
            elif isinstance(fact, Outcome):
                if isinstance(fact.value, TurnOutcome) and not fact.value.is_side:
                    self._calls = {call.id for call in fact.value.calls}
                    self._is_lost = fact.value.is_lost
                yield from (Happening(tick + 1, event) for event in self._stream.outcome(fact))
            else:
                yield from (Happening(tick, event) for event in self._chunk(fact))

    def _chunk(self, chunk: Chunk) -> Iterator[Event]:
        yield from self._stream.chunk(chunk)
        if isinstance(chunk, Answered) and chunk.interrupt.tool_call_id in self._asked:
            self._approved.append(str(chunk.interrupt.tool_call_id))
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
            value = ends.popleft() if ends and self._is_of_last_turn(ends[0]) else None
            if isinstance(value, TurnOutcome):
                if not (value.goes_on_from and self._is_lost):  # otherwise it began with a turn that was lost
                    yield self._stream.turn(is_side=value.is_side)
            elif isinstance(value, ToolsOutcome):
                yield from self._tools(value)
        approved, self._approved = self._approved, []
        for call_id in approved:
            part = self._parts.get(call_id)
            if part is not None:
                self._parts = {key: each for key, each in self._parts.items() if each is not part}
                yield from self._tools(part)

    def _tools(self, outcome: ToolsOutcome) -> Iterator[Event]:
        for result in outcome.results:
            if result.began:
                yield self._stream.tool(result.call.name, result.call.arguments)

    def _is_of_last_turn(self, value: TurnOutcome | ToolsOutcome) -> bool:
        """Whether the node can have begun it now: it runs no tools yet where a person was asked about all of them."""
        if not self._is_asked or isinstance(value, TurnOutcome):
            return True
        return all(result.call.id in self._calls for result in value.results)


def _asked(facts: Iterable[Fact]) -> set[str | None]:
    """The ids of the calls that people were asked about, one of those that are identical."""
    return {fact.interrupt.tool_call_id for fact in facts if isinstance(fact, ApprovalRequested)} - {None}


def _ends(
    facts: Iterable[Fact], asked: set[str | None]
) -> tuple[dict[str, deque[TurnOutcome | ToolsOutcome]], dict[str, ToolsOutcome]]:
    """How turns and tools ended.

    Returns:
        By node, its path, in order; and what ran when a person had approved it, by the ids of the calls.
    """
    ends: dict[str, deque[TurnOutcome | ToolsOutcome]] = {}
    parts: dict[str, ToolsOutcome] = {}
    for fact in facts:
        if isinstance(fact, Outcome) and isinstance(fact.value, TurnOutcome | ToolsOutcome):
            own = ends.setdefault(fact.key.rpartition("@")[0], deque())
            ids = () if isinstance(fact.value, TurnOutcome) else tuple(each.call.id for each in fact.value.results)
            if isinstance(fact.value, ToolsOutcome) and not asked.isdisjoint(ids):
                parts |= dict.fromkeys(ids, fact.value)
            else:
                own.append(fact.value)
    return ends, parts


def _refused(facts: Iterable[Fact]) -> set[str]:
    """The ids of the tree's own calls that were not run."""
    return {
        fact.tool_call_id
        for fact in facts
        if isinstance(fact, ToolReturned) and fact.is_error and fact.tool_result.startswith(NOT_RUN)
    }
