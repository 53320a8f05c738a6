"""The run loop: ticks a tree when something has happened, and never polls.

What can happen: a request has ended, a deadline has come, somebody delivered a value (a cancel is one), or a node asked to
be ticked again because it can make progress without waiting. Between ticks the loop sleeps.

After each tick, in this order:

1. observers get the tick record;
2. requests of halted nodes are cancelled and awaited, and what they kept is handed to their nodes;
3. requests that the tick posted are started, in the order in which they were posted;
4. the loop waits for the next thing to happen.

So the tree sees nothing but outcomes, deliveries and recorded times, and the same of these give the same run.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import structlog
from py_trees.common import Status

from bt_runtime.builder import LiveTree
from bt_runtime.clock import Clock, SystemClock
from bt_runtime.context import Request
from bt_runtime.errors import BTError, HotLoopError, StalledError
from bt_runtime.recording import CauseKind, NodeError, Observer, Outcome, TickRecord
from bt_runtime.ticker import Ticker, TickInput

log = structlog.get_logger(__name__)

MAX_TICKS_WITHOUT_EVENT = 1000
"""Ticks in a row with nothing but nodes asking for another one; beyond it they are a hot loop."""

HALT_GRACE_S = 5.0
"""How long a cancelled task may take to end before it is left behind and logged."""

_YIELD_EVERY = 50  # re-ticks in a row before other runs of the process get their turn


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Args:
        status: SUCCESS or FAILURE of the root; FAILURE with an `error`.
        ticks: how many there were.
        errors: every exception that nodes raised, in order.
        error: why the loop itself gave up.
    """

    status: Status
    ticks: int
    errors: tuple[NodeError, ...]
    error: BTError | None = None


