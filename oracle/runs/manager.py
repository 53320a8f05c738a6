"""The runs of one process: starts, cancels and drains them.

A query is checked first. Then its row takes the conversation, and only after that is the conversation read, so that it
includes a query that has just ended. Then the query runs as a task of its own. Its row is finished in any case: with
its own `done`, or from its log, by this process or by another one.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import replace
from typing import Any, Self

import structlog

from bt_runtime import Clock, SystemClock
from bt_runtime.text import iso
from oracle.agent.answering import ActiveQuery, Ask, Checked, Oracle
from oracle.agent.notices import waits_for_place
from oracle.agent.tracing import RunTrace
from oracle.core.chunks import Done, SystemNotice, write_chunk
from oracle.core.errors import OracleError, UserError
from oracle.core.metrics import Metrics
from oracle.core.retry import pause
from oracle.decision import AgentConfig
from oracle.llm.protocol import ModelFault
from oracle.runs.continuing import OWN_VERSION, Continuation, Continued
from oracle.runs.debugging.debugger import DEBUG_COMMANDS, Debugger
from oracle.runs.live import LiveRun, ended_within, log_end
from oracle.runs.metering import Meter
from oracle.runs.opening import Opener
from oracle.runs.options import Follower, NoFollower, RunOptions
from oracle.runs.readers import Attendance, Readers
from oracle.runs.record.reading import read_entries
from oracle.runs.record.record import Record
from oracle.runs.recorder import RunRecorder
from oracle.runs.recovery import Recovery
from oracle.runs.storage.errors import ConversationBusyError, StorageError, StoreUnavailableError
from oracle.runs.storage.records import Claim, LogEntry, NewRun, Places, RunCommand, RunRecord
from oracle.runs.storage.store import Store
from oracle.runs.upkeep import Upkeep
from oracle.tools.client_tools import kept_tools

log = structlog.get_logger(__name__)

STOPPING = ModelFault("service_stopping", "The service is stopping. Please ask again in a moment.")
_CANCEL_UNREAD = "cancel_unread"
_SUPERSEDE_S = 5.0  # for a run without readers to end
_LEAVING_S, _LOOK_S = 1.0, 0.05  # for a reader whose client has already gone to leave, and between checks
_FORGET_S = 10.0  # for a query to end whose conversation is being deleted


class RunManager:
    """All runs of this process. Enter it once; leaving it cancels what is still running, and leaves what waits.

    Args:
        oracle: answers.
        store: has the runs, and the conversations of `oracle`.
        options: bounds and intervals.
        new_id: makes ids of runs and conversations.
        clock: monotonic time.
        now: seconds since the epoch.
        versions: of the packages that runs depend on.
    """

    def __init__(
        self,
        oracle: Oracle,
        store: Store,
        *,
        options: RunOptions,
        metrics: Metrics,
        new_id: Callable[[], str],
        clock: Clock | None = None,
        now: Callable[[], float] = time.time,
        versions: tuple[str, ...] = (OWN_VERSION,),
    ) -> None:
        self.is_draining = False
        self.meter: Meter | None = None
        """Counts what runs spend, put there before the first one; `None`: nothing does."""
        self._follower: Follower = NoFollower()
        self._oracle = oracle
        self._now = now
        self._store = store
        self._options = options
        self._metrics = metrics
        self._clock = clock = clock or SystemClock()
        self._live: dict[str, LiveRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._background: set[asyncio.Task[Any]] = set()
        self._openings: dict[str, asyncio.Future[LiveRun]] = {}
        self._readers = Readers(grace_s=options.reader_grace_s, clock=clock, on_deserted=self._desert)
        self._attendance = Attendance(store, readers=self._readers, is_here=self._live.__contains__, new_id=new_id)
        recovery = Recovery(
            store,
            default_model=oracle.model_name,
            writes=oracle.may_write,
            now=now,
            classified=oracle.equipment.classified,
            traces=oracle.traces,
        )
        self._upkeep = Upkeep(
            store,
            recovery,
            claimed=self._claimed,
            go_on=self._go_on,
            places=self._places,
            options=options,
            clock=clock,
            metrics=metrics,
        )
        self._opener = Opener(
            oracle,
            store,
            options=options,
            metrics=metrics,
            new_id=new_id,
            clock=clock,
            on_doubt=self._upkeep.doubt,
            versions=versions,
        )
        self._continuation = Continuation(oracle, store, self._opener, options=options, clock=clock, now=now)
        self._stack = AsyncExitStack()

    @property
    def debugger(self) -> Debugger | None:
        """What may pause the runs, put there before the first one; `None`: they cannot be debugged."""
        return self._opener.debugger

    @debugger.setter
    def debugger(self, debugger: Debugger) -> None:
        self._opener.debugger = debugger

    def follow(self, follower: Follower) -> None:
        """Hand the runs that end from now on to a follower; there is one at most."""
        self._follower = follower

    @property
    def active(self) -> int:
        """How many runs are running here."""
        return len(self._live)

    @property
    def recovering(self) -> int:
        """How many runs that were interrupted before the start have neither been continued nor ended so far."""
        return self._upkeep.recovering

    async def __aenter__(self) -> Self:
        self._store.commands.subscribe(self._on_command)
        await self._stack.enter_async_context(self._upkeep)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.is_draining = True
        self._upkeep.stop_claiming()  # otherwise waiting runs would start in place of those cancelled here
        await self._follower.stop()
        tasks = [*self._running(), *self._attendance.sending, *self._background]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._options.abort_s)
        if self.debugger is not None:
            await self.debugger.aclose()
        await self._stack.aclose()

    async def start(
        self, ask: Ask, *, claims: tuple[Claim, ...] = (), metadata: Mapping[str, str] | None = None
    ) -> LiveRun:
        """Check a question and start to answer it, or queue it for a worker if there is no room here.

        Args:
            ask: the question.
            claims: what only one run can have, such as the key of the request.
            metadata: what the client wants kept with the run.

        Raises:
            UserError, TreeFileError: the question is refused (`Oracle.check`), or the service is stopping.
            ConversationBusyError: the conversation is answering another query.
            UnknownConversationError: the user has no such conversation.
            TooManyRunsError: the user has reached the number of concurrent runs.
            StorageError: another run has what it claims; that of an `AlreadyBegunError` is given by `begun`.
            StoreUnavailableError: the database cannot be written at present.
        """
        self._refuse_if_draining()
        started_s = self._clock.now()
        checked = self._oracle.check(ask)
        if self.meter is not None:
            checked = await self.meter.admit(checked)
        trace = self._oracle.begin_trace(checked)
        new = self._opener.new_run(checked, claims=claims, metadata=metadata, trace=trace)
        # Shielded: the client may disconnect at any moment, and must not leave the row behind.
        opening = asyncio.ensure_future(self._open(checked, new, trace=trace, started_s=started_s))
        self._openings[new.id] = opening
        opening.add_done_callback(lambda _: self._opened(new.id))
        self._note_active()
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._expect_reader if claims else self._cancel_opened)
            raise
        finally:
            del opening  # its exception refers to this frame: a reference cycle

    async def begun(self, run_id: str) -> RunRecord | None:
        """A run that an earlier request has started; waits until this process has opened it.

        Returns:
            Its row; `None` if it was abandoned, because it could not be opened.

        Raises:
            Exception: why the earlier request was refused, if this process is opening it at present.
            StoreUnavailableError: it is not known whether the run was started.
        """
        opening = self._openings.get(run_id)
        if opening is not None:
            return (await asyncio.shield(opening)).record
        if self._upkeep.is_doubtful(run_id):
            raise StoreUnavailableError(f"whether the run {run_id!r} was begun is not known yet")
        return await self._store.runs.find(run_id)

    async def cancel(self, run: RunRecord) -> None:
        """Cancel a run of any worker; does nothing if it has ended.

        Raises:
            StoreUnavailableError: the command could not be sent to its worker.
        """
        live = self._live.get(run.id)
        if live is not None and live.is_parking:
            await live.wait()  # no worker receives it before its row says who has it
        elif live is not None:
            live.cancel()
            return
        elif self._follower.cancel(run.id):
            return
        is_running = run.status == "running" and live is None
        while not (is_running and await self._store.commands.send(RunCommand(run.id, "cancel"))):
            for record in await self._store.claims.claim(1, only=run.id):  # nobody else can end it now
                if self.is_draining:  # it would be left to another worker, which would not know of the cancel
                    await self._store.claims.give_back(record, is_cancelled=True)
                    return
                self._upkeep.take(record)
                self._live[run.id].cancel()
                return
            found = await self._store.runs.find(run.id)
            if found is None or found.status == "finished":
                return
            is_running = True

    async def supersede(self, run: RunRecord) -> None:
        """Cancel a run that nobody reads, and wait a few seconds for its end: its user has moved on.

        Does nothing for a run that has ended, that waits for people, or that needs no reader.

        Raises:
            StoreUnavailableError: the command could not be sent to its worker.
        """
        if run.status not in ("queued", "running") or run.input.get("detached"):
            return
        if run.id in self._live or run.status == "queued":
            if not await self._cancel_unread(run):
                return
        else:
            await self._store.commands.send(RunCommand(run.id, _CANCEL_UNREAD))
        ending = asyncio.ensure_future(self._until_ended(run))
        await ended_within([ending], _SUPERSEDE_S, clock=self._clock)
        ending.cancel()

    async def _cancel_unread(self, run: RunRecord) -> bool:
        until_s = self._clock.now() + _LEAVING_S
        while self._readers.of(run.id):  # one that has just been closed
            if self._clock.now() >= until_s:
                return False
            await pause(_LOOK_S, clock=self._clock)
        await self.cancel(run)
        return True

    def attach(self, run: RunRecord) -> AbstractContextManager[None]:
        """A reader of the run is connected, as long as this is entered.

        A run is cancelled if its last reader has left and none has come back within the grace time.
        """
        return self._attendance.attach(run)

    async def forget(self, user_id: str, context_id: str) -> bool:
        """Delete a conversation and the texts of its runs; a running query is cancelled first.

        Returns:
            Whether the user had such a conversation.

        Raises:
            ConversationBusyError: the running query does not end.
            StoreUnavailableError: the database cannot be written at present.
        """
        until_s = self._clock.now() + _FORGET_S
        self._follower.forget(user_id, context_id)
        while True:
            running = await self._store.runs.open_of(context_id)
            if running is not None and running.user_id == user_id:
                await self._end_for(running, until_s - self._clock.now())
            try:
                return await self._store.conversations.forget(user_id, context_id)
            except ConversationBusyError:  # another query has started in the meantime
                if self._clock.now() >= until_s:
                    raise

    async def forget_run(self, run: RunRecord) -> bool:
        """Delete the texts of a run and what it has added to its conversation; one under way is cancelled first.

        Returns:
            Whether its user had it.

        Raises:
            ConversationBusyError: it does not end, or nothing else was said in a conversation that answers a query.
            StoreUnavailableError: the database cannot be written at present.
        """
        if run.status != "finished":
            await self._end_for(run, _FORGET_S)
        return await self._store.conversations.forget_run(run.user_id, run.id)

    async def _end_for(self, running: RunRecord, seconds: float) -> None:
        """Cancel a run and wait for its end."""
        await self.cancel(running)
        ending = asyncio.ensure_future(self._until_ended(running))
        try:
            if not await ended_within([ending], seconds, clock=self._clock):
                raise ConversationBusyError(
                    f"the conversation {running.context_id!r} is answering a question that does not end; try again in "
                    "a moment"
                )
            await ending
        finally:
            ending.cancel()

    async def drain(self) -> None:
        """Start and claim no more runs, wait `drain_s` for those that are running, then leave them to other workers.

        Runs that no other worker could continue are ended with an error. Returns when all are saved, or a few
        seconds after `drain_s` if they cannot be.
        """
        self.is_draining = True
        self._upkeep.stop_claiming()
        options, clock = self._options, self._clock
        if self.debugger is not None:
            self.debugger.leave_all("stopping")
        await self._follower.stop()
        if await ended_within(self._running(), options.drain_s, clock=clock):
            return
        log.info("drain.hurried", runs=self.active)
        for live in tuple(self._live.values()):
            if live.record.tree_sha is None:
                live.abort(STOPPING)
            else:
                live.hand_over()
        if await ended_within(self._running(), options.abort_s, clock=clock):
            return
        for live in tuple(self._live.values()):
            live.interrupt()
        if not await ended_within(self._running(), options.abort_s, clock=clock):
            log.error("drain.gave_up", runs=sorted(self._live))  # whoever finds them continues or ends them

    def _running(self) -> tuple["asyncio.Future[Any]", ...]:
        return (*self._openings.values(), *self._tasks.values())

    def _opened(self, run_id: str) -> None:
        self._openings.pop(run_id)
        self._note_active()

    def _note_active(self) -> None:
        self._follower.note_active(len(self._openings.keys() | self._tasks.keys()))

    def _places(self) -> Places:
        """The bounds of runs, with what is left of this worker's own."""
        options, active = self._options, len(self._openings.keys() | self._live.keys() | self._tasks.keys())
        here = None if options.most_here is None else options.most_here - active
        return Places(here, options.most_in_all, options.most_at_once)

    def _refuse_if_draining(self) -> None:
        if self.is_draining:
            raise UserError("The service is stopping and takes no new questions; come back in a moment.", status=503)

    async def _open(self, checked: Checked, new: NewRun, *, trace: RunTrace, started_s: float) -> LiveRun:
        places = self._places()
        if places.here is not None:  # `active` has this run already
            places = replace(places, here=places.here + 1)
        live = await self._opener.begin(new, places=places, notice=self._notice_of_place)
        if live.record.status == "queued":
            return live
        recorder = self._opener.recorder(live, started_s=started_s)
        try:
            self._refuse_if_draining()
            self._live[new.id] = live
            query = await self._opener.open(checked, live, recorder, trace=trace)
            self._refuse_if_draining()
        except BaseException:
            self._live.pop(new.id, None)
            await self._opener.abandon(new, recorder)
            raise
        self._run(live, query, recorder)
        return live

    def _notice_of_place(self, place: int) -> bytes:
        notice, at = waits_for_place(place), iso(self._now())
        return write_chunk(
            SystemNotice(notice.system_type, notice.message, notice.severity, metadata=notice.metadata, timestamp=at)
        )

    def _claimed(self, record: RunRecord) -> None:
        """Take commands for a claimed run from now on."""
        self._live[record.id] = LiveRun(record, store=self._store, clock=self._clock)
        self._store.commands.look()

    async def _go_on(self, record: RunRecord) -> bool:
        """Continue a run that was claimed; returns whether that worked: otherwise end it from its log.

        Raises:
            NotContinuedError: it is not what was recorded.
            StorageError: the store cannot be read or written at present, or another worker has the run.
        """
        live = self._live.setdefault(record.id, LiveRun(record, store=self._store, clock=self._clock))
        found: Continued | None = None
        try:
            await self._store.write(lambda _: None)  # then the log has what this process has written of it
            entries = await read_entries(self._store.log, record.id)
            waiting = _waiting_record(entries) if record.shadow_of is None else None
            if waiting is not None:
                recorder = self._opener.recorder(live, started_s=self._clock.now(), record=waiting)
                query = await self._open_waiting(live, recorder)
                found = None if query is None else Continued(query, recorder)
            else:
                found = await self._continuation.prepare(live, entries)
                if found is not None:
                    self._metrics.run_continued()
        finally:
            if found is None:
                self._live.pop(record.id, None)
        if found is None:
            return False
        self._run(live, found.query, found.recorder)
        return True

    async def _open_waiting(self, live: LiveRun, recorder: RunRecorder) -> ActiveQuery | None:
        """Open a run that has only waited so far; `None`: its tree cannot be loaded any more."""
        run = live.record
        asked = run.input
        ask = Ask(
            asked["question"],
            user_id=run.user_id,
            context_id=run.context_id,
            project_id=asked.get("project_id"),
            model=asked.get("model"),
            tree=run.tree,
            is_detached=bool(asked.get("detached")),
            client_tools=kept_tools(asked),
            attachments=tuple(asked.get("attachments", ())),
            output_schema=asked.get("output_schema"),
        )
        try:
            checked = replace(self._oracle.check(ask), config=AgentConfig(**run.limits))
            query = await self._opener.open(checked, live, recorder, trace=None)
        except StorageError:
            recorder.log.close()
            raise
        except (OracleError, ValueError) as error:
            log.warning("run.not_opened", run_id=run.id, problem=str(error))
            recorder.log.close()
            return None
        if (tree := checked.tree) is not None and tree.sha != run.tree_sha:  # edited while it waited
            await self._store.runs.note_tree(run, tree.sha)
        return query

    def _run(self, live: LiveRun, query: ActiveQuery, recorder: RunRecorder) -> None:
        self._metrics.run_started(live.record.tree)
        work = self._see_through(live, query, recorder)
        self._tasks[live.record.id] = asyncio.create_task(work, name=f"run:{live.record.id}")
        self._note_active()

    async def _see_through(self, live: LiveRun, query: ActiveQuery, recorder: RunRecorder) -> None:
        """The task of one run."""
        record, reason = live.record, "lost"
        structlog.contextvars.bind_contextvars(**record.log_fields)
        try:
            done = await live.see_through(query, recorder, meter=self.meter)
            reason = live.left_as or reason
            if done is not None:
                reason = done.termination_reason
                self._log_end(query, recorder, done)
        except Exception as error:  # noqa: BLE001  after any failure the run is ended from its log
            log.warning("run.not_ended", problem=f"{type(error).__name__}: {error}")
            reason = "error"
            recorder.log.close()
            await self._upkeep.end(record)
        finally:
            self._metrics.run_ended(record.tree, reason, seconds=self._clock.now() - recorder.started_s)
            self._live.pop(record.id, None)
            self._readers.forget(record.id)
            if self.debugger is not None:
                self.debugger.close(record.id)
            live.note_end()
            await live.settle()
            self._tasks.pop(record.id, None)
            self._note_active()
            self._upkeep.note_place()
            if not self.is_draining and live.left_as != "parked":
                self._follower.offer(record, reason)

    def _log_end(self, query: ActiveQuery, recorder: RunRecorder, done: Done) -> None:
        first_s = recorder.first_chunk_s
        self._metrics.used(done.model_used, done.usage)
        log_end(
            done,
            tree=query.agent.query.tree,
            tools=len(recorder.answer.calls),
            signals=list(query.agent.state.signals),
            ms=round((self._clock.now() - recorder.started_s) * 1000),
            first_chunk_ms=None if first_s is None else round(first_s * 1000),
        )

    async def _until_ended(self, run: RunRecord) -> None:
        """Wait for the end of a run of any worker."""
        live = self._live.get(run.id)
        if live is not None:
            await live.wait()
            return
        async for _ in self._store.log.follow(run.id, after=await self._store.log.last_chunk(run.id)):
            pass

    def _on_command(self, command: RunCommand) -> None:
        live = self._live.get(command.run_id)
        if live is None:
            if command.kind == "cancel":
                self._follower.cancel(command.run_id)
            return
        if command.kind == "cancel":
            if live.is_parking:
                self._later(self._cancel_waiting(command.run_id, after=live))
            live.cancel()
        elif command.kind == "answers":
            live.hear()
        elif command.kind == _CANCEL_UNREAD:
            self._later(self._cancel_unread(live.record))
        elif command.kind in DEBUG_COMMANDS:
            if self.debugger is not None:
                self.debugger.take(command)
        else:
            self._attendance.take(command)

    def _expect_reader(self, opening: "asyncio.Future[LiveRun]") -> None:
        """The client has disconnected before the run was opened, and may send the same request again."""
        if not opening.cancelled() and opening.exception() is None:
            with self.attach(opening.result().record):
                pass

    def _desert(self, run_id: str) -> None:
        live = self._live.get(run_id)
        if live is not None:
            log.info("run.deserted", run_id=run_id, grace_s=self._options.reader_grace_s)
            live.cancel()
        else:
            self._readers.forget(run_id)
            self._later(self._cancel_waiting(run_id))

    def _cancel_opened(self, opening: "asyncio.Future[LiveRun]") -> None:
        """The client has disconnected before the run was opened, and does not know its id."""
        if not opening.cancelled() and opening.exception() is None:
            live = opening.result()
            live.cancel()
            if live.record.status == "queued":
                self._later(self._cancel_waiting(live.record.id))

    async def _cancel_waiting(self, run_id: str, *, after: LiveRun | None = None) -> None:
        """Cancel a run that still waits for a worker; `after`: or for people, when it has been left here."""
        try:
            run = await (self._store.runs.find(run_id) if after is None else after.wait())
            if run is not None and (after is not None or run.status == "queued"):
                await self.cancel(run)
        except StorageError as error:
            log.warning("run.not_cancelled", run_id=run_id, problem=str(error))

    def _later(self, work: Coroutine[Any, Any, object]) -> None:
        task: asyncio.Task[Any] = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _waiting_record(entries: Sequence[LogEntry]) -> Record | None:
    """The record of a run that has only sent the notice that it waits; `None` for any other."""
    if any(entry.kind != "chunk" for entry in entries):
        return None
    record = Record()
    record.read(entries)
    told = [notice for notice in record.answer.notices if notice.system_type == "queued"]
    return record if record.seq == len(told) else None
