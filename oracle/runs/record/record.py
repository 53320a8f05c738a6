"""The state of a run that its log adds up to.

A `Record` is the fold of the events of any beginning of a log. A run under way adds its events as they happen; reading
the log back gives the same. It describes a run that was cut off as it describes one that has ended, up to its last
event. A history (`oracle.replay.histories`), which shows each event with its reasons, reads the same events by itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import pairwise
from typing import Final

import structlog

from bt_runtime import Outcome, TickRecord
from bt_runtime.text import estimate_tokens, iso
from bt_runtime.text.data import dataclass
from oracle.agent.conversations.protocol import ConversationStep
from oracle.agent.journal import RequestRecord, RuleBreach
from oracle.agent.outcomes import CallResult, ToolsOutcome, TurnOutcome
from oracle.agent.tool_calls import CANCELLED, OWN_CALL
from oracle.core.chunks import (
    Answer,
    Chunk,
    Closing,
    Content,
    Failed,
    Source,
    SourceFound,
    SystemNotice,
    TerminationReason,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolCalled,
    ToolReturned,
)
from oracle.llm.protocol import ModelFault
from oracle.runs.record.debug import Debugged, DebugState
from oracle.runs.record.events import (
    ChunkSent,
    ClosingBegun,
    LogDecoder,
    LogEvent,
    Opened,
    Resumed,
    RuleBroken,
    RunEnded,
    SignalRead,
    Ticked,
    ToolFinished,
    TurnFinished,
    TurnRequested,
)
from oracle.runs.storage.records import MOST_SPANS, LogEntry, RunSummary, Span
from oracle.tools import ToolResult
from signals import SignalRecord

log = structlog.get_logger(__name__)

_MOST_KEPT: Final = 2 * MOST_SPANS  # before neighbours are merged
_LONGEST_MS: Final = 1e12  # a damaged log may have any time


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call that was begun, and whose outcome is not in the log.

    Args:
        call: as the model or the tree has made it.
        result: what the user was shown of its result; `None` if it was not shown.
    """

    call: ToolCall
    result: ToolReturned | None


