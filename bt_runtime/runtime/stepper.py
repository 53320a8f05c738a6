"""The stepper: how a run goes on, without tasks, a clock or waiting.

A `Stepper` is given the events of a run, and says what to do about them. Its driver starts work, cancels it and waits:
the asyncio loop (`RunLoop`), a replay, a retrace, the verifier. All of them share these rules:

1. An event is the end of a request, a value from outside, or a forced result; each has its time. It waits for the next
   tick. The run is ticked when there are events, when a node asks to be ticked again because it can make progress
   without waiting, and when a deadline has come; in this order.
2. Events that came before a deadline are handled before the deadline: a turn that ended in time is in time, even if the
   driver notices it late. A tick that events cause has the time of the latest of them, and time never goes back.
3. The requests of nodes that a tick has halted are cancelled and awaited before anything else starts. Their partial
   results are given to their nodes, and are inputs of the next tick. A key that this changes wakes the nodes that wait
   for it.
4. Then what the tick has posted is started, in the order in which it was posted. A supervisor may hold some requests,
   or end the run here; the tree is ticked first, so it decides first.
5. A tree that is ticked again and again without an event is a hot loop, and one that waits for nothing that can come
   is stalled; both end the run with an error.
6. A run that has ended is halted as a whole, its work is cancelled and awaited, and what that has changed is the last
   record.

So the inputs of the tree are events and times alone, and equal inputs give equal runs. One turn of a driver:

    given = stepper.due(now_s)                  # None: wait for an event, or until `wake_at_s`
    record = stepper.tick(given)
    while halted := stepper.halted:             # cancel these
        stepper.settle(partial results)
    start(stepper.start())
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from bt_runtime.language.errors import BlackboardError, BTError, HotLoopError, RunError, StalledError
from bt_runtime.nodes.context import Request
from bt_runtime.record.recording import (
    CauseKind,
    ForcedResult,
    NodeError,
    Outcome,
    TickInput,
    TickRecord,
    describe,
    forced_key,
    forced_path,
    forced_status,
)
from bt_runtime.record.status import FAILURE, RUNNING, Status
from bt_runtime.runtime.builder import LiveTree
from bt_runtime.text.data import dataclass

MOST_FREE_TICKS = 1_000
"""Ticks in a row without an event; more are a hot loop."""
_VISITS_PER_TICK = 50
"""Nodes that each of them may visit, on the average; with a thousand ticks that is half a second of work."""


class Standing(NamedTuple):
    """The state of a run between two ticks.

    Args:
        now_s: the time of the last tick, in seconds of the run's clock.
        posted: requests that have not been started, in the order in which they were posted; held ones come first.
        under_way: requests whose work has not ended.
        again: the path of the node that asked to be ticked again at once; `None` if none did.
        rests: the run is about to wait: no event is pending, and no node asked for another tick.
    """

    now_s: float
    posted: Sequence[Request]
    under_way: Collection[Request]
    again: str | None
    rests: bool


class Supervisor(Protocol):
    """A bound on a run from outside its tree: when the run must end, and what it may start.

    A tree decides how it ends; a supervisor enforces bounds that the tree does not. Its decisions are not part of the
    tree: the records of a run that it has ended are those of a run that was halted, so a replay needs no supervisor.
    """

    def deadline_s(self) -> float | None:
        """The time by which the run must be ticked, in seconds of its clock; `None` if there is none."""
        ...

    def judge(self, standing: Standing) -> Sequence[Request] | None:
        """Called after each tick after which the tree is RUNNING.

        Returns:
            The posted requests to start now. The others are held: they are in the next `Standing` again. `None` ends
            the run: pending work is cancelled and awaited, and posted requests are never started.

        Raises:
            RunError: the run cannot continue; it ends with this error.
        """
        ...


class Pacer(Protocol):
    """Pauses one run between its ticks, for debuggers.

    Until it returns, the run does not tick: work under way continues, and its outcomes and all deliveries wait. Values
    delivered meanwhile get a separate tick before any posted request is started, so a changed value or a forced result
    decides what starts.

    A replay needs no pacer: deliveries are in the tick records, and a pause changes no other input of the tree, if the
    run's clock is paused with it (`PausableClock`).
    """

    async def before_first_tick(self) -> None:
        """Return when the run may begin."""
        ...

    async def before_tick(self, given: TickInput) -> bool:
        """Return when the tick may begin, and whether it was held.

        A tick that was held gets the values that were delivered meanwhile, and this is called again with them.
        """
        ...

    async def after_tick(self, record: TickRecord, posted: Sequence[Request]) -> None:
        """Return when the run may go on; called after each tick after which the tree is RUNNING.

        Args:
            record: of the tick, whose halted nodes have got their partial results.
            posted: requests that have not been started, in the order in which they were posted.
        """
        ...

    def release(self) -> None:
        """The run must end: return from the present pause, and do not pause it again."""
        ...


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run.

    Args:
        status: SUCCESS or FAILURE of the root, if the run has ended; FAILURE with an `error`.
        errors: every exception that nodes raised, in order.
        error: the error that ended the run; `None` if none did.
        is_stopped: the supervisor ended the run; FAILURE, without an `error`.
        is_parked: the run has not ended: RUNNING, and it goes on from its record once there is a delivery.
    """

    status: Status
    ticks: int
    errors: tuple[NodeError, ...]
    error: BTError | None = None
    is_stopped: bool = False
    is_parked: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Ended:
    """A request that has ended without being cancelled."""

    request: Request
    outcome: Outcome

    @property
    def at_s(self) -> float:
        return self.outcome.at_s


