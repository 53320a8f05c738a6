"""The debugger of a process: a session for each of its runs."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from typing import Any

import structlog

from bt_runtime import Clock, Registry, TreeDefinition, TreeFileError, TreeNotFoundError
from bt_runtime.library.named import read_sources
from oracle.runs.debugging.commands import DebugCommand, DebugRefusedError, WrongCommandError, check_command
from oracle.runs.debugging.session import DebugSession, check_standing
from oracle.runs.debugging.watching import BreakpointWatch, Foresight
from oracle.runs.record.debug import Debugged, DebugState, ResumeCause
from oracle.runs.record.reading import read_on
from oracle.runs.record.record import Record
from oracle.runs.storage.breakpoints import Breakpoint
from oracle.runs.storage.errors import StorageError
from oracle.runs.storage.records import RunCommand, RunRecord
from oracle.runs.storage.store import Store

log = structlog.get_logger(__name__)

COMMAND = "debug"
"""The kind of the store's commands that are for a debugger."""
RELOAD = "breakpoints"
"""The kind of those that say that breakpoints have changed."""

DEBUG_COMMANDS = frozenset({COMMAND, RELOAD})


class Debugger:
    """Debugs the runs of this process, and sends commands to those of others.

    Args:
        store: has the runs, and the breakpoints.
        registry: the kinds that trees are read with.
        lease_s: how long a run stays paused without a command.
        clock: monotonic time.
        foresight: made for each run, finds nodes with breakpoints before they begin; `None`: they are found after
            the tick.
        now: seconds since the epoch.
    """

    def __init__(
        self,
        store: Store,
        *,
        registry: Registry,
        lease_s: float,
        clock: Clock,
        foresight: Callable[[RunRecord, TreeDefinition], Foresight] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.registry = registry
        self._store = store
        self._lease_s = lease_s
        self._clock = clock
        self._foresight = foresight
        self.now = now
        self._sessions: dict[str, DebugSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reloads: dict[str, asyncio.Task[None]] = {}  # the latest of each run

    async def open(
        self,
        run: RunRecord,
        definition: TreeDefinition,
        record: Callable[[Debugged], None],
        *,
        clock: Clock | None = None,
    ) -> DebugSession:
        """The session of a run that has not begun, or not here.

        Args:
            run: its row.
            definition: its tree.
            record: keeps an event in its log.
            clock: of the run; `None`: that of the process.

        Raises:
            StoreUnavailableError: the breakpoints cannot be read at present.
        """
        session = DebugSession(
            run.id,
            watch=BreakpointWatch(definition),
            foresight=None if self._foresight is None else self._foresight(run, definition),
            clock=clock or self._clock,
            lease_s=self._lease_s,
            now=self.now,
            record=record,
            on_paused=lambda seconds: self._begin(self._extend(run.id, seconds)),
        )
        self._sessions[run.id] = session  # before the breakpoints are read: a change from now on reloads them
        try:
            await self._load(run, session)
        except BaseException:
            self.close(run.id)
            raise
        return session

    def close(self, run_id: str) -> None:
        """Forget the session of a run; does nothing if there is none."""
        self._reloads.pop(run_id, None)
        session = self._sessions.pop(run_id, None)
        if session is not None:
            session.detach()

    def leave_all(self, why: ResumeCause) -> None:
        """Release all runs of this process."""
        for session in self._sessions.values():
            session.leave(why)

    async def aclose(self) -> None:
        """Wait for what is being written."""
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def command(self, run: RunRecord, command: DebugCommand) -> None:
        """Do what an operator asks for, with a run of any worker; returns when that is in the log, or on its way.

        Raises:
            DebugRefusedError: the state of the run does not allow it.
            WrongCommandError: a part of the command is wrong.
            StoreUnavailableError: the command could not be sent, or not be kept.
        """
        session = self._sessions.get(run.id)
        if session is not None:
            session.command(command)
            await self._store.write(lambda _: None)
            return
        definition = await self.definition_of(run)
        if run.status != "running":
            raise DebugRefusedError("the run has ended")
        if run.worker == self._store.worker:
            raise DebugRefusedError("the run is ending, and cannot be debugged any more")
        check_standing(command, (await self.state(run)).standing)
        check_command(command, definition)
        await self._store.commands.send(RunCommand(run.id, COMMAND, asdict(command)))

    def take(self, command: RunCommand) -> None:
        """Take a command that was sent to this worker."""
        session = self._sessions.get(command.run_id)
        if session is None:
            return
        if command.kind == RELOAD:
            self._reloads[command.run_id] = self._begin(self._reload(session))
            return
        reload = self._reloads.get(command.run_id)
        if reload is None or reload.done():
            self._do(session, command)
        else:  # it was sent after the breakpoints were changed, and counts on them
            reload.add_done_callback(lambda _: self._do(session, command))

    def _do(self, session: DebugSession, command: RunCommand) -> None:
        try:
            session.command(DebugCommand.from_data(command.data))
        except (DebugRefusedError, WrongCommandError, ValueError) as error:  # the run went on in the meantime
            log.warning("debug.refused", run_id=command.run_id, problem=str(error))

    async def state(self, run: RunRecord) -> DebugState:
        """How a run of any worker stands, by its log.

        Raises:
            StoreUnavailableError: the log cannot be read at present.
        """
        return (await read_on(Record(), self._store.log, run.id, kinds={Debugged.kind})).debug

    async def definition_of(self, run: RunRecord) -> TreeDefinition:
        """The tree that a run of any worker runs.

        Raises:
            DebugRefusedError: no tree drives it, or its version cannot be read.
            StoreUnavailableError: the store cannot be read at present.
        """
        version = await self._store.trees.find(run.tree_sha) if run.tree_sha else None
        if version is None:
            raise DebugRefusedError("only a run that a YAML tree drives can be debugged")
        try:
            return read_sources(version.source, name=version.name, registry=self.registry)
        except (TreeFileError, TreeNotFoundError):
            raise DebugRefusedError("the version of the tree that it runs cannot be read here") from None

    async def announce(self, changed: Breakpoint) -> None:
        """Let the runs under way to which a breakpoint applies reload their breakpoints.

        A run of this process that it names has done so when this returns; the others do when they get the command.

        Raises:
            StoreUnavailableError: nothing could be written for longer than the patience, or nothing can be read.
        """
        await self._store.commands.send_to_all(
            RELOAD, tree=changed.tree, run_id=changed.run_id, user_id=changed.user_id
        )
        if changed.run_id is not None and (session := self._sessions.get(changed.run_id)) is not None:
            await self._reload(session)

    async def _reload(self, session: DebugSession) -> None:
        run = await self._store.runs.find(session.run_id)
        if run is not None:
            await self._load(run, session)

    async def _load(self, run: RunRecord, session: DebugSession) -> None:
        session.use(await self._store.breakpoints.of(run.id, tree=run.tree, user_id=run.user_id))

    async def _extend(self, run_id: str, seconds: float) -> None:
        await self._store.runs.extend_deadline(run_id, by_s=seconds)

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Do something in the background; the run does not depend on it."""

        async def done() -> None:
            try:
                await work
            except StorageError as error:
                log.warning("debug.not_stored", problem=str(error))

        task = asyncio.get_running_loop().create_task(done(), name="debugger")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
