"""One run of this process, from its first chunk to the end of its row, and how that end is saved and logged."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, Literal

import structlog

from bt_runtime import Clock
from oracle.agent.answering import ActiveQuery
from oracle.agent.control.tree import TreeControl
from oracle.agent.nodes.board import ANSWERS
from oracle.core.chunks import Chunk, Done, Failed, TokenUsage, write_chunk
from oracle.core.errors import InternalError
from oracle.core.retry import Retry
from oracle.llm.protocol import ModelFault
from oracle.runs.metering import Meter
from oracle.runs.record.record import Record
from oracle.runs.recorder import RunRecorder
from oracle.runs.storage.errors import RunBrokenError, RunLostError, StorageError, StoreUnavailableError
from oracle.runs.storage.records import RunEnd, RunRecord
from oracle.runs.storage.store import Store

log = structlog.get_logger(__name__)

_UNREAD = Retry(first_s=1.0, longest_s=1.0)
_LEAVE_S = 1.0  # for a tool that does not end at once when it is cancelled
_REST_S = 0.05  # for the last tick after `Done`; what a tree does later is not recorded


class LiveRun:
    """A running query. `RunManager.start` creates it.

    Args:
        record: its row as it was at the start.
        clock: monotonic time.

    `left_as` says how this worker has left it before its end, or is about to; `None`: it has not.
    """

    def __init__(self, record: RunRecord, *, store: Store, clock: Clock) -> None:
        self.record = record
        self.left_as: Literal["lost", "handed_over", "parked"] | None = None
        self._store = store
        self._clock = clock
        self._ended = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._request: Callable[[ActiveQuery], None] | None = None
        self._query: ActiveQuery | None = None
        self._recorder: RunRecorder | None = None
        self._drive: asyncio.Task[None] | None = None
        self._delivered: set[str] = set()  # interrupts whose answers the query has
        self._hearing: set[asyncio.Task[None]] = set()

    async def wait(self) -> RunRecord:
        """Wait for the end; returns the row as it is then.

        A run that another worker has taken over has ended here, although its row may be running.
        """
        await self._ended.wait()
        return await self._store.runs.find(self.record.id) or self.record

    def cancel(self) -> None:
        """Stop it for the user; the text so far is kept."""
        self._ask(ActiveQuery.cancel)

    def abort(self, fault: ModelFault) -> None:
        """Stop it because of a fault; the text so far is kept."""
        self._ask(lambda query: query.abort(fault))

    @property
    def is_parking(self) -> bool:
        """Whether it is about to be left as a row, and takes no more commands."""
        return self.left_as == "handed_over" or (self._query is not None and self._query.is_parked)

    def may_park(self) -> bool:
        """Whether it can wait as a row: it has asked a person, and people can answer it."""
        return self._recorder is not None and bool(self._recorder.answer.pending) and self.record.shadow_of is None

    def hear(self) -> None:
        """A person has answered: deliver new answers to the query, in the background."""
        task = asyncio.create_task(self._deliver_answers(), name=f"answers:{self.record.id}")
        self._hearing.add(task)
        task.add_done_callback(self._hearing.discard)

    def interrupt(self) -> None:
        """Cancel its task, if `cancel` and `abort` had no effect."""
        if self._drive is not None:
            self._drive.cancel()

    def lose(self) -> None:
        """Another worker has it, or will: stop without further output, so that the run can continue from here."""
        self.left_as = self.left_as or "lost"
        if self._recorder is not None:
            self._recorder.is_closed = True
        self._at_rest.set()
        if self._query is not None:
            self._query.abandon()
        self.interrupt()

    def hand_over(self) -> None:
        """Stop without further output, so that another worker, or the next start, continues it from its log."""
        self.left_as = "handed_over"
        self.lose()

    def note_done(self) -> None:
        """`Done` was sent; the control has a moment to finish."""
        asyncio.get_running_loop().call_later(_REST_S, self._at_rest.set)

    def note_end(self) -> None:
        """Its row is finished, or another worker has it."""
        self._ended.set()

    async def see_through(
        self, query: ActiveQuery, recorder: RunRecorder, *, meter: Meter | None = None
    ) -> Done | None:
        """Run the query to its end, and write the end. Call it once.

        Args:
            query: the run's.
            recorder: writes it down.
            meter: counts what it spends; `None`: nothing does.

        Returns:
            Its last chunk; `None` if the run was lost, or parked.

        Raises:
            InternalError: it ended without `Done`, or a part of it can never be written.
            StorageError: its end can never be written.
        """
        self._query, self._recorder = query, recorder
        recorder.log.on_lost = self.lose
        if recorder.answer.pending:  # asked by a worker before this one
            await self._deliver_answers()
        if meter is not None and self.record.shadow_of is None:
            await self._measure(query, recorder, meter)
        self._drive = asyncio.create_task(query.run(), name=f"query:{self.record.id}")
        self._drive.add_done_callback(lambda _: self._at_rest.set())
        if self._request is not None:
            self._request(query)
        try:
            await self._at_rest.wait()
            self.left_as = "parked" if query.is_parked else self.left_as
            if self.left_as is None:
                await self._write_end(query, recorder)
            elif self.left_as != "lost":
                await self._leave(recorder, is_parked=query.is_parked)
        except asyncio.CancelledError:
            self.lose()
            raise
        return None if self.left_as else recorder.answer.done

    async def settle(self) -> None:
        """Await the control, which may go on after `Done`; then release it.

        The query refers to this run: a reference cycle, which would stay until a garbage collection.
        """
        for task in self._hearing:
            task.cancel()
        if self._drive is not None:
            await asyncio.wait({self._drive})
            if not self._drive.cancelled() and (error := self._drive.exception()):
                log.error("query.broke", problem=f"{type(error).__name__}: {error}")
        self._query = self._drive = self._request = self._recorder = None

    def _ask(self, request: Callable[[ActiveQuery], None]) -> None:
        """Send the query a request, now or as soon as it is opened."""
        if self._query is None:
            self._request = self._request or request
        else:
            request(self._query)

    async def _leave(self, recorder: RunRecorder, *, is_parked: bool) -> None:
        """Leave the run as a row, once the work that it started here has ended.

        One that waits for people alone is parked, unless there is an answer that it does not know; any other is for the
        worker that claims it next.
        """
        recorder.is_closed = True
        if self._drive is not None:
            await ended_within([self._drive], _LEAVE_S, clock=self._clock)
        row = self._store.interrupts.parking(self.record.id, delivered=self._known()) if is_parked else None
        try:
            await recorder.log.leave(is_parked=is_parked, decide=row)
        except RunLostError:
            self.left_as = "lost"
            return
        log.info("run.parked" if is_parked else "run.handed_over", run_id=self.record.id)

    async def _deliver_answers(self) -> None:
        async def deliver() -> None:
            found = await self._store.interrupts.undelivered(self.record.id, delivered=self._known())
            query = self._query
            if query is None or query.is_parked or self.left_as or not isinstance(query.control, TreeControl):
                return
            new = {id_: answer for id_, answer in found.items() if id_ not in self._delivered}
            if new:
                self._delivered |= new.keys()
                query.control.deliver(ANSWERS, new)

        await _UNREAD.call(deliver, clock=self._clock, when=StoreUnavailableError)

    async def _measure(self, query: ActiveQuery, recorder: RunRecorder, meter: Meter) -> None:
        """Have the run metered, and deliver the state of its user's limits before its next tick."""
        opening = partial(meter.open, self.record, query.tree, is_new=not recorder.record.ticks)
        recorder.meter = await _UNREAD.call(opening, clock=self._clock, when=StoreUnavailableError)
        recorder.deliver = query.control.deliver
        await recorder.look_at_meter()

    def _known(self) -> set[str]:
        """The interrupts whose answers are in the log, or about to be."""
        asked = {} if self._recorder is None else self._recorder.answer.interrupts
        return self._delivered | {id_ for id_, each in asked.items() if each.status != "pending"}

    async def _write_end(self, query: ActiveQuery, recorder: RunRecorder) -> None:
        recorder.is_closed = True
        answer, done = recorder.answer, recorder.answer.done
        if done is None or recorder.is_broken:
            if recorder.end_work is not None:
                await recorder.log.save(recorder.end_work)
            what = "came to rest without `done`" if done is None else "has something that cannot be written"
            raise InternalError(f"the run {self.record.id!r} {what}; it is ended from its log")
        fault, record = query.agent.fault, recorder.record
        end = run_end(done, answer=answer.text, failed=answer.failed, fault=fault, record=record)
        try:
            await recorder.log.finish(write_chunk(done), end, work=recorder.end_work)
        except RunLostError:
            self.left_as = "lost"
        except RunBrokenError:
            if recorder.end_work is not None:
                await recorder.log.save(recorder.end_work)
            raise
        except Exception as error:
            if isinstance(error, StorageError) or recorder.end_work is None:
                raise
            recorder.reopen()
            query.closing.end_unsaved(query.agent, error)
            await self._write_end(query, recorder)