@dataclass(frozen=True, slots=True, eq=False)
class _Delivery:
    """A blackboard value or a forced result from outside."""

    key: str
    value: Any
    at_s: float


class Stepper:
    """One run of a live tree, as a function of what happens to it.

    Args:
        tree: built, not yet run.
        supervisor: bounds the run from outside.
        max_free_ticks: ticks in a row without an event; more are a hot loop.
        is_timed: records tell how long their ticks took.

    Attributes:
        under_way: the requests that have been started and have not ended, by key, in the order of their starts.
        is_over: the root has ended, the supervisor has ended the run, or it was halted; not before the first tick.
        is_stopped: the supervisor has ended the run.
        is_timed: records tell how long their ticks took.
        interrupted: the partial results of halted requests that no tick has told of yet.
    """

    def __init__(
        self,
        tree: LiveTree,
        supervisor: Supervisor | None = None,
        *,
        max_free_ticks: int = MOST_FREE_TICKS,
        is_timed: bool = False,
    ) -> None:
        self.under_way: dict[str, Request] = {}
        self.is_over = self.is_stopped = False
        self.interrupted: tuple[Outcome, ...] = ()
        self._tree = tree
        self._context = tree.context
        self._supervisor = supervisor
        self._max_free_ticks = max_free_ticks
        self.is_timed = is_timed
        self._errors: tuple[NodeError, ...] = ()
        self._events: list[_Ended | _Delivery] = []
        self._free_ticks = self._free_visits = self._visits = 0

    # What happens

    def deliver(self, key: str, value: Any, at_s: float) -> None:  # noqa: ANN401  JSON data of the key's type
        """A blackboard value comes from outside; the next tick, which follows at once, begins with it.

        Raises:
            BlackboardError: the key is not declared, or the value is not of its type.
        """
        self._tree.blackboard.check(key, value)
        self._events.append(_Delivery(key, value, at_s))

    def force(self, path: str, result: ForcedResult, at_s: float) -> None:
        """Replace the result of a node, the next time it is ticked; from the start of the next tick on.

        Raises:
            RunError: the tree has no such node.
        """
        if path not in self._tree.paths:
            raise RunError(f"the tree {self._tree.definition.name!r} has no node {path!r}")
        self._events.append(_Delivery(forced_key(path), result, at_s))

    def ended(self, outcome: Outcome) -> None:
        """A request that is under way has ended by itself; the next tick, which follows at once, has its outcome."""
        self._events.append(_Ended(self.under_way.pop(outcome.key), outcome))

    # What there is to do

    @property
    def has_events(self) -> bool:
        """Whether something has happened that no tick has got yet."""
        return bool(self._events)

    @property
    def has_deliveries(self) -> bool:
        """Whether a value from outside is among it."""
        return any(isinstance(event, _Delivery) for event in self._events)

    @property
    def halted(self) -> tuple[Request, ...]:
        """The requests of halted nodes: they are to be cancelled, and their ends to be given to `settle`."""
        return self._context.halting

    @property
    def posted(self) -> tuple[Request, ...]:
        """The requests that have not been started, in the order in which they were posted."""
        return self._context.posted

    @property
    def awaits_deliveries_alone(self) -> bool:
        """Whether a run with no tick due now can continue only by a value from outside or a deadline."""
        return not self.under_way and not self.posted and self._context.awaits_delivery()

    @property
    def wake_at_s(self) -> float | None:
        """The earliest deadline of the nodes and the supervisor; `None` if there is none."""
        own_s = self._context.next_deadline_s()
        outer_s = self._supervisor.deadline_s() if self._supervisor is not None else None
        return own_s if outer_s is None or (own_s is not None and own_s <= outer_s) else outer_s

    def begin(self, now_s: float) -> TickInput:
        """The first tick."""
        return self._from_events(now_s, "start")

    def due(self, now_s: float) -> TickInput | None:
        """The tick that is due, at first that of `begin`.

        `None`: none is before an event, or before `wake_at_s`, or the run is over.

        Raises:
            HotLoopError: the tree repeats itself without waiting for anything.
            StalledError: the tree waits for nothing that can come.
        """
        if self.is_over:
            return None
        if not self._context.tick:
            return self.begin(now_s)
        if self._events:
            return self._from_events(now_s, None)
        if self._context.again is not None:
            return self.again(now_s)
        wake_at_s = self.wake_at_s
        if wake_at_s is not None and wake_at_s <= now_s:
            due = tuple(self._tree.paths[index] for index in self._context.due(wake_at_s)) or (self._tree.root.path,)
            return self._free_tick("deadline", due, now_s)
        if wake_at_s is None and not self.under_way and not self._context.awaits_delivery():
            raise StalledError(self._waiting_nodes())
        self._free_ticks = self._free_visits = 0
        return None

    def joined(self, given: TickInput) -> TickInput:
        """The input of a due tick with the values that came from outside since it was due."""
        came = [event for event in self._events if isinstance(event, _Delivery)]
        if not came:
            return given
        self._events = [event for event in self._events if not isinstance(event, _Delivery)]
        deliveries = (*given.deliveries, *((each.key, each.value) for each in came))
        cause = "delivery" if given.cause == "outcome" else given.cause
        causes = tuple([key for key, _ in deliveries])
        return given._replace(cause=cause, causes=causes, deliveries=deliveries)

    def again(self, now_s: float) -> TickInput | None:
        """The tick that a node has asked for; `None` if none has.

        Raises:
            HotLoopError: as `due`.
        """
        path = self._context.again
        return None if path is None else self._free_tick("again", (path,), now_s)

    def input(
        self,
        cause: CauseKind,
        causes: tuple[str, ...],
        at_s: float,
        outcomes: tuple[Outcome, ...] = (),
        deliveries: tuple[tuple[str, Any], ...] = (),
    ) -> TickInput:
        """The input of a tick that an event has caused, also one that is known from a recording.

        Partial results that no tick has told of come first, time never goes back, and what the tree does without an
        event is counted from here on.
        """
        self._free_ticks = self._free_visits = 0
        return TickInput(cause, causes, max(at_s, self._context.now_s), (*self.interrupted, *outcomes), deliveries)

    # Steps

    def answer(self, outcome: Outcome) -> None:
        """Set the outcome of a request that is under way, for the tick that follows; `due` does it for events."""
        self._context.answer(self.under_way.pop(outcome.key), outcome)

    def tick(self, given: TickInput) -> TickRecord:
        """Tick the tree.

        Raises:
            RunError: requests of nodes that an earlier tick has halted are not settled.
        """
        if self._context.halting:
            raise self._unsettled("the next tick")
        self.interrupted = ()
        record = tick_tree(self._tree, given, is_timed=self.is_timed)
        self.is_over = self.is_stopped or self._tree.root.status is not RUNNING
        self._visits = len(record.visited)
        self._errors += record.errors
        return record

    def withdraw(self, request: Request) -> Outcome | None:
        """The end of a halted request that had ended before it could be cancelled; `None` if it had not."""
        for event in self._events:
            if isinstance(event, _Ended) and event.request is request:
                self._events.remove(event)
                return replace(event.outcome, state="cancelled")
        return None

    def settle(self, outcomes: Sequence[Outcome | None]) -> None:
        """Give the halted nodes the partial results of their requests, in the order of `halted`; `None`: there is none.

        A request that was started has always one, be it empty.
        """
        halted = self._context.halting
        self._context.settled(halted)
        for request, outcome in zip(halted, outcomes, strict=True):
            self.under_way.pop(request.key, None)
            if outcome is not None:
                self.interrupted += (outcome,)
                self._context.give_back(request, outcome)
        self._context.notice_changes()

    def start(self) -> Sequence[Request]:
        """The posted requests that are to start now, in order; none if the run is over, which this may decide.

        Raises:
            RunError: requests of nodes that were halted are not settled, or the supervisor cannot let the run go on.
        """
        if self._context.halting:
            raise self._unsettled("anything else starts")
        if self.is_over or not self._context.tick:
            return ()
        chosen: Sequence[Request] | None = None
        if self._supervisor is not None:
            again = self._context.again
            rests = again is None and not self._events
            standing = Standing(self._context.now_s, self._context.posted, self.under_way.values(), again, rests)
            chosen = self._supervisor.judge(standing)
            if chosen is None:
                self.is_over = self.is_stopped = True
                return ()
        started = self._context.take_posted(chosen)
        for request in started:
            self.under_way[request.key] = request
        return started

    def start_held(self, key: str) -> Request | None:
        """Start a posted request that a recording knows as started; `None` if there is none."""
        request = next((each for each in self._context.posted if each.key == key), None)
        if request is not None:
            self.under_way[key] = request
            self._context.take_posted((request,))
        return request

    def lose(self, outcome_of: Callable[[Request], Outcome | None]) -> None:
        """The work of the requests was lost: each ends with its known outcome, or is posted once more.

        All posted requests are then judged together, because it is not known which had begun.
        """
        lost = []
        for request in (*self.under_way.values(), *self.posted):
            outcome = outcome_of(request)
            if outcome is not None:
                self.start_held(request.key)
                self.ended(outcome)
            elif self.under_way.pop(request.key, None) is not None:
                lost.append(request)
        self._context.post_again(lost)

    def halt(self) -> None:
        """End the run: halt all nodes, and forget what has not been started. `halted` are to be settled once more."""
        self.is_over = True
        self._tree.halt()
        self._context.drop_posted()

    def close(self, at_s: float, causes: tuple[str, ...] = ()) -> TickRecord | None:
        """The record of what happened after the last tick, while the run was ended; `None` if nothing did."""
        given = self.input("end", causes, at_s)
        if not given.outcomes and not self._context.has_changed():
            return None
        self.interrupted = ()
        record = self._context.end_tick(given)
        self._errors += record.errors
        return record

    def result(self, error: BTError | None = None) -> RunResult:
        """How the run has ended; `error`: what has ended it in place of the tree."""
        status = FAILURE if error or self.is_stopped else self._tree.root.status
        return RunResult(status, self._context.tick, self._errors, error, self.is_stopped)

    def snapshot(self) -> tuple[Any, ...]:
        """The state between two steps, for `put_back`; that of the tree and its context is theirs."""
        ends = self.is_over, self.is_stopped
        return dict(self.under_way), self.interrupted, *ends, self._errors, tuple(self._events)

    def put_back(self, snapshot: tuple[Any, ...]) -> None:
        """Return to the state of a snapshot."""
        under_way, self.interrupted, self.is_over, self.is_stopped, self._errors, events = snapshot
        self.under_way, self._events = dict(under_way), list(events)
        self._free_ticks = self._free_visits = self._visits = 0

    def _from_events(self, now_s: float, cause: CauseKind | None) -> TickInput:
        """The pending events; if a deadline lies between them, those from before it."""
        events = self._events
        if len(events) > 1 and (wake_at_s := self.wake_at_s) is not None:
            events = [event for event in events if event.at_s < wake_at_s] or events
        self._events = self._events[len(events) :]
        outcomes: list[Outcome] = []
        deliveries: list[tuple[str, Any]] = []
        for event in events:
            if isinstance(event, _Ended):
                self._context.answer(event.request, event.outcome)
                outcomes.append(event.outcome)
            else:
                deliveries.append((event.key, event.value))
        causes = [key for key, _ in deliveries] or [outcome.key for outcome in outcomes]
        at_s = events[-1].at_s if events and cause is None else now_s
        cause = cause or ("delivery" if deliveries else "outcome")
        return self.input(cause, tuple(causes), at_s, tuple(outcomes), tuple(deliveries))

    def _free_tick(self, cause: CauseKind, causes: tuple[str, ...], now_s: float) -> TickInput:
        """A tick that no event has caused; too many in a row are a hot loop."""
        self._free_ticks += 1
        self._free_visits += self._visits
        if self._free_ticks > self._max_free_ticks:
            raise HotLoopError(causes[0], self._max_free_ticks)
        if self._free_visits > self._max_free_ticks * _VISITS_PER_TICK:
            raise HotLoopError(causes[0], self._free_visits, "nodes")
        return TickInput(cause, causes, max(now_s, self._context.now_s), self.interrupted)

    def _unsettled(self, what: str) -> RunError:
        keys = ", ".join(repr(request.key) for request in self._context.halting)
        return RunError(f"the work of halted nodes is to be cancelled and given to `settle` before {what}: {keys}")

    def _waiting_nodes(self) -> tuple[str, ...]:
        """The RUNNING nodes without a RUNNING child."""
        return tuple(
            node.path
            for node in self._tree.nodes
            if node.status is RUNNING and not any(child.status is RUNNING for child in node.child_nodes)
        )


