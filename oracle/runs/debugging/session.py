"""Pauses one run between its ticks, on the commands of operators.

Rules:

- While a run is paused, its clock stands still.
- A run continues without a command once the lease is over: the time since it was paused, or since the last command. Its
  breakpoints have no effect then, until the next command.
- It continues for good after a cancel of the query, when the service ends, and an hour after its first pause.
- Everything is an event in the log; the user is notified when the run is paused and when it continues.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import cast

import structlog

from bt_runtime import Clock, ForcedResult, Pacer, PausableClock, Request, Status, TickRecord
from bt_runtime.nodes.clock import Signal
from bt_runtime.record.recording import TickInput
from oracle.agent.answering import ActiveQuery
from oracle.agent.control.tree import TreeControl
from oracle.agent.notices import Notice
from oracle.runs.debugging.commands import DebugCommand, DebugRefusedError, check_command
from oracle.runs.debugging.watching import BreakpointWatch, Foreseen, Foresight
from oracle.runs.record.debug import BreakpointHit, DebugEventKind, Debugged, DebugState, ResumeCause, Standing
from oracle.runs.storage.breakpoints import Breakpoint

log = structlog.get_logger(__name__)

MOST_HELD_S = 3600.0
"""How long after its first pause a run can be paused, in real seconds: its user waits, and it occupies a worker."""

_WORDS: dict[ResumeCause, str] = {
    "command": "",
    "lease": ", because the operator has gone away",
    "limit": ", because a run is held for an hour at most",
    "cancel": ", because the run was cancelled",
    "stopping": ", because the service is stopping",
}


class DebugSession(Pacer):
    """The debugger of one run.

    Args:
        watch: its breakpoints.
        foresight: finds nodes with breakpoints before they begin; `None`: they are found after the tick.
        clock: monotonic time of the process, which goes on while the run is held.
        lease_s: how long the run stays paused without a command.
        now: seconds since the epoch.
        record: keeps an event in the log.
        on_paused: called with the seconds of each pause, when it is over.

    Attributes:
        clock: of the run; it stands still while the run is paused.
        standing: whether the run is paused, or will be.
    """

    def __init__(
        self,
        run_id: str,
        *,
        watch: BreakpointWatch,
        foresight: Foresight | None = None,
        clock: Clock,
        lease_s: float,
        now: Callable[[], float],
        record: Callable[[Debugged], None],
        on_paused: Callable[[float], object],
    ) -> None:
        self.run_id = run_id
        self.clock = PausableClock(clock)
        self.standing: Standing = "running"
        self._watch = watch
        self._foresight = foresight
        self._foreseen: Foreseen | None = None  # of the tick that comes next
        self._passed: tuple[str, ...] = ()  # nodes before which the run was held, and that this tick may begin
        self._base = clock
        self._lease_s = lease_s
        self._now = now
        self._record = record
        self._on_paused = on_paused
        self._query: ActiveQuery | None = None
        self._control: TreeControl | None = None
        self._tick = 0
        self._by: str | None = None
        self._until_s = 0.0
        self._held_until_s: float | None = None
        self._wake = Signal()
        self._paused_s = 0.0
        self._is_announced = False
        self._ignores_breakpoints = False
        self._is_over = False
        self._has_begun = False  # in another process

    def attach(self, query: ActiveQuery) -> None:
        """Debug this query; called before it runs."""
        if isinstance(query.control, TreeControl):
            self._query, self._control = query, query.control

    def go_on(self, state: DebugState) -> None:
        """Hold a run from here on that was held in another process; called after `attach`."""
        self._tick, self._by, self._has_begun = state.tick, state.by, True
        if self._control is not None:
            self._watch.go_on(node.index for node in self._control.tree.nodes if node.status is Status.RUNNING)
        if state.standing == "running":
            return
        self.standing = "pausing"
        if state.hit is not None and state.hit.is_ahead and state.hit.path:
            self._passed = (state.hit.path,)
        if self._control is not None and state.standing == "paused":
            for key, value in state.values.items():
                self._control.deliver(key, value)
            for path, result in state.results.items():
                self._control.force(path, cast("ForcedResult", result))

    def detach(self) -> None:
        """Stop debugging; the query refers to this session, and the cycle would outlive the run."""
        self._query = self._control = None

    def use(self, breakpoints: Iterable[Breakpoint]) -> None:
        """Replace the breakpoints."""
        self._watch.use(breakpoints)

    # The pacer of the run

    async def before_first_tick(self) -> None:
        """Hold the run if it is to be paused from its beginning."""
        await self._hold_if_due(None if self._has_begun else self._watch.before_first_tick())

    async def before_tick(self, given: TickInput) -> bool:
        """Hold the run if a node with a breakpoint would begin in the tick."""
        self._foreseen = None
        if self._foresight is None or not self._watch.nodes or self._is_over or self._ignores_breakpoints:
            return False
        self._foreseen = await self._foresight.look(given, self._watch, passed=self._passed)
        if self._foreseen is None or (hit := self._foreseen.ahead) is None or self._is_over:
            return False
        self._passed += (hit.path or "",)
        await self._hold_if_due(hit)
        return True

    async def after_tick(self, record: TickRecord, posted: Sequence[Request]) -> None:
        """Hold the run if the tick has hit a breakpoint, or was the one that was asked for."""
        self._tick, self._passed = record.tick, ()
        if self._control is not None:
            board = self._control.tree.blackboard
            hit = self._watch.after_tick(record, posted=posted, board=board, foreseen=self._foreseen)
            await self._hold_if_due(hit)

    def release(self) -> None:
        """Release the run: it was cancelled."""
        self.leave("cancel")

    def leave(self, why: ResumeCause) -> None:
        """Release the run."""
        if not self._is_over:
            self._is_over = True
            self._resume(why)

    # Commands

    def command(self, command: DebugCommand) -> None:
        """Do what an operator asks for.

        Raises:
            DebugRefusedError: the state of the run does not allow it.
            WrongCommandError: a part of the command is wrong.
        """
        control = self._control
        if self._is_over:
            raise DebugRefusedError("the run is ending, and cannot be debugged any more")
        if control is None:
            raise DebugRefusedError("the run is being opened; try again in a moment")
        check_standing(command, self.standing)
        check_command(command, control.tree.definition)
        self._by, self._ignores_breakpoints = command.by, False
        self._renew()
        match command.kind:
            case "pause":
                self._change("pausing", "pausing")
            case "step":
                self._change("stepping", "stepped")
            case "resume":
                self._resume("command")
            case "set":
                control.deliver(command.key, command.value)
                self._note("set", by=command.by, key=command.key, value=command.value)
            case "force":
                control.force(command.path, command.result)
                self._note("forced", by=command.by, path=command.path, result=command.result)
        if command.kind in ("set", "force", "renew"):
            self._note("renewed", by=command.by, resumes_at=self._resumes_at)

    @property
    def _resumes_at(self) -> float:
        return self._now() + self._until_s - self._base.now()

    def _renew(self) -> None:
        self._until_s = self._base.now() + self._lease_s
        if self._held_until_s is not None:
            self._until_s = min(self._until_s, self._held_until_s)

    def _change(self, standing: Standing, what: DebugEventKind) -> None:
        self.standing = standing
        self._note(what, by=self._by)
        self._wake.set()

    def _resume(self, why: ResumeCause) -> None:
        """Let the run go on, if it is paused or about to be."""
        if self.standing == "running":
            return
        self._ignores_breakpoints = why == "lease"
        was_paused, self.standing = self.standing == "paused", "running"
        if was_paused:
            self._end_pause()
        paused_s, self._paused_s = self._paused_s, 0.0
        by = self._by if why == "command" else None
        self._note("resumed", by=by, why=why, paused_s=round(paused_s, 3))
        if self._is_announced:
            self._is_announced = False
            message = f"Resumed after {paused_s:,.0f} s{_WORDS[why]}."
            self._inform(message, state="resumed", tick=self._tick, paused_s=round(paused_s, 3), why=why)
        self._wake.set()

    async def _hold_if_due(self, hit: BreakpointHit | None) -> None:
        if self._is_over or (self.standing == "running" and (hit is None or self._ignores_breakpoints)):
            return
        by = self._by if hit is None else None
        self.clock.stop()
        self.standing = "paused"
        if self._held_until_s is None:
            self._held_until_s = self._base.now() + MOST_HELD_S
        self._renew()
        self._note("paused", by=by, hit=None if hit is None else asdict(hit), resumes_at=self._resumes_at)
        if not self._is_announced:
            self._is_announced = True
            where = f"at tick {self._tick:,}" if self._tick else "before the first tick"
            message = f"Paused by an operator {where}. The time limit stands still."
            self._inform(message, state="paused", tick=self._tick)
        try:
            await self._until_let_go()
        finally:
            if self.standing == "paused":  # the task of the run was cancelled
                self.leave("cancel")
            self._end_pause()

    async def _until_let_go(self) -> None:
        while self.standing == "paused":
            now_s = self._base.now()
            if self._held_until_s is not None and now_s >= self._held_until_s:
                self.leave("limit")
                return
            if now_s >= self._until_s:
                self._resume("lease")
                return
            self._wake.clear()
            await self._base.wait(self._wake, until_s=self._until_s)

    def _end_pause(self) -> None:
        """Start the clock of the run, if it stands still."""
        seconds = self.clock.go()
        if seconds:
            self._paused_s += seconds
            self._on_paused(seconds)

    def _note(self, what: DebugEventKind, *, by: str | None, **more: object) -> None:
        # Keys and values may be texts of the user, which belong in the run's record alone.
        log.info("run.debugged", run_id=self.run_id, what=what, tick=self._tick, by=by, why=more.get("why"))
        self._record(Debugged(what, self._tick, by, more))

    def _inform(self, message: str, **metadata: object) -> None:
        if self._query is not None:
            self._query.agent.output.inform(Notice("paused", message, "info", metadata))


def check_standing(command: DebugCommand, standing: Standing) -> None:
    """Check that a run in this state can have the command.

    Raises:
        DebugRefusedError: it cannot.
    """
    allowed: dict[str, tuple[Standing, ...]] = {
        "pause": ("running",),
        "resume": ("paused", "pausing", "stepping"),
    }
    if standing not in allowed.get(command.kind, ("paused",)):
        are = {
            "running": "is not paused; 'pause' pauses it after its next tick",
            "pausing": "will be paused after its next tick, and is not yet",
            "stepping": "is under way to the end of its next tick",
            "paused": "is paused already",
        }
        raise DebugRefusedError(f"the run {are[standing]}")