@dataclass(frozen=True, slots=True)
class Pending:
    """Work that a run's log has begun and not ended: what a worker needs to continue the run.

    Args:
        requests: turns of the model that were asked for and have no outcome.
        calls: tool calls without an outcome, in the order in which they began: of the model, also while its turn goes
            on, and of the tree itself. A call that the provider runs is a part of its turn, and ends with it.
        outcomes: those that are durable, and that no recorded tick has taken.
        closing: the reason whose sentence is still to be sent; `None` if none was begun.
    """

    requests: tuple[RequestRecord, ...] = ()
    calls: tuple[PendingCall, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    closing: TerminationReason | None = None


@dataclass(slots=True)
class Record:
    """The state of a run, after any beginning of its log.

    Args:
        keeps_events: all events are kept, for readers that want ticks, chunks or outcomes one by one.

    Attributes:
        seq: number of the last event in the log; 0 before the first, and in a run that adds its own events.
        chunk_n: number of the last chunk in the log.
        opened: what the run began with.
        answer: what its chunks add up to.
        closing: the reason whose sentence comes next.
        fault: what went wrong in the last turn; `None` if nothing did.
        reason: why the control stopped, from the ticks; `None` if it has not decided to stop.
        ticks: recorded ticks.
        turns: finished turns.
        usage: tokens of all turns that have ended.
        tokens_estimated: some of them are estimates.
        cache_misses: how many turns have missed the provider's cache, by the reason that it has told.
        model: the model of the last whole turn; empty if there was none.
        had_tool_errors: a tool that ran has failed.
        signals: of the model, in order.
        debug: how the run stands by its debugger.
        end: the last event; `None` while there is none.
        events: those that are kept, each with the number of the tick that follows it or is it.
    """

    keeps_events: bool = False
    seq: int = 0
    chunk_n: int = 0
    opened: Opened | None = None
    answer: Answer = field(default_factory=Answer)
    closing: TerminationReason | None = None
    fault: ModelFault | None = None
    reason: TerminationReason | None = None
    ticks: int = 0
    turns: int = 0
    usage: TokenUsage = field(default_factory=TokenUsage)
    tokens_estimated: bool = False
    cache_misses: Counter[str] = field(default_factory=Counter)
    model: str = ""
    had_tool_errors: bool = False
    signals: list[SignalRecord] = field(default_factory=list)
    debug: DebugState = field(default_factory=DebugState)
    end: RunEnded | None = None
    events: list[tuple[int, LogEvent]] = field(default_factory=list)
    _requests: dict[str, RequestRecord] = field(default_factory=dict)
    _calls: dict[str, ToolCall] = field(default_factory=dict)
    _outcomes: dict[str, Outcome] = field(default_factory=dict)
    _steps: list[tuple[float, SystemNotice | ToolCalled | ToolReturned]] = field(default_factory=list)
    _texts_before: int = 0  # of the answer, when the last turn ended; behind them is what a turn has said since
    _own_characters: int = 0  # of the control, in those before a failure
    _said_texts: int | None = None  # of the answer, when it failed; those behind them are the control's
    _thought_characters: int = 0
    _decoder: LogDecoder = field(default_factory=LogDecoder)
    _opened_at: float | None = None
    _clock: tuple[float, float] = (0.0, 0.0)  # a time of the run's clock, and when that was
    _last_at: float = 0.0
    _notices: int = 0
    _node_errors: int = 0
    _spans: list[Span] = field(default_factory=list)

    @classmethod
    def fold(cls, entries: Iterable[LogEntry], *, has_texts: bool = True) -> "Record":
        """The record of the entries of a log, with its events.

        Args:
            entries: of one run, in order; of some kinds alone if the rest is not asked for.
            has_texts: with the pieces of the answer and of the model's thinking.

        Raises:
            ValueError: one of them is damaged.
        """
        record = cls(keeps_events=True, _decoder=LogDecoder(has_texts=has_texts))
        for entry in entries:
            record._read(entry)
        return record

    def read(self, entries: Iterable[LogEntry]) -> None:
        """Add further entries of the log; one that is damaged is skipped, so that the run can be ended all the same."""
        for entry in entries:
            try:
                self._read(entry)
            except ValueError as error:
                problem = type(error.__cause__ or error).__name__
                log.warning("event.not_understood", run_id=entry.run_id, seq=entry.seq, problem=problem)

    def _read(self, entry: LogEntry) -> None:
        self.seq = max(self.seq, entry.seq)
        self.chunk_n = max(self.chunk_n, entry.chunk_n or 0)
        self._last_at = entry.at
        if entry.kind == "opened":
            self._opened_at = entry.at
        event, clock = self._decoder.decode(entry), self._clock
        if event is None:
            return
        try:
            self._note_time(event, entry.at)
            self.add(event, at_s=self._run_s(entry.at), at=entry.at)
        except (TypeError, AttributeError, KeyError) as error:  # a value of another type than the decoder has expected
            self._clock = clock
            raise ValueError(f"event {entry.seq} ({entry.kind}) is damaged: {type(error).__name__}: {error}") from error

    def add(self, event: LogEvent, *, at_s: float, at: float | None = None) -> None:  # noqa: C901  one case for each kind
        """Add the next event.

        Args:
            event: what has happened, as the log has it.
            at_s: when, in seconds of the run's clock.
            at: when, in seconds since the epoch; `None` where steps for the conversation are not wanted.
        """
        if self.keeps_events:
            self.events.append((self.ticks + 1, event))
        if isinstance(event, ChunkSent):  # as most are, and a third of the time that `match` takes
            self._add_chunk(event.chunk, at_s=at_s, at=at)
            return
        match event:
            case Ticked(tick):
                self._add_tick(tick)
            case TurnFinished(outcome) | ToolFinished(outcome):
                self._add_outcome(outcome)
            case TurnRequested(request):
                self._requests[request.step] = request
            case SignalRead(signal):
                self.signals.append(signal)
            case ClosingBegun(reason):
                self.closing = reason
            case Opened():
                self.opened = event
            case Debugged():
                self.debug = self.debug.after(event, at=at or 0.0)
            case RunEnded():
                self.end = event

    def add_text(self, piece: Content) -> None:
        """`add` of a piece of the answer that is no `Closing`, of which there are thousands a second."""
        if self.keeps_events:
            self.events.append((self.ticks + 1, ChunkSent(piece)))
        self.answer.add(piece)

    def _add_chunk(self, chunk: Chunk, *, at_s: float, at: float | None) -> None:
        self.answer.add(chunk)
        if isinstance(chunk, Content):  # as most are
            if isinstance(chunk, Closing):
                self.closing = None
                if self._said_texts is None:
                    self._own_characters += len(chunk.content)
        elif isinstance(chunk, Failed) and self._said_texts is None:
            self._said_texts = len(self.answer.texts)
        elif isinstance(chunk, Thinking):
            self._thought_characters += len(chunk.content)
        elif isinstance(chunk, SystemNotice):
            self._notices += 1
            self._add_span(Span("notice", self._ms(at_s), 0))
        elif isinstance(chunk, ToolCalled):
            self._calls[chunk.tool_call.id] = chunk.tool_call
        elif isinstance(chunk, ToolReturned) and chunk.tool_result == CANCELLED and _is_own(chunk.tool_call_id):
            self._calls.pop(chunk.tool_call_id, None)  # its node was halted, and has no outcome to keep
        if at is not None and isinstance(chunk, SystemNotice | ToolCalled | ToolReturned):
            self._steps.append((at, chunk))

    def _add_tick(self, tick: TickRecord) -> None:
        self.ticks += 1
        self._node_errors += len(tick.errors)
        for outcome in tick.outcomes:
            self._outcomes.pop(outcome.key, None)
        for key, value in tick.writes:
            if key == "termination_reason" and value:
                self.reason = value

    def has_kept(self, outcome: Outcome) -> bool:
        """Whether the log has this outcome, and no tick has taken it: the worker that kept it has died."""
        return self._outcomes.get(outcome.key) == outcome

    def _add_outcome(self, outcome: Outcome) -> None:
        if outcome.state == "cancelled" and outcome.key in self._outcomes:  # its node was halted when the run went on
            self._outcomes[outcome.key] = outcome
            return
        self._outcomes[outcome.key] = outcome
        request, value = self._requests.pop(outcome.key, None), outcome.value
        if isinstance(value, TurnOutcome):
            self._add_turn(value)
            start_ms = self._ms(outcome.at_s) - value.duration_ms
            if value.is_lost and request is not None:  # it ended before the pause, and its outcome came after it
                start_ms = self._ms(request.at_s)
            self._add_span(Span("turn", max(0, start_ms), value.duration_ms))
        elif isinstance(value, ToolsOutcome):
            for result in value.results:
                self._calls.pop(result.call.id, None)
                self.had_tool_errors |= result.counts and result.is_error
                if result.started_s is not None:
                    self._add_span(Span("tool", self._ms(result.started_s), result.duration_ms))
        else:
            self._end_own_call(outcome)

    def _end_own_call(self, outcome: Outcome) -> None:
        """Take the outcome of a node that has called a tool itself: it has the text that the user was shown."""
        for call_id in self._calls:
            result = self.answer.results.get(call_id) if _is_own(call_id) else None
            if result is not None and _is_of(outcome, result):
                del self._calls[call_id]
                return

    def _add_turn(self, turn: TurnOutcome) -> None:
        self._texts_before = len(self.answer.texts)
        self._own_characters = self._thought_characters = 0
        if not turn.is_side:
            # Of the others none is to be run: those of turns before it were answered, or the provider has run them, or
            # the turn was cut off.
            asked = {call.id for call in turn.calls}
            own = {key for key in self._calls if _is_own(key)}
            self._calls = {key: call for key, call in self.answer.calls.items() if key in asked or key in own}
        self.fault = turn.fault
        self.usage += turn.usage
        self.tokens_estimated |= turn.estimated
        if turn.cache_miss:
            self.cache_misses[turn.cache_miss] += 1
        if turn.is_finished:
            self.turns += 1
            self.model = turn.model or self.model

    # The state of a run that may continue

    @property
    def pending(self) -> Pending:
        """Unfinished work; nothing for a run that has ended."""
        if self.end is not None or self.answer.done is not None:
            return Pending()
        calls = tuple(PendingCall(call, self.answer.results.get(call.id)) for call in self._calls.values())
        return Pending(tuple(self._requests.values()), calls, tuple(self._outcomes.values()), self.closing)

    @property
    def tokens(self) -> int:
        """Of all turns that have ended, as the budget counts them."""
        return self.usage.counted

    @property
    def last_at(self) -> float:
        """When the last event was written, in seconds since the epoch."""
        return self._last_at

    @property
    def last_s(self) -> float:
        """The same time on the run's clock."""
        return self._run_s(self._last_at)

    @property
    def uncounted_tokens(self) -> int:
        """Estimated output tokens of a turn that has not ended."""
        said = sum(map(len, self.answer.texts[self._texts_before : self._said_texts]))
        return estimate_tokens(said - self._own_characters + self._thought_characters)

    @property
    def steps(self) -> list[ConversationStep]:
        """Notifications, tool calls and their results, in order."""
        return [ConversationStep(iso(at), chunk) for at, chunk in self._steps]

    # Single events

    def tick_records(self) -> list[TickRecord]:
        """The ticks, with the values of the outcomes that they took."""
        return [event.tick for _, event in self.events if isinstance(event, Ticked)]

    def chunks(self) -> list[tuple[int, Chunk]]:
        """What the user was sent, each with the number of the tick that follows it in the log."""
        return [(tick, event.chunk) for tick, event in self.events if isinstance(event, ChunkSent)]

    def breaches(self) -> list[tuple[int, RuleBreach]]:
        """Broken rules, each with the number of the tick that follows it in the log."""
        return [(tick, event.breach) for tick, event in self.events if isinstance(event, RuleBroken)]

    def facts(self) -> Iterator[Chunk | Outcome | TickRecord]:
        """Ticks, outcomes and chunks in their order, without the pieces of text: what rules are about."""
        for _, event in self.events:
            match event:
                case Ticked(tick):
                    yield tick
                case TurnFinished(outcome) | ToolFinished(outcome):
                    yield outcome
                case ChunkSent(chunk) if isinstance(chunk, Closing) or not isinstance(
                    chunk, Content | Thinking | SourceFound
                ):
                    yield chunk

    def signal_types(self) -> list[str]:
        """The types of the model's signals; that of a malformed one is the model's own word, and is left out."""
        found = (each for each in self.signals if each.outcome != "absent")
        return ["malformed" if each.outcome == "malformed" else str(each.type) for each in found]

    def answered_turns(self) -> list[TurnOutcome]:
        """The visible turns of the model that ended without a fault."""
        turns = (event.outcome.value for _, event in self.events if isinstance(event, TurnFinished))
        return [turn for turn in turns if isinstance(turn, TurnOutcome) and not turn.is_side and turn.fault is None]

    def tool_results(self) -> list[tuple[CallResult, ToolResult]]:
        """The tool calls that ran to their end, each with its result as the tool has returned it."""
        sources = self.sources_of_calls()
        outcomes = (event.outcome.value for _, event in self.events if isinstance(event, ToolFinished))
        results = (each for value in outcomes if isinstance(value, ToolsOutcome) for each in value.results)
        return [(each, _returned(each, sources.get(each.call.id, ()))) for each in results if each.counts]

    def sources_of_calls(self) -> Mapping[str, tuple[Source, ...]]:
        """The sources of each call, by its id: a source follows the result of the call that found it."""
        found: dict[str, tuple[Source, ...]] = {}
        call_id = ""
        for _, chunk in self.chunks():
            if isinstance(chunk, ToolReturned):
                call_id = chunk.tool_call_id
            elif isinstance(chunk, SourceFound):
                found[call_id] = (*found.get(call_id, ()), chunk.source)
        return found

    # The figures of the row

    def summary(self, rest: Iterable[Chunk] = ()) -> RunSummary:
        """The figures so far, with the results of open calls among the chunks that are to end the run.

        A turn without an outcome lasted until the last event of the log.
        """
        spans = [*self._spans]
        requests = list(self._requests.values())
        if requests and self._opened_at is not None:
            start_ms = self._ms(requests[-1].at_s)
            spans.append(Span("turn", start_ms, self._ms(self._run_s(self._last_at)) - start_ms))
        results = self.answer.results | {each.tool_call_id: each for each in rest if isinstance(each, ToolReturned)}
        return RunSummary(
            notices=self._notices,
            node_errors=self._node_errors,
            tools=len(self.answer.calls),
            tool_errors=sum(result.is_error for result in results.values()),
            ticks=self.ticks,
            shape=tuple(merged(spans)),
        )

    def _add_span(self, span: Span) -> None:
        self._spans.append(span)
        if len(self._spans) > _MOST_KEPT:
            self._spans = merged(self._spans)

    def _run_s(self, at: float) -> float:
        """A time of the log on the run's clock, which began when the run was opened."""
        clock_s, since = self._clock
        return self._start_s if self._opened_at is None else clock_s + at - since

    def _note_time(self, event: LogEvent, at: float) -> None:
        """Note a time of the run's clock, which stands still while no worker has the run, and is never set."""
        match event:
            case Opened(start_s):
                self._clock = (start_s, at)
            case Resumed(clock_s=clock_s):
                self._clock = (clock_s, at)
            case Ticked(tick):
                self._clock = (tick.at_s, at)
            case TurnRequested(request):
                self._clock = (request.at_s, at)

    def _ms(self, at_s: float) -> int:
        return round(min(max(0.0, (at_s - self._start_s) * 1000), _LONGEST_MS))

    @property
    def _start_s(self) -> float:
        return 0.0 if self.opened is None else self.opened.start_s


def _is_own(call_id: str) -> bool:
    """Whether the tree has made that call itself."""
    return call_id.startswith(OWN_CALL)


def _is_of(outcome: Outcome, result: ToolReturned) -> bool:
    """Whether a node that has called a tool ended with that result."""
    if outcome.error is not None:  # as `Type: text`, of bounded length
        text = outcome.error.partition(": ")[2].removesuffix("…")
        return result.is_error and result.tool_result.startswith(text)
    return not result.is_error and outcome.value == result.tool_result


def _returned(result: CallResult, sources: tuple[Source, ...]) -> ToolResult:
    return ToolResult(result.text, is_error=result.is_error, sources=sources, is_empty=result.is_empty)


def merged(spans: Iterable[Span], *, most: int = MOST_SPANS) -> list[Span]:
    """The spans by their start, the shortest neighbours merged until there are at most `most`.

    Two that are merged reach from the start of the first to the end of both, and have the kind of the longer one.
    """
    left = sorted(spans, key=lambda span: span.start_ms)
    while len(left) > most:
        joined = [_join(one, other) for one, other in pairwise(left)]
        at = min(range(len(joined)), key=lambda index: joined[index].duration_ms)
        left[at : at + 2] = [joined[at]]
    return left


def _join(one: Span, other: Span) -> Span:
    kind = one.kind if one.duration_ms >= other.duration_ms else other.kind
    return Span(kind, one.start_ms, max(one.end_ms, other.end_ms) - one.start_ms)
