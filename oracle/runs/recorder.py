"""Writes one query to the log as it goes: its chunks, its outcomes, its ticks, its signals.

Rules:

- Nothing here waits but `keep`, which returns when the outcomes are durable: what a turn or a tool produced is in the
  log before the control sees it.
- `Done` is held back: it is written with the run's row, in one commit, when the control has come to rest.
- What waits to be written while nothing gets written is bounded: beyond that the run is told to end.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import structlog

from bt_runtime import Clock, Outcome, TickRecord
from oracle.agent.outcome_json import encode_outcome, outcome_kind
from oracle.agent.outcomes import ToolsOutcome, TurnOutcome
from oracle.chunks import Chunk, Done, Failed, ToolCalled, ToolReturned, write_chunk
from oracle.encoding import to_json
from oracle.metrics import Metrics
from oracle.runs.tick_json import encode_tick, is_kept_apart
from oracle.signals import SignalRecord
from oracle.storage import RunLog, RunLostError, StorageError, StoreUnavailableError

log = structlog.get_logger(__name__)

_LONGEST_KEY = 512  # of a step, in the log; its data has the whole of it


@dataclass(slots=True)
class Backlog:
    """What of a run waits to be written, and whether that is too much.

    Args:
        log: of the run.
        patience_s: how long it may wait.
        most_bytes: how much may wait while nothing at all is written; twice as much where the store is well, because
            what came all at once is about to be written then.
        is_well: whether nothing is known to be wrong with the store.
    """

    log: RunLog
    patience_s: float
    most_bytes: int
    is_well: Callable[[], bool]
    _oldest_s: float | None = None
    _bytes: int = 0

    def is_too_long(self, size: int) -> bool:
        """Count so many bytes more; whether it is too much now."""
        oldest_s = self.log.pending_since_s
        if oldest_s != self._oldest_s:  # something was written since
            self._oldest_s, self._bytes = oldest_s, 0
        self._bytes += size
        waits_s = 0.0 if oldest_s is None else time.monotonic() - oldest_s
        most = 2 * self.most_bytes if self.is_well() else self.most_bytes
        return self._bytes > most or waits_s > self.patience_s


@dataclass(slots=True)
class RunRecorder:
    """The `emit`, the observer and the journal of one query.

    Args:
        log: of the run.
        backlog: bounds what waits.
        clock: the time.
        started_s: when the question was accepted, by the clock.
        metrics: of the process.
        on_done: told when `Done` was said.
        on_unwritable: told once, when nothing can be written for too long.
        done: the last chunk, once it was said.
        failed: the last error that was said.
        first_chunk_s: from the question to the first chunk.
        tools: how many tool calls were announced.
        is_closed: the run has been written to its end; what comes now is not recorded.
        is_broken: something of the run can never be written, so it must be ended from what was.
    """

    log: RunLog
    backlog: Backlog
    clock: Clock
    started_s: float
    metrics: Metrics
    on_done: Callable[[], None]
    on_unwritable: Callable[[], None]
    done: Done | None = None
    failed: Failed | None = None
    first_chunk_s: float | None = None
    tools: int = 0
    is_closed: bool = False
    is_broken: bool = False
    _has_given_up: bool = False
    _durations_ms: dict[str, int] = field(default_factory=dict)

    def emit(self, chunk: Chunk) -> None:
        """Take a chunk of the query; never waits."""
        if self.is_closed or self.done is not None:
            return
        if self.first_chunk_s is None:
            self.first_chunk_s = self.clock.now() - self.started_s
            self.metrics.first_chunk(self.first_chunk_s)
        if isinstance(chunk, Done):
            self.done = chunk
            self.on_done()
            return
        self._note(chunk)
        data = write_chunk(chunk)
        self.log.chunk(data)
        if self.backlog.is_too_long(len(data)):
            self._give_up()

    def on_tick(self, record: TickRecord) -> None:
        """Take a tick record (`bt_runtime.Observer`)."""
        if not self.is_closed:
            self.log.append("tick", encode_tick(record))

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Make outcomes durable before the control is told of them (`oracle.agent.journal.Journal`)."""
        kept = [outcome for outcome in outcomes if is_kept_apart(outcome)]
        if self.is_closed or not kept:
            return
        for outcome in kept:
            kind = outcome_kind(outcome) or "tool_end"  # a tool that the tree itself has called
            self.log.append(kind, _encoded(outcome), step_key=outcome.key[-_LONGEST_KEY:])
            self._measure(outcome)
        if self.done is None:
            await self._flush()

    def signal(self, record: SignalRecord) -> None:
        """Take a signal of the model (`oracle.agent.journal.Journal`)."""
        if not self.is_closed:
            self.log.append("signal", to_json(record.to_json()))

    async def _flush(self) -> None:
        """Wait until all is written. Where that is not to be, the run is told to end, and the control goes on to it."""
        try:
            await self.log.flush()
        except StoreUnavailableError:
            self._give_up()
        except RunLostError:
            await asyncio.sleep(0)  # whoever has it now ends it; the log has told the run, which is being cancelled
        except StorageError:
            self.is_broken = True
            self._give_up()

    def _give_up(self) -> None:
        if not self._has_given_up:
            self._has_given_up = True
            self.on_unwritable()

    def _note(self, chunk: Chunk) -> None:
        if isinstance(chunk, Failed):
            self.failed = chunk
        elif isinstance(chunk, ToolCalled):
            self.tools += 1
        elif isinstance(chunk, ToolReturned):
            self._durations_ms[chunk.tool_call_id] = chunk.duration_ms

    def _measure(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, TurnOutcome):
            self.metrics.turn_ended(outcome.value.duration_ms / 1000)
        elif isinstance(outcome.value, ToolsOutcome):
            for result in outcome.value.results:
                seconds = self._durations_ms.pop(result.call.id, 0) / 1000
                # A name that the model made up is no label: there is no bound on those.
                tool = result.call.name if result.group is not None else "unknown"
                if result.counts:
                    self.metrics.tool_ended(tool, seconds, is_error=result.is_error)


def _encoded(outcome: Outcome) -> bytes:
    """The outcome as JSON; one that JSON cannot hold (a hostile nest of arguments) is kept without its value."""
    try:
        return encode_outcome(outcome)
    except (ValueError, TypeError, RecursionError) as error:
        log.warning("outcome.not_kept", step=outcome.key, problem=type(error).__name__)
        return encode_outcome(replace(outcome, value=None, error=f"its value cannot be kept: {type(error).__name__}"))
