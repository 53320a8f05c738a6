"""Retrace a recorded run with another tree: what would it have done, given the same events?

`replay` repeats a recording tick by tick, for the tree that was recorded. An edited tree may need other ticks for the
same events: one more round of a loop, a restart in between. So a retrace takes from the recording what came from
outside alone (outcomes, deliveries, times), and gives it to the tree in steps: the tick of an event, and the ticks that
the tree asks for after it.

A request that the recorded tree did not make has no outcome. What was recorded can answer another request than its own
if `match` says so: the same question, asked by a node that was renamed or moved.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bt_runtime.builder import LiveTree
from bt_runtime.context import Request
from bt_runtime.recording import Outcome, TickInput, TickRecord
from bt_runtime.status import RUNNING
from bt_runtime.supervision import Standing, Supervisor
from bt_runtime.ticker import FreeTicks, close_tree, tick_tree

Match = Callable[[Outcome, Mapping[str, Request]], Request | None]
"""Chooses the open request that a recorded outcome answers, where none has its key; `None`: none of them."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a tree did about one event.

    Args:
        event: the recorded tick that the event caused.
        records: the tick of the event, and those that the tree asked for; empty if the run had ended before.
        posted: requests that they posted and did not withdraw, in order.
        unclaimed: outcomes of the event that answer nothing that this tree has asked for.
    """

    event: TickRecord
    records: tuple[TickRecord, ...]
    posted: tuple[Request, ...] = ()
    unclaimed: tuple[Outcome, ...] = ()


def event_ticks(recording: Iterable[TickRecord]) -> tuple[TickRecord, ...]:
    """The ticks of a recording that something from outside has caused."""
    return tuple(record for record in recording if record.cause != "again")


class Retrace:
    """Gives the events of a recording to a freshly built tree, one at a time.

    Args:
        tree: built, not yet run.
        recording: all records of a run, from the first tick.
        match: for outcomes whose key no open request has.
        supervisor: bounds the run from outside, as it bounds one that is under way.
        before_give_back: called with the request of a halted node and with what the recording has kept of it, before
            the node gets that.

    Attributes:
        is_running: the tree has not ended.
        open_requests: requests without an outcome, by key, in the order in which they were posted.
    """

    def __init__(
        self,
        tree: LiveTree,
        recording: Iterable[TickRecord],
        *,
        match: Match | None = None,
        supervisor: Supervisor | None = None,
        before_give_back: Callable[[Request, Outcome], None] | None = None,
    ) -> None:
        self.is_running = True
        self.open_requests: dict[str, Request] = {}
        self._tree = tree
        self._context = tree.context
        self._match = match or (lambda _outcome, _requests: None)
        self._supervisor = supervisor
        self._before_give_back = before_give_back or (lambda _request, _outcome: None)
        self._interrupted = {
            outcome.key: outcome for record in recording for outcome in record.outcomes if outcome.state == "cancelled"
        }

    def claims(self, event: TickRecord) -> dict[str, tuple[Request, Outcome]]:
        """The outcomes of an event that this tree has asked for: by the request that each answers, with its new key."""
        claimed: dict[str, tuple[Request, Outcome]] = {}
        waiting = {key: request for key, request in self.open_requests.items() if not request.halted}
        for outcome in _arrived(event):
            request = waiting.get(outcome.key) or self._match(outcome, waiting)
            if request is not None:
                del waiting[request.key]
                claimed[outcome.key] = (request, replace(outcome, key=request.key))
        return claimed

    def step(self, event: TickRecord) -> Step:
        """Give the next event to the tree; after its end nothing happens.

        Raises:
            HotLoopError: the tree asks for another tick without end.
        """
        if not self.is_running:
            return Step(event, (), unclaimed=_arrived(event))
        if event.cause == "end":
            return Step(event, self._close(event))
        claimed = self.claims(event)
        for request, outcome in claimed.values():
            del self.open_requests[request.key]
            self._context.answer(request, outcome)
        answers = tuple(outcome for _, outcome in claimed.values())
        records, posted = self._tick(TickInput(event.cause, event.causes, event.at_s, answers, event.deliveries))
        unclaimed = tuple(outcome for outcome in _arrived(event) if outcome.key not in claimed)
        return Step(event, records, posted, unclaimed)

    def _tick(self, given: TickInput) -> tuple[tuple[TickRecord, ...], tuple[Request, ...]]:
        """Tick, and go on as long as the tree asks for it."""
        records: list[TickRecord] = []
        posted: dict[str, Request] = {}
        free = FreeTicks()
        while True:
            records.append(tick_tree(self._tree, given))
            self.is_running = self._tree.root.status is RUNNING
            interrupted = self._settle_halted()
            self._context.notice_changes()
            posted |= {request.key: request for request in self._admitted()}
            again = self._context.take_again()
            if again is None or not self.is_running:
                break
            free.add(again, visits=len(records[-1].visited))
            given = TickInput("again", (again,), given.at_s, interrupted)
        left = {key: request for key, request in posted.items() if not request.halted}
        self.open_requests = {key: each for key, each in self.open_requests.items() if not each.halted} | left
        return tuple(records), tuple(left.values())

    def _admitted(self) -> Sequence[Request]:
        """The posted requests that begin now; the supervisor may hold some, or end the run."""
        chosen: Sequence[Request] | None = None
        if self._supervisor is not None and self.is_running:
            context = self._context
            standing = Standing(
                context.now_s, context.posted, self.open_requests.values(), context.again, rests=context.again is None
            )
            chosen = self._supervisor.judge(standing)
            if chosen is None:
                self._stop()
                return ()
        return self._context.take_posted(chosen)

    def _stop(self) -> None:
        self._tree.halt()
        self._settle_halted()
        self._context.drop_posted()
        self.is_running = False

    def _settle_halted(self) -> tuple[Outcome, ...]:
        """Give the requests of halted nodes what the recording has kept of them."""
        settled: list[Outcome] = []
        while halted := self._context.halting:
            self._context.settled(halted)
            for request in halted:
                kept = self._interrupted.get(request.key) or Outcome(request.key, "cancelled", at_s=self._context.now_s)
                self._before_give_back(request, kept)
                self._context.give_back(request, kept)
                settled.append(kept)
        return tuple(settled)

    def _close(self, event: TickRecord) -> tuple[TickRecord, ...]:
        self._tree.halt()
        interrupted = self._settle_halted()
        self._context.drop_posted()
        self.is_running = False
        record = close_tree(self._tree, TickInput("end", event.causes, event.at_s, interrupted))
        return () if record is None else (record,)


def _arrived(event: TickRecord) -> tuple[Outcome, ...]:
    """The outcomes of requests that were not halted."""
    return tuple(outcome for outcome in event.outcomes if outcome.state != "cancelled")
