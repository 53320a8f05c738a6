"""Joins pieces of text while the store is behind, so that an overloaded process writes and sends fewer chunks.

Rules:

- A piece is held back only while an entry of its run has waited longer than `BEHIND_S` for its commit, which takes a
  slow database as well as a slow event loop. Otherwise it is written at once.
- What is held back is written `HOLD_S` after its first piece, or earlier: before anything else of the run.
- Only pieces of one kind are joined. A chunk of two line breaks stays alone, and so does the sentence that gives the
  reason for the end.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from bt_runtime import Outcome, TickRecord
from oracle.agent.journal import QueryJournal
from oracle.agent.requests import RequestRecord
from oracle.agent.rule_gate import RuleBreach
from oracle.core.chunks import Chunk, Closing, Content, Thinking
from oracle.runs.record.debug import Debugged
from signals import SignalRecord

BEHIND_S: Final = 0.02
"""Two commits of a store that keeps up."""
HOLD_S: Final = 0.025
_MOST_CHARACTERS: Final = 4_096
_PARAGRAPH: Final = "\n\n"


class Recorder(QueryJournal, Protocol):
    """What writes a run down."""

    def emit(self, chunk: Chunk) -> None:
        """Take a chunk."""
        ...

    def on_tick(self, record: TickRecord) -> None:
        """Take a tick record."""
        ...

    def debug(self, event: Debugged) -> None:
        """Take what a debugger did."""
        ...


class Timer(Protocol):
    """A call that is due later."""

    def cancel(self) -> None:
        """It is not due any more."""
        ...


class JoiningRecorder:
    """Passes everything of a run on to its recorder, in order, with pieces of text joined while the store is behind.

    Args:
        pending_since_s: since when the oldest entry of the run has been waiting for its commit; `None`: none waits.
        now: monotonic seconds, the clock of `pending_since_s`.
        call_later: calls a function after so many seconds; `None`: the running event loop's.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        pending_since_s: Callable[[], float | None],
        now: Callable[[], float] = time.monotonic,
        call_later: Callable[[float, Callable[[], None]], Timer] | None = None,
    ) -> None:
        self._recorder = recorder
        self._pending_since_s = pending_since_s
        self._now = now
        self._call_later = call_later or asyncio.get_running_loop().call_later
        self._kind: type[Content | Thinking] = Content
        self._texts: list[str] = []
        self._size = 0
        self._timer: Timer | None = None

    def emit(self, chunk: Chunk) -> None:
        """Take a chunk; never waits."""
        if isinstance(chunk, Content | Thinking) and not _stays_alone(chunk):
            if self._texts and (type(chunk) is not self._kind or self._size > _MOST_CHARACTERS):
                self._write_held()
            if self._texts or self._is_behind():
                self._hold(chunk)
                return
        elif self._texts:
            self._write_held()
        self._recorder.emit(chunk)

    def on_tick(self, record: TickRecord) -> None:
        """Take a tick record (`bt_runtime.Observer`)."""
        self._write_held()
        self._recorder.on_tick(record)

    async def keep(self, outcomes: Sequence[Outcome]) -> None:
        """Make outcomes durable (`oracle.agent.journal.QueryJournal`)."""
        self._write_held()
        await self._recorder.keep(outcomes)

    def begin_tick(self) -> None:
        """Keep together what comes until `end_tick` (`bt_runtime.Journal`)."""
        self._write_held()
        self._recorder.begin_tick()

    def end_tick(self) -> None:
        """The tick and all that it has sent are to be written (`bt_runtime.Journal`)."""
        self._write_held()
        self._recorder.end_tick()

    async def flush(self) -> None:
        """Make all ticks so far durable (`bt_runtime.Journal`)."""
        self._write_held()
        await self._recorder.flush()

    def request(self, record: RequestRecord, *, prompt: str) -> None:
        """Take the request of a turn (`oracle.agent.journal.QueryJournal`)."""
        self._write_held()
        self._recorder.request(record, prompt=prompt)

    def intend(self, call_id: str, tool: str, *, step: str, at: str) -> None:
        """Take the intent of a writing call (`oracle.agent.journal.QueryJournal`)."""
        self._write_held()
        self._recorder.intend(call_id, tool, step=step, at=at)

    def signal(self, record: SignalRecord) -> None:
        """Take a signal of the model (`oracle.agent.journal.QueryJournal`)."""
        self._write_held()
        self._recorder.signal(record)

    def rule(self, breach: RuleBreach) -> None:
        """Take a broken rule of the tree (`oracle.agent.journal.QueryJournal`)."""
        self._write_held()
        self._recorder.rule(breach)

    def debug(self, event: Debugged) -> None:
        """Take what a debugger did."""
        self._write_held()
        self._recorder.debug(event)

    def _write_held(self) -> None:
        """Write what is held back."""
        if not self._texts:
            return
        text, self._texts, self._size = "".join(self._texts), [], 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._recorder.emit(self._kind(text))

    def _hold(self, chunk: Content | Thinking) -> None:
        if not self._texts:
            self._kind = type(chunk)
            self._timer = self._call_later(HOLD_S, self._write_held)
        self._texts.append(chunk.content)
        self._size += len(chunk.content)

    def _is_behind(self) -> bool:
        since_s = self._pending_since_s()
        return since_s is not None and self._now() - since_s > BEHIND_S


def _stays_alone(chunk: Content | Thinking) -> bool:
    return chunk.content == _PARAGRAPH or isinstance(chunk, Closing)
