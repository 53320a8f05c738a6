"""The run loop: drives a stepper with asyncio, and never polls.

The stepper decides what happens when; this module has the tasks behind the requests, the clock and the observers.
Between ticks the loop sleeps until a task ends, something is delivered, or a deadline comes. Before a tick the journal,
if there is one, gets the tick's outcomes; after it the observers get its record, before anything else happens. What the
tick asks for starts when all of that is durable.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import structlog

from bt_runtime.language.errors import BTError, RunError
from bt_runtime.nodes.clock import Alarm, Clock, SystemClock
from bt_runtime.nodes.context import Request, working
from bt_runtime.record.recording import ForcedResult, Journal, Observer, Outcome, TickInput, TickRecord, describe
from bt_runtime.runtime.builder import LiveTree
from bt_runtime.runtime.stepper import MOST_FREE_TICKS, Pacer, RunResult, Stepper, Supervisor
from bt_runtime.text.data import dataclass

log = structlog.get_logger(__name__)

_LONGEST_HOLD_S = 0.002
"""After this long in ticks without a wait between them, the event loop runs its other tasks."""
_YIELD_EVERY = 50
"""And after this many of them: a clock that is not the machine's may stand still meanwhile."""


@dataclass(frozen=True, slots=True)
class ResumedWork:
    """A run that was under way elsewhere.

    Args:
        stepper: the stepper that `Replaying.hand_over` returned, with the ticks so far repeated.
        outcome_of: how the work of a request without an outcome ended there, as far as that is known; asked once for
            each. `None`: it starts anew, or has brought nothing if it is to be cancelled.
    """

    stepper: Stepper
    outcome_of: Callable[[Request], Outcome | None]


class _Together:
    """Frames what the journal makes durable as a whole; entered again and again, and cheaper than a generator."""

    __slots__ = ("_journal",)

    def __init__(self, journal: Journal | None) -> None:
        self._journal = journal

    def __enter__(self) -> None:
        if self._journal is not None:
            self._journal.begin_tick()

    def __exit__(self, *_: object) -> None:
        if self._journal is not None:
            self._journal.end_tick()


