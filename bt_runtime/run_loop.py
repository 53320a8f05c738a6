"""The run loop: ticks a tree on events, and never polls.

An event is the end of a request, a deadline, a value that was delivered (a cancel is one), or a node that asks to be
ticked again because it can make progress without waiting. Between ticks the loop sleeps.

Before a tick the journal, if there is one, makes the tick's outcomes durable. After each tick, in this order:

1. observers get the tick record;
2. requests of halted nodes are cancelled and awaited, and their partial results are given to their nodes, after the
   journal has them;
3. a pacer, if there is one, may hold the run here; what was delivered meanwhile gets a tick first;
4. requests that the tick posted are started, in the order in which they were posted; a supervisor, if there is one,
   may hold some of them, or end the run here;
5. the loop waits for the next event.

So the inputs of the tree are outcomes, deliveries and recorded times alone, and equal inputs give equal runs.

Outcomes and deliveries carry the time of their arrival. A tick that they cause has the time of the latest of them, and
events from before a deadline are handled before the deadline: a turn that ended in time is in time, even if the loop
wakes late.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import structlog

from bt_runtime.builder import LiveTree
from bt_runtime.clock import Clock, SystemClock
from bt_runtime.context import Request
from bt_runtime.errors import BTError, RunError, StalledError
from bt_runtime.forcing import ForcedResult, forced_key
from bt_runtime.pacing import Pacer
from bt_runtime.recording import CauseKind, Journal, NodeError, Observer, Outcome, TickInput, TickRecord
from bt_runtime.status import FAILURE, RUNNING, Status
from bt_runtime.supervision import Standing, Supervisor
from bt_runtime.tasks import Delivery, Ended, Inbox, Tasks
from bt_runtime.ticker import MOST_FREE_TICKS, FreeTicks, close_tree, tick_tree

log = structlog.get_logger(__name__)

HALT_GRACE_S = 5.0
"""How long a cancelled task may take to end before it is abandoned and logged."""

_LONGEST_HOLD_S = 0.002
"""After so long in ticks without a wait between them, the event loop runs its other tasks."""
_YIELD_EVERY = 50
"""And after so many of them: a clock that is not the machine's may stand still meanwhile."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Args:
        status: SUCCESS or FAILURE of the root; FAILURE with an `error`.
        errors: every exception that nodes raised, in order.
        error: the error that ended the run; `None` if none did.
        is_stopped: the supervisor ended the run; FAILURE, without an `error`.
    """

    status: Status
    ticks: int
    errors: tuple[NodeError, ...]
    error: BTError | None = None
    is_stopped: bool = False


class RunLoop:
    """Runs one live tree to its end.

    Args:
        observers: get every tick record; one that raises is dropped.
        journal: makes outcomes durable before the tree gets them.
        supervisor: bounds the run from outside.
        pacer: may hold the run between its ticks.
        halt_grace_s: how long a cancelled task may take to end, in real seconds.
    """

    def __init__(
        self,
        tree: LiveTree,
        *,
        clock: Clock | None = None,
        observers: Iterable[Observer] = (),
        journal: Journal | None = None,
        supervisor: Supervisor | None = None,
        pacer: Pacer | None = None,
        max_ticks_without_event: int = MOST_FREE_TICKS,
        halt_grace_s: float = HALT_GRACE_S,
    ) -> None:
        self._tree = tree
        self._context = tree.context
        self._clock = clock or SystemClock()
        self._observers = tuple(observers)
        self._journal = journal
        self._supervisor = supervisor
        self._pacer = pacer
        self._is_stopped = False
        self._free = FreeTicks(max_ticks_without_event)
        self._held_since_s = 0.0
        self._inbox = Inbox()
        self._tasks = Tasks(self._clock, halt_grace_s=halt_grace_s, inbox=self._inbox)
        self._interrupted: tuple[Outcome, ...] = ()
        self._errors: tuple[NodeError, ...] = ()

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data of the key's type
        """Write a blackboard value from outside, at the start of the next tick, which follows at once.

        Must be called in the thread of the run's asyncio loop; after the end of the run it does nothing.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        self._tree.blackboard.check(key, value)
        self._inbox.add(Delivery(key, value, self._clock.now()))

    def force(self, path: str, result: ForcedResult) -> None:
        """Replace the result of a node, the next time it is ticked; from the start of the next tick on.

        Must be called in the thread of the run's asyncio loop; after the end of the run it does nothing.

        Raises:
            RunError: the tree has no such node.
        """
        if path not in self._tree.paths:
            raise RunError(f"the tree {self._tree.definition.name!r} has no node {path!r}")
        self._inbox.add(Delivery(forced_key(path), result, self._clock.now()))

    def cancel(self) -> None:
        """Request the run to stop; the tree's guards decide how it ends."""
        self.deliver("cancel_requested", value=True)
        if self._pacer is not None:
            self._pacer.release()

    async def run(self) -> RunResult:
        """Tick until the root has ended.

        Every task that the run started has ended when this returns, except those that ignored their cancellation for
        longer than `halt_grace_s`.

        Raises:
            RunError: the tree has been run already.
        """
        if self._context.tick:
            raise RunError(f"the tree {self._tree.definition.name!r} has been run already; build another one")
        error: BTError | None = None
        try:
            if self._pacer is not None:
                await self._pacer.before_first_tick()
            given = self._from_events(cause="start")
            record = self._tick(given)
            while self._tree.root.status is RUNNING:
                await self._settle_halted()
                self._context.notice_changes()
                if self._pacer is not None and await self._is_overtaken(self._pacer, record):
                    given = self._from_events()
                elif self._start_posted():
                    given = await self._wait(len(record.visited))
                else:
                    break
                await self._keep([outcome for outcome in given.outcomes if outcome.state != "cancelled"])
                record = self._tick(given)
        except BTError as gave_up:
            error = gave_up.with_traceback(None)  # its frames would keep the whole run alive
            log.error("run.gave_up", tree=self._tree.definition.name, error=str(gave_up))  # noqa: TRY400  no traceback
        finally:
            await self._end()
        status = FAILURE if error or self._is_stopped else self._tree.root.status
        return RunResult(status, self._context.tick, self._errors, error, self._is_stopped)

    def _tick(self, given: TickInput) -> TickRecord:
        record = tick_tree(self._tree, given, is_timed=True)
        self._observe(record)
        return record

    async def _is_overtaken(self, pacer: Pacer, record: TickRecord) -> bool:
        """Let the pacer hold the run; whether something was delivered, which the tree gets before requests start."""
        await pacer.after_tick(record, self._context.posted)
        if not self._inbox.has_deliveries:
            return False
        self._context.take_again()
        self._free.reset()
        return True

    def _observe(self, record: TickRecord) -> None:
        self._errors += record.errors
        for observer in self._observers:
            try:
                observer.on_tick(record)
            except (Exception, asyncio.CancelledError):  # nothing is awaited here, so this is not a cancel of the run
                self._observers = tuple(other for other in self._observers if other is not observer)
                log.exception("observer.dropped", observer=type(observer).__name__, tick=record.tick)

    def _start_posted(self) -> bool:
        """Start the posted requests; false if the supervisor ends the run."""
        chosen: Sequence[Request] | None = None
        if self._supervisor is not None:
            again = self._context.again
            rests = again is None and not self._inbox
            standing = Standing(self._context.now_s, self._context.posted, self._tasks.under_way, again, rests)
            chosen = self._supervisor.judge(standing)
            self._is_stopped = chosen is None
        if not self._is_stopped:
            self._tasks.start(self._context.take_posted(chosen))
        return not self._is_stopped

    async def _settle_halted(self) -> None:
        """Await the requests of halted nodes, and give them their partial results."""
        while halted := self._context.halting:
            settled = await self._tasks.settle(halted)
            self._context.settled(halted)
            outcomes = [self._inbox.withdraw(request) or kept for request, kept in zip(halted, settled, strict=True)]
            await self._keep(outcomes)
            for request, outcome in zip(halted, outcomes, strict=True):
                self._interrupted += (outcome,)
                self._context.give_back(request, outcome)

    async def _keep(self, outcomes: Sequence[Outcome]) -> None:
        if self._journal is not None and outcomes:
            await self._journal.keep(outcomes)

    async def _wait(self, visits: int) -> TickInput:
        """Sleep until the next tick is due; `visits` nodes were visited in the last one."""
        again = self._context.take_again()
        while not self._inbox:
            now_s = self._clock.now()
            until_s = self._next_deadline_s()
            if again is not None:
                return await self._at_once("again", (again,), now_s, visits)
            if until_s is not None and until_s <= now_s:
                return await self._at_once("deadline", self._due(until_s), now_s, visits)
            if until_s is None and not self._tasks and not self._context.awaits_delivery():
                raise StalledError(self._waiting_nodes())
            self._free.reset()
            self._inbox.arrival.clear()
            await self._clock.wait(self._inbox.arrival, until_s=until_s)
        self._free.reset()
        return self._from_events()

    async def _at_once(self, cause: CauseKind, causes: tuple[str, ...], now_s: float, visits: int) -> TickInput:
        """A tick without a wait before it; too many in a row are a hot loop."""
        self._free.add(causes[0], visits=visits)
        if self._free.count == 1:
            self._held_since_s = now_s
        if now_s - self._held_since_s >= _LONGEST_HOLD_S or self._free.count % _YIELD_EVERY == 0:
            await asyncio.sleep(0)
            self._held_since_s = now_s = self._clock.now()
            if self._inbox:
                return self._from_events()
        return self._input(cause, causes, now_s)

    def _from_events(self, cause: CauseKind | None = None) -> TickInput:
        """The pending events; if a deadline lies between them, those from before it."""
        deadline_s = self._next_deadline_s()
        events = self._inbox.take(before_s=inf if deadline_s is None else deadline_s)
        ends = [event for event in events if isinstance(event, Ended)]
        for end in ends:
            self._context.answer(end.request, end.outcome)
        outcomes = tuple(end.outcome for end in ends)
        deliveries = tuple((event.key, event.value) for event in events if isinstance(event, Delivery))
        causes = tuple(key for key, _ in deliveries) or tuple(outcome.key for outcome in outcomes)
        at_s = events[-1].at_s if events and cause is None else self._clock.now()
        return self._input(cause or ("delivery" if deliveries else "outcome"), causes, at_s, outcomes, deliveries)

    def _input(
        self,
        cause: CauseKind,
        causes: tuple[str, ...],
        at_s: float,
        outcomes: tuple[Outcome, ...] = (),
        deliveries: tuple[tuple[str, Any], ...] = (),
    ) -> TickInput:
        interrupted, self._interrupted = self._interrupted, ()
        return TickInput(cause, causes, max(at_s, self._context.now_s), (*interrupted, *outcomes), deliveries)

    def _next_deadline_s(self) -> float | None:
        """The earliest deadline of the nodes and the supervisor."""
        until_s = self._context.next_deadline_s()
        outer_s = self._supervisor.deadline_s() if self._supervisor is not None else None
        return until_s if outer_s is None or (until_s is not None and until_s <= outer_s) else outer_s

    def _due(self, until_s: float) -> tuple[str, ...]:
        """The nodes whose deadline has come; the root, if only the supervisor's has."""
        due = tuple(self._tree.paths[index] for index in self._context.due(until_s))
        return due or (self._tree.root.path,)

    def _waiting_nodes(self) -> tuple[str, ...]:
        """The RUNNING nodes without a RUNNING child."""
        return tuple(
            node.path
            for node in self._tree.nodes
            if node.status is RUNNING and not any(child.status is RUNNING for child in node.child_nodes)
        )

    async def _end(self) -> None:
        """Halt the tree, end its tasks, and record what that changed."""
        self._tree.halt()
        self._context.drop_posted()
        try:
            await self._settle_halted()
        finally:
            await self._tasks.end()
        record = close_tree(self._tree, self._input("end", (), self._clock.now()))
        if record is not None:
            self._observe(record)


async def run(
    tree: LiveTree,
    *,
    clock: Clock | None = None,
    observers: Iterable[Observer] = (),
) -> RunResult:
    """Run a live tree to its end; `RunLoop` can also be cancelled and delivered to."""
    return await RunLoop(tree, clock=clock, observers=observers).run()
