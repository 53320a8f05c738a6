"""Writes one query to the log as it proceeds: its chunks, its outcomes, its ticks, its signals.

Rules:

- Nothing here waits except `flush`, before anything starts that depends on outcomes of turns, tools or people, and
  before a writing call and its effect: it returns only if everything is in the log, this process has the run, and the
  database has just confirmed that. Streams read only the log, so whatever clients get is in it.
- The chunks of a tick, its record and its writes to other tables are one entry of the log's writer: after a crash
  either all of it is there, or the tick is repeated.
- Pieces of text are joined while the store is behind (`oracle.runs.joining`); everything else of the run comes after
  the pieces that are held back.
- If the run is metered, a turn is counted in its own commit, and the control continues once the rest of the limit is
  known.
- `Done` is held back: it is written with the run's row, in one commit, when the control has ended.
- The backlog of unwritten entries is bounded, and so is what ticks add to the record: beyond the bound the run must
  end.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import structlog

from bt_runtime import Clock, Outcome, TickRecord
from bt_runtime.text import extent, without_long
from bt_runtime.text.data import dataclass
from oracle.agent.journal import RequestRecord, RuleBreach
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.core.chunks import Answer, Answered, ApprovalRequested, Chunk, Content, Done, QuestionAsked
from oracle.core.metrics import Metrics
from oracle.core.retry import Retry
from oracle.runs.joining import TextJoiner
from oracle.runs.metering import RunMeter
from oracle.runs.record.debug import Debugged
from oracle.runs.record.events import (
    ChunkSent,
    Intended,
    LogEvent,
    Opened,
    Resumed,
    RuleBroken,
    SignalRead,
    Ticked,
    TurnRequested,
    append,
    append_chunk,
    ended,
)
from oracle.runs.record.record import Record
from oracle.runs.record.ticks import is_kept_apart
from oracle.runs.storage.commit import Work
from oracle.runs.storage.errors import RunLostError, StorageError, StoreUnavailableError
from oracle.runs.storage.run_log import RunLog
from signals import SignalRecord

log = structlog.get_logger(__name__)

_UNREAD = Retry(first_s=1.0, longest_s=1.0)
_TRUSTED_S = 2.0
"""Seconds for which a worker relies on its last check that a run is its own; a silent worker keeps runs for longer."""


@dataclass(slots=True)
class Backlog:
    """How much of a run waits to be written, and whether that is too much; how long it waits does not matter.

    Args:
        most_bytes: how much may wait while nothing is written; twice as much while the store is healthy, because a
            burst is about to be written then.
        is_well: whether no problem with the store is known.
    """

    log: RunLog
    most_bytes: int
    is_well: Callable[[], bool]
    _oldest_s: float | None = None
    _bytes: int = 0

    def is_too_long(self, size: int) -> bool:
        """Count `size` more bytes; return whether the backlog is too large now."""
        oldest_s = self.log.pending_since_s
        if oldest_s != self._oldest_s:  # some of it was written since then
            self._oldest_s, self._bytes = oldest_s, 0
        self._bytes += size
        return self._bytes > self.most_bytes and (self._bytes > 2 * self.most_bytes or not self.is_well())


@dataclass(slots=True)
class TickRoom:
    """Bounds what the ticks of one run add to its record: a tree can write long values in every tick at no cost.

    - Up to `most_bytes` each tick is recorded whole.
    - A tick whose values go beyond that is recorded with sizes in the place of its long values
      (`{"characters": 45000}`). The run goes on, and it can be replayed and explained as others can.
    - A run whose ticks still need twice as much must end, and none of its later ticks is recorded.
    """

    most_bytes: int
    used_bytes: int = 0

    def is_exceeded(self) -> bool:
        """Whether the run is to be ended."""
        return self.used_bytes > 2 * self.most_bytes

    def fitted(self, record: TickRecord) -> TickRecord:
        """The record, with sizes for values that have no room."""
        if not record.writes:
            return record
        left = max(0, self.most_bytes - self.used_bytes)
        if extent([value for _, value in record.writes], most=left) <= left:
            return record
        return replace(record, writes=without_long(record.writes))


@dataclass(slots=True)
class RunRecorder:
    """The `emit`, the observer and the journal of one query.

    Args:
        backlog: bounds what waits.
        clock: the time.
        started_s: when the question was accepted, by the clock.
        on_done: called when `Done` was sent.
        on_unwritable: called once, when too much waits to be written, or some of it can never be.
        room: bounds what ticks add to the record.
        on_no_room: called once, when there is none any more; `on_unwritable` is not called after that.
        first_chunk_s: from the question to the first chunk.
        is_closed: the run has been written to its end; nothing is recorded from now on.
        is_broken: a part of the run can never be written, so the run must be ended from its log.
        keep_prompt: keeps a system prompt of the run, by its digest; must not wait.
        keep_interrupt: what is to be written with a chunk that says how an interrupt stands; `None`: nothing.
        end_work: what is to be written with the end; `None`: nothing.
        meter: counts what the run spends; `None`: nothing does.
        deliver: delivers a value from outside to the control.
        record: the state of the run so far.
        answer: what its chunks add up to so far.
    """

    log: RunLog
    backlog: Backlog
    clock: Clock
    started_s: float
    metrics: Metrics
    on_done: Callable[[], None]
    on_unwritable: Callable[[], None]
    room: TickRoom
    on_no_room: Callable[[], None]
    first_chunk_s: float | None = None
    is_closed: bool = False
    is_broken: bool = False
    keep_prompt: Callable[[str, str], None] = lambda _sha, _text: None
    keep_interrupt: Callable[[Mapping[str, Any]], Work] | None = None
    end_work: Work | None = None
    meter: RunMeter | None = None
    deliver: Callable[[str, Any], None] = lambda _key, _value: None
    record: Record = field(default_factory=Record)
    answer: Answer = field(init=False)
    _joiner: TextJoiner = field(init=False)
    _prompts: set[str] = field(default_factory=set)
    _has_given_up: bool = False

    def __post_init__(self) -> None:
        self.answer = self.record.answer
        run_log = self.log
        self._joiner = TextJoiner(pending_since_s=lambda: run_log.pending_since_s)

    def opened(self, opened: Opened) -> None:
        """Record what the query begins with."""
        self._add(opened)

    def emit(self, chunk: Chunk) -> None:
        """Record a chunk of the query; never waits."""
        self._joiner.emit(chunk, self._write)

    def _write(self, chunk: Chunk) -> None:
        if self.is_closed or self.answer.done is not None:
            return
        if self.first_chunk_s is None:
            self.first_chunk_s = self.clock.now() - self.started_s
            self.metrics.first_chunk(self.first_chunk_s)
        if type(chunk) is Content:  # as most are
            self.record.add_text(chunk)
        else:
            self.record.add(ChunkSent(chunk), at_s=self.clock.now())
            if isinstance(chunk, Done):
                self.on_done()
                return
        size = append_chunk(self.log, chunk)
        if isinstance(chunk, ApprovalRequested | QuestionAsked | Answered) and self.keep_interrupt is not None:
            self.log.with_commit(self.keep_interrupt(chunk.interrupt.to_wire()))
        if self.backlog.is_too_long(size):
            self._give_up(self.on_unwritable)

    def on_tick(self, record: TickRecord) -> None:
        """Record a tick (`bt_runtime.Observer`)."""
        if self.is_closed or self.room.is_exceeded():
            return
        size = self._add(Ticked(self.room.fitted(record)))
        self.room.used_bytes += size
        if self.room.is_exceeded():
            self._give_up(self.on_no_room)
        elif self.backlog.is_too_long(size):
            self._give_up(self.on_unwritable)

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Append outcomes before the control sees them (`oracle.agent.journal.QueryJournal`)."""
        kept = [outcome for outcome in outcomes if is_kept_apart(outcome) and not self.record.has_kept(outcome)]
        if self.is_closed or not kept:
            return
        meter, counts = self.meter, False
        for outcome in kept:
            if meter is None or not isinstance(outcome.value, TurnOutcome):
                self._keep(outcome)
            else:
                self.log.hold()
                self._keep(outcome)
                self.log.with_commit(meter.counting(outcome.key, outcome.value))
                self.log.release()
                counts |= outcome.state == "done"  # halted work is not waited for
            self._measure(outcome)
        if counts:
            await self.flush()
            await self.look_at_meter()

    async def look_at_meter(self) -> None:
        """Deliver what the run and the user's other runs have spent to the control, if that changes anything."""
        if self.meter is not None and self.answer.done is None:
            changed = await _UNREAD.call(self.meter.changed, clock=self.clock, when=StoreUnavailableError)
            for key, value in changed.items():
                self.deliver(key, value)

    def begin_tick(self) -> None:
        """What comes until `end_tick` is one entry of the log (`bt_runtime.Journal`)."""
        self._joiner.write_held(self._write)
        self.log.hold()

    def end_tick(self) -> None:
        """The tick and what it has sent are complete (`bt_runtime.Journal`)."""
        self._joiner.write_held(self._write)
        self.log.release()

    async def flush(self) -> None:
        """Make all events so far durable (`bt_runtime.Journal`).

        Raises:
            CancelledError: another worker has the run, or is about to.
        """
        self._joiner.write_held(self._write)
        if self.answer.done is not None:
            return
        asked_s = -_TRUSTED_S
        while time.monotonic() - asked_s >= _TRUSTED_S:  # this process was delayed: check again
            if self.is_closed:
                raise asyncio.CancelledError
            asked_s = time.monotonic()
            await self._flush()

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """Record the request of a turn (`oracle.agent.journal.QueryJournal`), and its prompt once in a run."""
        if self.is_closed:
            return
        if record.prompt and record.prompt not in self._prompts:
            self._prompts.add(record.prompt)
            self.keep_prompt(record.prompt, prompt)
        self._add(TurnRequested(record))

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """Record that a writing call is about to begin (`oracle.agent.journal.QueryJournal`)."""
        if not self.is_closed:
            self._add(Intended(call_id, tool, step, at))

    def resumed(self, event: Resumed) -> None:
        """Record that this worker continues the run."""
        self._add(event)

    def reopen(self) -> None:
        """Replace the end, because what was to be written with the present one can never be written."""
        self.end_work = self.answer.done = None
        self.is_closed = False

    def with_end(self, work: Work) -> bool:
        """Add the answer to its conversation in the commit of the end (`oracle.agent.journal.QueryJournal`)."""
        self.end_work = work
        return True

    def signal(self, record: SignalRecord) -> None:
        """Record a signal of the model (`oracle.agent.journal.QueryJournal`)."""
        if not self.is_closed:
            self._add(SignalRead(record))

    def rule(self, breach: RuleBreach) -> None:
        """Record a broken rule of the tree (`oracle.agent.journal.QueryJournal`)."""
        if not self.is_closed:
            self._add(RuleBroken(breach))

    def debug(self, event: Debugged) -> None:
        """Record what a debugger did."""
        if not self.is_closed:
            self._add(event)

    def _add(self, event: LogEvent) -> int:
        """Append an event; returns its bytes."""
        self._joiner.write_held(self._write)
        size = append(self.log, event)
        self.record.add(event, at_s=self.clock.now())
        return size

    def _keep(self, outcome: Outcome) -> None:
        """Append an outcome; without its value if JSON cannot hold it (arguments that are nested too deeply)."""
        try:
            self._add(ended(outcome))
        except (ValueError, TypeError, RecursionError) as error:
            log.warning("outcome.not_kept", step=outcome.key, problem=type(error).__name__)
            problem = f"its value cannot be kept: {type(error).__name__}"
            self._add(ended(replace(outcome, value=None, error=problem)))

    async def _flush(self) -> None:
        """Wait until everything is written, however long. If it never can be, ask the run to end."""
        try:
            await self.log.flush()
        except (RunLostError, StoreUnavailableError):
            raise asyncio.CancelledError from None  # this run is being cancelled: it is another worker's, or all ends
        except StorageError:
            self.is_broken = True
            self._give_up(self.on_unwritable)

    def _give_up(self, inform: Callable[[], None]) -> None:
        if not self._has_given_up:
            self._has_given_up = True
            inform()

    def _measure(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, TurnOutcome):
            self.metrics.turn_ended(outcome.value.duration_ms / 1000)
        elif isinstance(outcome.value, ToolsOutcome):
            for result in outcome.value.results:
                if result.counts:
                    returned = self.answer.results.get(result.call.id)
                    seconds = returned.duration_ms / 1000 if returned else 0.0
                    # A name that the model invented is no label: there is no bound on those.
                    tool = result.call.name if result.group is not None else "unknown"
                    self.metrics.tool_ended(tool, seconds, is_error=result.is_error)
