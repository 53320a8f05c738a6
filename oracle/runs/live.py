"""One run of this process, from its first chunk to the last word of its row."""

import asyncio
from collections.abc import Callable
from functools import partial

import structlog

from bt_runtime import Clock
from oracle.answering import ActiveQuery
from oracle.chunks import Done, write_chunk
from oracle.models.protocol import ModelFault
from oracle.runs.errors import UnendedError
from oracle.runs.failures import error_record
from oracle.runs.recorder import RunRecorder
from oracle.runs.waiting import until_written
from oracle.storage import RunEnd, RunLostError, RunRecord, Store

log = structlog.get_logger(__name__)

_REST_S = 0.05  # for the last tick after `Done`; a tree that goes on for longer goes on without being recorded


class LiveRun:
    """A run under way. Made by `RunManager.start`.

    Args:
        record: its row when it began.
        store: where it is kept.
        clock: the time.
    """

    def __init__(self, record: RunRecord, *, store: Store, clock: Clock) -> None:
        self.record = record
        self.is_lost = False
        self._store = store
        self._clock = clock
        self._ended = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._wish: Callable[[ActiveQuery], None] | None = None
        self._query: ActiveQuery | None = None
        self._drive: asyncio.Task[None] | None = None

    async def wait(self) -> RunRecord:
        """Wait for the end; returns the row as it is then.

        A run that another worker has taken over has ended here, whatever its row says.
        """
        await self._ended.wait()
        return await self._store.runs.find(self.record.id) or self.record

    def cancel(self) -> None:
        """The user wants it to stop; what was said is kept."""
        self._ask(ActiveQuery.cancel)

    def abort(self, fault: ModelFault) -> None:
        """It cannot go on, through no wish of the user's; what was said is kept."""
        self._ask(lambda query: query.abort(fault))

    def interrupt(self) -> None:
        """Cancel its task, where `cancel` and `abort` were not heeded."""
        if self._drive is not None:
            self._drive.cancel()

    def lose(self) -> None:
        """It is no longer ours: stop without a word, and leave its end to whoever reads its log."""
        self.is_lost = True
        self._at_rest.set()
        if self._query is not None:
            self._query.abandon()
        self.interrupt()

    def note_done(self) -> None:
        """`Done` was said; the control gets a moment to come to rest."""
        asyncio.get_running_loop().call_later(_REST_S, self._at_rest.set)

    def note_end(self) -> None:
        """Its row is finished, or it is no longer ours."""
        self._ended.set()

    async def see_through(self, query: ActiveQuery, recorder: RunRecorder) -> Done | None:
        """Run the query to its end, and write that down. To be run once.

        Returns:
            Its last chunk; `None` if the run was lost.

        Raises:
            UnendedError: it came to rest without `Done`, or cannot be written as it was.
            StorageError: its end cannot be written, and trying again would not help.
        """
        self._query = query
        recorder.log.on_lost = self.lose
        self._drive = asyncio.create_task(query.run(), name=f"query:{self.record.id}")
        self._drive.add_done_callback(lambda _: self._at_rest.set())
        if self._wish is not None:
            self._wish(query)
        try:
            await self._at_rest.wait()
            if not self.is_lost:
                await self._write_end(query, recorder)
        except asyncio.CancelledError:
            self.lose()
            raise
        return None if self.is_lost else recorder.answer.done

    async def settle(self) -> None:
        """Await the control, which goes on after `Done` if the author of its tree wants it to; then let go of it.

        The query reports to this run, so each would keep the other alive until the cyclic collector looked.
        """
        if self._drive is not None:
            await asyncio.wait({self._drive})
            if not self._drive.cancelled() and (error := self._drive.exception()):
                log.error("query.broke", problem=f"{type(error).__name__}: {error}")
        self._query = self._drive = self._wish = None

    def _ask(self, wish: Callable[[ActiveQuery], None]) -> None:
        """Have the query do something; if it has not been opened yet, then first of all."""
        if self._query is None:
            self._wish = self._wish or wish
        else:
            wish(self._query)

    async def _write_end(self, query: ActiveQuery, recorder: RunRecorder) -> None:
        recorder.is_closed = True
        answer, done = recorder.answer, recorder.answer.done
        if done is None or recorder.is_broken:
            what = "came to rest without `done`" if done is None else "has something that cannot be written"
            raise UnendedError(f"the run {self.record.id!r} {what}; it is ended from its log")
        end = RunEnd(
            termination_reason=done.termination_reason,
            answer=answer.text,
            turns=done.turns,
            tokens_used=done.tokens_used,
            tokens_estimated=done.tokens_estimated,
            model_used=done.model_used,
            error=error_record(answer.failed, query.agent.fault),
        )
        try:
            await until_written(partial(recorder.log.finish, write_chunk(done), end), clock=self._clock)
        except RunLostError:
            self.is_lost = True