class RunLoop:
    """Runs one live tree to its end.

    Args:
        tree: built, not yet run.
        clock: the time of the run.
        observers: get every tick record; one that raises is dropped.
        max_ticks_without_event: bound on re-ticks in a row.
    """

    def __init__(
        self,
        tree: LiveTree,
        *,
        clock: Clock | None = None,
        observers: Iterable[Observer] = (),
        max_ticks_without_event: int = MAX_TICKS_WITHOUT_EVENT,
    ) -> None:
        self._tree = tree
        self._context = tree.context
        self._ticker = Ticker(tree)
        self._clock = clock or SystemClock()
        self._observers = list(observers)
        self._max_ticks_without_event = max_ticks_without_event
        self._ticks_without_event = 0
        self._event = asyncio.Event()
        self._running: dict[asyncio.Task[Any], Request] = {}
        self._ended: list[Outcome] = []
        self._interrupted: list[Outcome] = []
        self._deliveries: list[tuple[str, Any]] = []
        self._errors: list[NodeError] = []

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data of the key's type
        """Write a blackboard value from outside, at the start of the next tick, which comes at once."""
        self._deliveries.append((key, value))
        self._event.set()

    def cancel(self) -> None:
        """Ask the run to stop: the tree's guards see it, and decide how it ends."""
        self.deliver("cancel_requested", value=True)

    async def run(self) -> RunResult:
        """Tick until the root has ended.

        Every task that the run started has ended when this returns.
        """
        error: BTError | None = None
        try:
            cause: tuple[CauseKind, tuple[str, ...]] = ("start", ())
            while self._tick(*cause) is Status.RUNNING:
                await self._settle_halted()
                self._start_posted()
                cause = await self._wait()
        except BTError as gave_up:
            error = gave_up
            log.error("run.gave_up", tree=self._tree.definition.name, error=str(gave_up))
        finally:
            await self._leave_nothing_behind()
        status = Status.FAILURE if error else self._ticker.status
        return RunResult(status, self._context.tick, tuple(self._errors), error)

    def _tick(self, cause: CauseKind, causes: tuple[str, ...]) -> Status:
        outcomes = (*self._interrupted, *self._ended)
        deliveries = tuple(self._deliveries)
        self._interrupted, self._ended, self._deliveries = [], [], []
        # Outcomes alone set the time back to theirs: a turn that ended before the deadline was in time, even if the
        # loop looks a moment after it.
        latest_s = max(outcome.at_s for outcome in outcomes) if outcomes and not deliveries else self._clock.now()
        at_s = max(self._context.now_s, latest_s)
        record = self._ticker.tick(TickInput(cause, causes, at_s, outcomes, deliveries))
        self._errors.extend(record.errors)
        self._observe(record)
        return self._ticker.status

    def _observe(self, record: TickRecord) -> None:
        for observer in tuple(self._observers):
            try:
                observer.on_tick(record)
            except Exception:
                self._observers.remove(observer)
                log.exception("observer.dropped", observer=type(observer).__name__, tick=record.tick)

    def _start_posted(self) -> None:
        posted, self._context.posted = self._context.posted, []
        for request in posted:
            try:
                task = asyncio.create_task(request.node.start(), name=request.key)
            except Exception as error:  # noqa: BLE001  a node that cannot start has failed, the run has not
                self._end(request, Outcome(request.key, "failed", error=_describe(error), at_s=self._clock.now()))
                continue
            request.task = task
            self._running[task] = request
            task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        request = self._running.pop(task)
        now_s = self._clock.now()
        if task.cancelled():
            outcome = Outcome(request.key, "cancelled", at_s=now_s)
        elif (error := task.exception()) is not None:
            outcome = Outcome(request.key, "failed", error=_describe(error), at_s=now_s)
        else:
            outcome = Outcome(request.key, "done", task.result(), at_s=now_s)
        self._end(request, outcome)

    def _end(self, request: Request, outcome: Outcome) -> None:
        request.outcome = outcome
        if not request.halted:
            self._ended.append(outcome)
            self._event.set()

    async def _settle_halted(self) -> None:
        halted, self._context.halting = self._context.halting, []
        if not halted:
            return
        tasks = [request.task for request in halted if request.task is not None]
        _, late = await asyncio.wait(tasks, timeout=HALT_GRACE_S)
        for task in late:
            log.error("task.left_behind", task=task.get_name(), grace_s=HALT_GRACE_S)
        await asyncio.sleep(0)  # the callback of a task that was done already has yet to run
        for request in halted:
            ended = request.outcome
            outcome = Outcome(
                request.key, "cancelled", ended.value if ended else None, at_s=ended.at_s if ended else self._clock.now()
            )
            self._interrupted.append(outcome)
            request.node.give_back(outcome.value)

    async def _wait(self) -> tuple[CauseKind, tuple[str, ...]]:
        again, self._context.again = self._context.again, None
        if again is not None and not self._ended and not self._deliveries:
            return await self._tick_again(again)
        self._ticks_without_event = 0
        while not self._ended and not self._deliveries:
            until_s = min(self._context.deadlines.values(), default=None)
            if until_s is not None and until_s <= self._clock.now():
                return "deadline", self._due(until_s)
            if until_s is None and not self._running:
                raise StalledError(self._waiting_nodes())
            self._event.clear()
            await self._clock.wait(self._event, until_s=until_s)
        if self._deliveries:
            return "delivery", tuple(key for key, _ in self._deliveries)
        return "outcome", tuple(outcome.key for outcome in self._ended)

    async def _tick_again(self, path: str) -> tuple[CauseKind, tuple[str, ...]]:
        self._ticks_without_event += 1
        if self._ticks_without_event > self._max_ticks_without_event:
            raise HotLoopError(path, self._max_ticks_without_event)
        if self._ticks_without_event % _YIELD_EVERY == 0:
            await asyncio.sleep(0)
        return "again", (path,)

    def _due(self, until_s: float) -> tuple[str, ...]:
        return tuple(
            self._tree.nodes[index].path for index, at_s in self._context.deadlines.items() if at_s <= until_s
        )

    def _waiting_nodes(self) -> tuple[str, ...]:
        """The RUNNING nodes that no RUNNING node below explains."""
        return tuple(
            node.path
            for node in self._tree.nodes
            if node.status is Status.RUNNING and not any(child.status is Status.RUNNING for child in node.children)
        )

    async def _leave_nothing_behind(self) -> None:
        if self._tree.root.status is Status.RUNNING:
            self._tree.root.stop(Status.INVALID)
        self._context.posted.clear()
        await self._settle_halted()
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=HALT_GRACE_S)


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


async def run(
    tree: LiveTree,
    *,
    clock: Clock | None = None,
    observers: Iterable[Observer] = (),
) -> RunResult:
    """Run a live tree to its end; see `RunLoop` for a run that is to be cancelled or delivered to."""
    return await RunLoop(tree, clock=clock, observers=observers).run()