def run_end(
    done: Done,
    *,
    answer: str,
    failed: Failed | None,
    fault: ModelFault | None,
    record: Record,
    rest: Iterable[Chunk] = (),
) -> RunEnd:
    """The end of a run as its row keeps it.

    Args:
        done: the last chunk.
        answer: the content chunks, joined.
        failed: the last error chunk; `None` if there was none.
        fault: what ended the query, as far as it is known.
        record: what it has come to, with its figures.
        rest: the chunks that will end it, and are not in the record.
    """
    commonest = record.cache_misses.most_common(1)
    return RunEnd(
        termination_reason=done.termination_reason,
        answer=answer,
        turns=done.turns,
        tokens_used=done.tokens_used,
        tokens_estimated=done.tokens_estimated,
        model_used=done.model_used,
        error=_error(failed, fault),
        summary=record.summary(rest),
        usage=done.usage or TokenUsage(),
        cache_miss=commonest[0][0] if commonest else None,
    )


def log_end(done: Done, *, tree: str, **more: object) -> None:
    """Log the end of a run."""
    log.info(
        "run.finished",
        tree=tree,
        reason=done.termination_reason,
        turns=done.turns,
        tokens=done.tokens_used,
        model=done.model_used,
        **more,
    )


def _error(failed: Failed | None, fault: ModelFault | None) -> Mapping[str, Any] | None:
    """The JSON object `{error, error_type, cause?, detail?}`: for the user, and for operators."""
    if failed is None:
        return None
    error: dict[str, Any] = {"error": failed.error, "error_type": failed.error_type}
    if fault is not None and fault.error_type == failed.error_type and fault.cause:
        error |= {"cause": fault.cause, "detail": dict(fault.detail)}
    return error


async def ended_within(tasks: Collection["asyncio.Future[Any]"], seconds: float, *, clock: Clock) -> bool:
    """Wait until all tasks have ended or the time has passed; returns whether they have ended."""
    until_s, change = clock.now() + seconds, asyncio.Event()

    def wake(_: object) -> None:
        change.set()

    for task in tasks:
        task.add_done_callback(wake)
    try:
        while not all(task.done() for task in tasks) and clock.now() < until_s:
            change.clear()  # before the tasks are checked: the clock may have set it itself
            if not all(task.done() for task in tasks):
                await clock.wait(change, until_s=until_s)
    finally:
        for task in tasks:
            task.remove_done_callback(wake)
    return all(task.done() for task in tasks)
