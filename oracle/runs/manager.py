"""The runs of one process: begun, cancelled, watched, ended, and finished for those that no longer can.

The order of one query: it is checked; its row takes the conversation; only then is the conversation read, so that
nothing of a query that has just ended is missed; then it runs as a task of its own. Whatever becomes of it, its row is
finished in the end: by its own `done`, from its log by this process, or from its log by another.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, Self

import structlog

from bt_runtime import Clock, SystemClock, TreeDefinition
from oracle.answering import ActiveQuery, Ask, Checked, Oracle
from oracle.chunks import Done
from oracle.metrics import Metrics
from oracle.models.protocol import ModelFault
from oracle.runs.errors import DrainingError
from oracle.runs.joining import JoiningRecorder
from oracle.runs.live import LiveRun
from oracle.runs.options import RunOptions
from oracle.runs.readers import Readers
from oracle.runs.recorder import Backlog, RunRecorder
from oracle.runs.recovery import Recovery
from oracle.runs.upkeep import Upkeep
from oracle.runs.waiting import ended_within
from oracle.storage import (
    Command,
    ConversationBusyError,
    NewRun,
    RequestKey,
    RunRecord,
    StorageError,
    Store,
    StoreUnavailableError,
)

log = structlog.get_logger(__name__)

STOPPING = ModelFault("service_stopping", "The service is stopping. Please ask again in a moment.")
UNWRITABLE = ModelFault(
    "internal",
    "The answer could not be stored. Please ask again in a moment.",
    "the answer could not be stored, because the database cannot be written for now",
)

_FORGET_S = 10.0  # for a query to end whose conversation is to be forgotten


class RunManager:
    """All runs of this process. To be entered once; leaving it leaves nothing under way.

    Args:
        oracle: answers.
        store: keeps; the same that `oracle` keeps its conversations in.
        options: bounds and intervals.
        metrics: of the process.
        new_id: makes names for runs and conversations.
        clock: monotonic time.
        now: seconds since the epoch.
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
    ) -> None:
        self.is_draining = False
        self._oracle = oracle
        self._store = store
        self._options = options
        self._metrics = metrics
        self._new_id = new_id
        self._clock = clock or SystemClock()
        self._live: dict[str, LiveRun] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._sending: set[asyncio.Task[None]] = set()
        self._openings: dict[str, asyncio.Future[LiveRun]] = {}
        self._readers = Readers(grace_s=options.reader_grace_s, clock=self._clock, on_deserted=self._desert)
        recovery = Recovery(store, default_model=oracle.model_name, writes=oracle.may_write, clock=self._clock, now=now)
        self._upkeep = Upkeep(store, recovery, options=options, clock=self._clock, metrics=metrics)
        self._stack = AsyncExitStack()

    @property
    def active(self) -> int:
        """How many runs are under way here."""
        return len(self._live)

    @property
    def recovering(self) -> int:
        """How many runs that were interrupted before the start are still to be ended; they end in the background."""
        return self._upkeep.recovering

    async def __aenter__(self) -> Self:
        self._store.commands.subscribe(self._on_command)
        await self._stack.enter_async_context(self._upkeep)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.is_draining = True
        tasks = [*self._running(), *self._sending]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._options.abort_s)
        await self._stack.aclose()

    async def start(self, ask: Ask, *, key: RequestKey | None = None) -> LiveRun:
        """Check a question, and begin to answer it.

        Args:
            ask: the question.
            key: of the request; one that is sent again begins no second run.

        Raises:
            QuestionError, ConfigError, UnknownTreeError, TreeFileError: it cannot be asked so (`Oracle.check`).
            DrainingError: the service is stopping.
            ConversationBusyError: the conversation is answering another query.
            UnknownConversationError: the user has no such conversation.
            TooManyRunsError: the user has as many runs as one may have.
            AlreadyBegunError: the key names a run; `begun` gives it.
            KeyReusedError: the key was used for another request.
            StoreUnavailableError: nothing can be written for now.
        """
        self._refuse_if_draining()
        started_s = self._clock.now()
        checked = self._oracle.check(ask)
        new = self._new_run(checked, key)
        # Shielded: whoever asked may go away in the middle, and the row must not stay behind then.
        opening = asyncio.ensure_future(self._open(checked, new, started_s=started_s))
        self._openings[new.id] = opening
        opening.add_done_callback(lambda _: self._openings.pop(new.id))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(_cancel_opened if key is None else self._expect_reader)
            raise
        finally:
            del opening  # what it raised would hold it by the frame of this call, and be held by it

    async def begun(self, run_id: str) -> RunRecord | None:
        """A run that an earlier request has begun; waits until this process has opened it.

        Returns:
            Its row; `None` if it was abandoned, because it could not be opened.

        Raises:
            Exception: what the earlier request was refused with, if this process is only just opening it.
            StoreUnavailableError: it may have been begun, or may not.
        """
        opening = self._openings.get(run_id)
        if opening is not None:
            return (await asyncio.shield(opening)).record
        if self._upkeep.is_doubtful(run_id):
            raise StoreUnavailableError(f"whether the run {run_id!r} was begun is not known yet")
        return await self._store.runs.find(run_id)

    async def cancel(self, run: RunRecord) -> None:
        """Have a run stop, whichever worker has it; nothing if it has ended.

        Raises:
            StoreUnavailableError: the worker that has it could not be told.
        """
        live = self._live.get(run.id)
        if live is not None:
            live.cancel()
        elif run.status == "running":
            await self._store.commands.send(Command(run.id, "cancel"))

    @contextmanager
    def attach(self, run: RunRecord) -> Iterator[None]:
        """A reader is there, as long as this is entered.

        When the last reader of a run has left, and none has come back within the grace time, the run is cancelled.
        """
        reader = self._new_id()
        self._tell_readers(run, "reader_joined", reader)
        try:
            yield
        finally:
            self._tell_readers(run, "reader_left", reader)

    async def forget(self, user_id: str, context_id: str) -> bool:
        """Forget a conversation and the texts of its runs; a query under way is cancelled first.

        Returns:
            Whether the user had such a conversation.

        Raises:
            ConversationBusyError: the query under way does not end.
            StoreUnavailableError: nothing can be written for now.
        """
        until_s = self._clock.now() + _FORGET_S
        while True:
            running = await self._store.runs.running_of(context_id)
            if running is not None and running.user_id == user_id:
                await self._end_for(running, until_s - self._clock.now())
            try:
                return await self._store.conversations.forget(user_id, context_id)
            except ConversationBusyError:  # it has begun to answer another query in between
                if self._clock.now() >= until_s:
                    raise

    async def _end_for(self, running: RunRecord, seconds: float) -> None:
        """Cancel a run whose conversation is to be forgotten, and wait for its end."""
        await self.cancel(running)
        ending = asyncio.ensure_future(self._until_ended(running))
        try:
            if not await ended_within([ending], seconds, clock=self._clock):
                raise ConversationBusyError(
                    f"the conversation {running.context_id!r} is answering a query that does not end; try again in a "
                    "moment"
                )
            await ending
        finally:
            ending.cancel()

    async def drain(self) -> None:
        """Begin no more runs, and end those under way: by themselves for a while, then by an error that says why.

        Returns when all have ended and are saved; or, where they cannot be, after a few seconds more than `drain_s`.
        """
        self.is_draining = True
        options, clock = self._options, self._clock
        if await ended_within(self._running(), options.drain_s, clock=clock):
            return
        log.info("drain.hurried", runs=self.active)
        for live in tuple(self._live.values()):
            live.abort(STOPPING)
        if await ended_within(self._running(), options.abort_s, clock=clock):
            return
        for live in tuple(self._live.values()):
            live.interrupt()
        if not await ended_within(self._running(), options.abort_s, clock=clock):
            log.error("drain.gave_up", runs=sorted(self._live))  # the next start ends them from their logs

    def _running(self) -> tuple["asyncio.Future[Any]", ...]:
        return (*self._openings.values(), *self._tasks.values())

    def _refuse_if_draining(self) -> None:
        if self.is_draining:
            raise DrainingError("the service is stopping and takes no new questions; ask again in a moment")

    def _new_run(self, checked: Checked, key: RequestKey | None) -> NewRun:
        ask, tree = checked.ask, checked.tree
        return NewRun(
            id=ask.run_id or self._new_id(),
            user_id=ask.user_id,
            context_id=ask.context_id or self._new_id(),
            tree=ask.tree,
            input={
                "question": checked.question,
                "project_id": ask.project_id,
                "model": ask.model,
                "tree": ask.tree,
                "limits": dict(ask.limits),
            },
            limits=checked.config.model_dump(),
            timeout_s=checked.config.timeout_seconds,
            begins_conversation=ask.context_id is None,
            project_id=ask.project_id,
            tree_sha=tree.sha if tree else None,
            key=key,
        )

    async def _open(self, checked: Checked, new: NewRun, *, started_s: float) -> LiveRun:
        record = await self._begin(new)
        live = LiveRun(record, store=self._store, clock=self._clock)
        recorder = self._recorder(live, started_s=started_s)
        joining = JoiningRecorder(recorder, pending_since_s=lambda: recorder.log.pending_since_s)
        try:
            self._refuse_if_draining()
            self._live[record.id] = live
            query = await self._oracle.open(
                checked.for_run(record.id, context_id=record.context_id),
                emit=joining.emit,
                observers=[joining],
                journal=joining,
            )
            if query.tree is not None:
                await self._keep_tree(query.tree)
            self._refuse_if_draining()
        except BaseException:
            self._live.pop(record.id, None)
            recorder.log.close()
            await self._abandon(record.id)
            raise
        self._metrics.run_started(record.tree)
        task = asyncio.create_task(self._see_through(live, query, recorder), name=f"run:{record.id}")
        self._tasks[record.id] = task
        return live

    async def _begin(self, new: NewRun) -> RunRecord:
        try:
            return await self._store.runs.begin(new, most_per_user=self._options.most_per_user)
        except StoreUnavailableError:
            self._upkeep.doubt(new.id)  # it may be written yet
            raise

    async def _abandon(self, run_id: str) -> None:
        try:
            await self._store.runs.abandon(run_id)
        except StorageError:
            self._upkeep.doubt(run_id)

    async def _keep_tree(self, tree: TreeDefinition) -> None:
        await self._store.trees.keep(tree.sha, tree.name, tree.paths, tree.sources)

    def _recorder(self, live: LiveRun, *, started_s: float) -> RunRecorder:
        writer = self._store.log.writer(live.record)
        options = self._options
        return RunRecorder(
            log=writer,
            backlog=Backlog(
                writer,
                patience_s=options.patience_s,
                most_bytes=options.most_unsaved_bytes,
                is_well=lambda: self._store.health.problem is None,
            ),
            clock=self._clock,
            started_s=started_s,
            metrics=self._metrics,
            on_done=live.note_done,
            on_unwritable=lambda: live.abort(UNWRITABLE),
        )

    async def _see_through(self, live: LiveRun, query: ActiveQuery, recorder: RunRecorder) -> None:
        """The task of one run."""
        record, reason = live.record, "lost"
        structlog.contextvars.bind_contextvars(run_id=record.id, user_id=record.user_id)
        try:
            done = await live.see_through(query, recorder)
            if done is not None:
                reason = done.termination_reason
                self._log_end(query, recorder, done)
        except Exception as error:  # noqa: BLE001  whatever it was: the run is ended from its log
            log.warning("run.not_ended", problem=f"{type(error).__name__}: {error}")
            reason = "error"
            recorder.log.close()
            await self._upkeep.end(record)
        finally:
            self._metrics.run_ended(record.tree, reason, seconds=self._clock.now() - recorder.started_s)
            self._live.pop(record.id, None)
            self._readers.forget(record.id)
            live.note_end()
            await live.settle()
            self._tasks.pop(record.id, None)

    def _log_end(self, query: ActiveQuery, recorder: RunRecorder, done: Done) -> None:
        first_s = recorder.first_chunk_s
        log.info(
            "run.finished",
            tree=query.agent.query.tree,
            reason=done.termination_reason,
            turns=done.turns,
            tokens=done.tokens_used,
            tools=len(recorder.answer.calls),
            signals=list(query.agent.state.signals),
            model=done.model_used,
            ms=round((self._clock.now() - recorder.started_s) * 1000),
            first_chunk_ms=None if first_s is None else round(first_s * 1000),
        )

    async def _until_ended(self, run: RunRecord) -> None:
        """Wait for the end of a run, whichever worker has it."""
        live = self._live.get(run.id)
        if live is not None:
            await live.wait()
            return
        async for _ in self._store.log.follow(run.id, after=await self._store.log.last_chunk(run.id)):
            pass

    def _on_command(self, command: Command) -> None:
        live = self._live.get(command.run_id)
        if live is None:
            return
        if command.kind == "cancel":
            live.cancel()
        elif command.kind in ("reader_joined", "reader_left"):
            self._note_reader(command.run_id, command.kind, str(command.data.get("reader")))

    def _tell_readers(self, run: RunRecord, kind: str, reader: str) -> None:
        """Have whoever has the run know of a reader that came or went."""
        if run.id in self._live:
            self._note_reader(run.id, kind, reader)
        elif run.status == "running" and run.worker != self._store.worker:
            self._send(Command(run.id, kind, {"reader": reader}))

    def _note_reader(self, run_id: str, kind: str, reader: str) -> None:
        if kind == "reader_joined":
            self._readers.join(run_id, reader)
        else:
            self._readers.leave(run_id, reader)

    def _send(self, command: Command) -> None:
        """Send a command in the background; the store's writer keeps the order."""
        task = asyncio.create_task(self._send_now(command))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send_now(self, command: Command) -> None:
        try:
            await self._store.commands.send(command)
        except StorageError as error:
            log.warning("command.not_sent", run_id=command.run_id, kind=command.kind, problem=str(error))

    def _expect_reader(self, opening: "asyncio.Future[LiveRun]") -> None:
        """Whoever asked has gone before the run was opened, and may send the same request again."""
        if not opening.cancelled() and opening.exception() is None:
            with self.attach(opening.result().record):
                pass

    def _desert(self, run_id: str) -> None:
        live = self._live.get(run_id)
        if live is not None:
            log.info("run.deserted", run_id=run_id, grace_s=self._options.reader_grace_s)
            live.cancel()


def _cancel_opened(opening: "asyncio.Future[Any]") -> None:
    """Nobody will ever hear of a run that was opened after its asker had gone."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().cancel()
