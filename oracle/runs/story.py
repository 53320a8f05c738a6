"""What the log of an interrupted run says, read event by event."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import structlog

from bt_runtime import Outcome
from bt_runtime.text import estimate_tokens, iso
from oracle.agent.outcome_json import decode_outcome
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.chunks import (
    Answer,
    Chunk,
    Closing,
    Content,
    SystemNotice,
    TerminationReason,
    Thinking,
    ToolCalled,
    ToolReturned,
    read_chunk,
)
from oracle.conversations import Step
from oracle.encoder import QueryShares
from oracle.encoding import from_json
from oracle.models.protocol import ModelFault
from oracle.runs.opened import Opened
from oracle.runs.summing import Summing
from oracle.runs.tick_json import decode_tick
from oracle.storage import Event, RunSummary

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Story:
    """What a run had come to when its log ends.

    Args:
        seq: of the last event.
        chunk_n: of the last chunk.
        answer: what its chunks add up to.
        steps: system notifications, tool calls and their results, in order.
        fault: what went wrong in the last turn; `None` if nothing did.
        reason: why the control stopped, from the tick records; `None` if it has not decided to stop.
        turns: finished turns.
        tokens: of all turns that have ended.
        tokens_estimated: some of them are estimates.
        model: the model of the last whole turn; empty if there was none.
        had_tool_errors: a tool that ran has failed.
        summing: the summary of the run so far.
        encoded: how the encoder read the question; `None` if it did not answer.
    """

    seq: int = 0
    chunk_n: int = 0
    answer: Answer = field(default_factory=Answer)
    steps: list[Step] = field(default_factory=list)
    fault: ModelFault | None = None
    reason: TerminationReason | None = None
    turns: int = 0
    tokens: int = 0
    tokens_estimated: bool = False
    model: str = ""
    had_tool_errors: bool = False
    summing: Summing = field(default_factory=Summing)
    encoded: QueryShares | None = None
    _uncounted: int = 0
    _opened_at: float | None = None
    _last_at: float = 0.0
    _request_s: float | None = None
    _closing: TerminationReason | None = None

    @property
    def uncounted_tokens(self) -> int:
        """Estimated output tokens of a turn that never ended."""
        return estimate_tokens(self._uncounted)

    def add(self, event: Event) -> None:
        """Read the next event; one that cannot be read is skipped, so that the run can be ended all the same."""
        self.seq = max(self.seq, event.seq)
        self.chunk_n = max(self.chunk_n, event.chunk_n or 0)
        self._last_at = event.at
        try:
            self._add(event)
        except (ValueError, KeyError, TypeError) as error:
            log.warning("event.not_understood", run_id=event.run_id, seq=event.seq, problem=type(error).__name__)

    def _add(self, event: Event) -> None:
        if event.kind == "opened":
            self._opened_at = event.at
            opened = Opened.from_json(event.data)
            self.summing.start_s, self.encoded = opened.start_s, opened.encoded
        elif event.kind == "request":
            self._request_s = float(from_json(event.data)["at_s"])
        elif event.kind == "chunk":
            self._add_chunk(self._as_emitted(read_chunk(event.data)), at=event.at)
        elif event.kind == "closing":
            self._closing = from_json(event.data)["reason"]
        elif event.kind in ("turn_end", "tool_end"):
            self._add_outcome(decode_outcome(event.data))
        elif event.kind == "tick":
            tick = decode_tick(event.data)
            self.summing.tick(errors=len(tick.errors))
            for key, value in tick.writes:
                if key == "termination_reason" and value:
                    self.reason = value

    def _as_emitted(self, chunk: Chunk) -> Chunk:
        """The chunk; the content that follows a `closing` event is the sentence that gives its reason."""
        if self._closing is None or not isinstance(chunk, Content):
            return chunk
        reason, self._closing = self._closing, None
        return Closing(chunk.content, reason)

    def summary(self, rest: Iterable[Chunk]) -> RunSummary:
        """The summary of the run, with the chunks that end it. Call it once."""
        if self._request_s is not None:
            self.summing.interrupted_turn(start_s=self._request_s, end_s=self._run_s(self._last_at))
        for chunk in rest:
            self.answer.add(chunk)
        return self.summing.summary(self.answer)

    def _run_s(self, at: float) -> float:
        """A time of the log on the run's clock, which began when the run was opened."""
        return self.summing.start_s + (0.0 if self._opened_at is None else at - self._opened_at)

    def _add_chunk(self, chunk: Chunk, *, at: float) -> None:
        self.answer.add(chunk)
        if isinstance(chunk, SystemNotice):
            self.summing.notice(at_s=self._run_s(at))
        match chunk:
            case Content(text) if self.answer.failed is None and not isinstance(chunk, Closing):
                self._uncounted += len(text)
            case Thinking(text):
                self._uncounted += len(text)
            case SystemNotice() | ToolCalled() | ToolReturned():
                self.steps.append(Step(iso(at), chunk))

    def _add_outcome(self, outcome: Outcome) -> None:
        self.summing.outcome(outcome)
        if isinstance(outcome.value, TurnOutcome):
            self._add_turn(outcome.value)
        elif isinstance(outcome.value, ToolsOutcome):
            self.had_tool_errors |= any(result.counts and result.is_error for result in outcome.value.results)

    def _add_turn(self, turn: TurnOutcome) -> None:
        self._uncounted = 0
        self._request_s = None
        self.fault = turn.fault
        self.tokens += turn.tokens
        self.tokens_estimated |= turn.estimated
        if not (turn.interrupted or turn.fault):
            self.turns += 1
            self.model = turn.model or self.model