def tick_tree(tree: LiveTree, given: TickInput, *, is_timed: bool = False) -> TickRecord:
    """Step the tree once; the outcomes are set on their requests already.

    Args:
        tree: built, and not ended.
        given: all inputs of the tick.
        is_timed: whether the record tells how long the tick took.
    """
    began_s = perf_counter() if is_timed else 0.0
    tree.context.begin_tick(given.at_s)
    for key, value in given.deliveries:
        _deliver(tree, key, value)
    tree.root.step()
    took_ms = (perf_counter() - began_s) * 1000 if is_timed else 0.0
    return tree.context.end_tick(given, took_ms=took_ms)


def _deliver(tree: LiveTree, key: str, value: Any) -> None:  # noqa: ANN401  JSON data
    """Wrong values are refused when they come; a recorded one may be wrong for an edited tree."""
    path = forced_path(key)
    if path is not None:
        status = forced_status(value)
        node = next((node for node in tree.root.walk() if node.path == path), None)
        if node is None or status is None:
            problem = f"no node {path!r}" if node is None else f"no result {value!r}"
            tree.context.record_error(tree.root.path, f"a result cannot be forced: there is {problem}")
        else:
            node.force(status)
        return
    try:
        tree.blackboard.set(key, value)
    except BlackboardError as error:
        tree.context.record_error(tree.root.path, describe(error))