class RunLoop:
    """Runs one live tree to its end.

    Args:
        tree: built, not yet run, or the one of `resumed`.
        observers: get every tick record; one that raises is dropped.
        journal: makes outcomes and deliveries durable before anything starts that depends on them.
        supervisor: bounds the run from outside.
        pacer: may hold the run between its ticks.
        resumed: the run has begun elsewhere, and goes on here; its stepper has a supervisor already.
        may_park: called when the run waits for deliveries alone; if it returns true, `run` returns, and only the record
            of the run is left. To continue the run, resume it and deliver to it before you run it. `None`: it waits in
            memory.
        halt_grace_s: how long a cancelled task may take to end before it is abandoned and logged, in real seconds, not
            those of the run's clock: it bounds code that ignores its cancellation.
    """

    def __init__(  # noqa: PLR0913  by name, and each is another part
        self,
        tree: LiveTree,
        *,
        clock: Clock | None = None,
        observers: Iterable[Observer] = (),
        journal: Journal | None = None,
        supervisor: Supervisor | None = None,
        pacer: Pacer | None = None,
        resumed: ResumedWork | None = None,
        may_park: Callable[[], bool] | None = None,
        max_ticks_without_event: int = MOST_FREE_TICKS,
        halt_grace_s: float = 5.0,
    ) -> None:
        self._tree = tree
        self._resumed = resumed
        self._may_park = may_park
        self._is_parked = False
        if resumed is None:
            self._stepper = Stepper(tree, supervisor, max_free_ticks=max_ticks_without_event)
        else:
            self._stepper = resumed.stepper
        self._stepper.is_timed = True
        self._clock = clock or SystemClock()
        self._observers = tuple(observers)
        self._journal = journal
        self._together = _Together(journal)
        self._pacer = pacer
        self._halt_grace_s = halt_grace_s
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}
        self._arrival = Alarm()  # set when something happens
        self._is_loose = False  # ticks have taken something since the last flush
        self._ticks_held = 0
        self._held_since_s = 0.0

    def deliver(self, key: str, value: Any) -> None:  # noqa: ANN401  JSON data of the key's type
        """Write a blackboard value from outside, at the start of the next tick, which follows at once.

        Must be called in the thread of the run's asyncio loop; after the end of the run it does nothing.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        self._stepper.deliver(key, value, self._clock.now())
        self._arrival.set()

    def force(self, path: str, result: ForcedResult) -> None:
        """Replace the result of a node, the next time it is ticked; from the start of the next tick on.

        Must be called in the thread of the run's asyncio loop; after the end of the run it does nothing.

        Raises:
            RunError: the tree has no such node.
        """
        self._stepper.force(path, result, self._clock.now())
        self._arrival.set()

    def cancel(self) -> None:
        """Request the run to stop; the tree's guards decide how it ends."""
        self.deliver("cancel_requested", value=True)
        if self._pacer is not None:
            self._pacer.release()

    async def run(self) -> RunResult:
        """Tick until the root has ended, or the run is parked: then nothing of it is halted.

        Every task that the run started has ended when this returns, except those that ignored their cancellation for
        longer than `halt_grace_s`.

        Raises:
            RunError: the tree has been run already.
        """
        stepper, name = self._stepper, self._tree.definition.name
        if self._tree.context.tick and self._resumed is None:
            raise RunError(f"the tree {name!r} has been run already; build another one")
        error: BTError | None = None
        try:
            given = await self._begin() if self._resumed is None else await self._resume(self._resumed)
            while given is not None:
                if given.outcomes:
                    await self._keep([outcome for outcome in given.outcomes if outcome.state != "cancelled"])
                    given = stepper.joined(given)
                if self._pacer is not None:
                    while await self._pacer.before_tick(given):
                        given = stepper.joined(given)
                record = self._tick(given)
                given = None if stepper.is_over else await self._go_on(record)
        except BTError as gave_up:
            error = gave_up.with_traceback(None)  # its frames would keep the whole run alive
            log.error("run.gave_up", tree=name, error=str(gave_up))  # noqa: TRY400  no traceback
        finally:
            await self._end()
        return replace(stepper.result(error), is_parked=self._is_parked)

    async def _begin(self) -> TickInput:
        if self._pacer is not None:
            await self._pacer.before_first_tick()
        return self._stepper.begin(self._clock.now())

    async def _resume(self, resumed: ResumedWork) -> TickInput | None:
        """Go on after the last tick of a run that was under way elsewhere; `None` if it had ended there."""
        stepper = self._stepper
        if not self._tree.context.tick:
            return await self._begin()
        if stepper.is_over:
            return None
        if halted := stepper.halted:
            at_s = self._clock.now()
            found = [resumed.outcome_of(request) or Outcome(request.key, "cancelled", at_s=at_s) for request in halted]
            await self._settle_with([replace(outcome, state="cancelled") for outcome in found])
        stepper.lose(resumed.outcome_of)
        return await self._go_on(None)

    def _tick(self, given: TickInput) -> TickRecord:
        if given.deliveries:
            self._is_loose = True
        with self._together:
            record = self._stepper.tick(given)
            self._observe(record)
        return record

    async def _go_on(self, record: TickRecord | None) -> TickInput | None:
        """Do what the tick asks for, and sleep until the next one is due; `None` as for `_next`.

        Args:
            record: of the tick; `None`: it was made elsewhere.
        """
        stepper = self._stepper
        if stepper.halted:
            await self._settle()
        if self._pacer is not None:
            await (self._pacer.after_tick(record, stepper.posted) if record else self._pacer.before_first_tick())
            if stepper.has_deliveries:  # they may halt what has posted
                return stepper.due(self._clock.now())
        if self._is_loose and stepper.posted:
            self._is_loose = False
            if self._journal is not None:
                await self._journal.flush()
        for request in stepper.start():
            self._tasks[request.key] = asyncio.create_task(self._serve(request), name=request.key)
        return await self._next()

    async def _next(self) -> TickInput | None:
        """Sleep until the next tick is due; `None`: the supervisor has ended the run, or it is parked."""
        stepper, clock = self._stepper, self._clock
        while not stepper.is_over:
            now_s = clock.now()
            if self._ticks_held == 0:
                self._held_since_s = now_s
            self._ticks_held += 1
            is_long = self._ticks_held > _YIELD_EVERY or now_s - self._held_since_s >= _LONGEST_HOLD_S
            if is_long and not stepper.has_events:
                self._ticks_held = 0
                await asyncio.sleep(0)
                continue
            if (given := stepper.due(now_s)) is not None:
                return given
            if self._may_park is not None and stepper.awaits_deliveries_alone and self._may_park():
                self._is_parked = True
                return None
            self._ticks_held = 0
            self._arrival.clear()
            await clock.wait(self._arrival, until_s=stepper.wake_at_s)
        return None

    def _observe(self, record: TickRecord) -> None:
        for observer in self._observers:
            try:
                observer.on_tick(record)
            except (Exception, asyncio.CancelledError):  # nothing is awaited here, so this is not a cancel of the run
                self._observers = tuple(other for other in self._observers if other is not observer)
                log.exception("observer.dropped", observer=type(observer).__name__, tick=record.tick)

    async def _keep(self, outcomes: Sequence[Outcome]) -> None:
        if self._journal is not None and outcomes:
            self._is_loose = True
            await self._journal.keep(outcomes)

    async def _settle(self) -> None:
        """Cancel and await the work of halted nodes; its partial results are kept before the nodes get them."""
        while halted := self._stepper.halted:
            await self._stop([self._tasks[request.key] for request in halted if request.key in self._tasks])
            await self._settle_with([self._stepper.withdraw(request) or self._kept_of(request) for request in halted])

    async def _settle_with(self, outcomes: Sequence[Outcome]) -> None:
        await self._keep(outcomes)
        with self._together:
            self._stepper.settle(outcomes)

    def _kept_of(self, request: Request) -> Outcome:
        """The partial result of a halted request, whose task is forgotten."""
        task = self._tasks.pop(request.key, None)
        if task is not None and task.done() and not task.cancelled():
            return task.result()
        return Outcome(request.key, "cancelled", at_s=self._clock.now())

    async def _stop(self, tasks: Sequence[asyncio.Task[Outcome]]) -> None:
        """Cancel tasks and await them; one that has not ended within the grace period is abandoned."""
        for task in tasks:
            task.cancel()
        _, late = await asyncio.wait(tasks, timeout=self._halt_grace_s) if tasks else (None, ())
        for task in late:
            log.error("task.left_behind", task=task.get_name(), grace_s=self._halt_grace_s)

    async def _serve(self, request: Request) -> Outcome:
        """Do the work, and tell the stepper of its end; `_settle` collects the results of halted requests instead.

        `start` runs inside the task, so its exceptions are failures of the work; a task that is cancelled before never
        starts. The end is reported from within the task: a callback would run one iteration of the event loop later.
        """
        working.set(request.node.path)
        value, problem = None, None
        try:
            value = await request.start()
        except asyncio.CancelledError:
            if request.halted:
                raise
            problem = "CancelledError: cancelled from within"  # something that the work awaits was
        except Exception as error:  # noqa: BLE001  whatever the work of a node raises is its failure
            problem = describe(error)
        if request.halted:
            return Outcome(request.key, "cancelled", value, problem, at_s=self._clock.now())
        outcome = Outcome(request.key, "done" if problem is None else "failed", value, problem, at_s=self._clock.now())
        self._tasks.pop(request.key, None)
        self._stepper.ended(outcome)
        self._arrival.set()
        return outcome

    async def _end(self) -> None:
        """Halt the tree, end its tasks, and record what that changed; not where the run is parked."""
        self._arrival.forget_time()
        if self._is_parked:
            return
        with self._together:
            self._stepper.halt()
        try:
            await self._settle()
        finally:
            await self._stop(list(self._tasks.values()))
        record = self._stepper.close(self._clock.now())
        if record is not None:
            self._observe(record)


async def run(tree: LiveTree, *, clock: Clock | None = None, observers: Iterable[Observer] = ()) -> RunResult:
    """Run a live tree to its end; `RunLoop` can also be cancelled and delivered to."""
    return await RunLoop(tree, clock=clock, observers=observers).run()
