"""Recorded runs on a freshly built tree: no work is started, every outcome comes from the recording.

A run is a function of the tree and its inputs, so the same tree does the same again: `replay` repeats a recording tick
by tick, and with an edited tree it shows the first tick that differs.

An edited tree may need other ticks for the same events: one more round of a loop, a restart in between. So a `Retrace`
takes from the recording what came from outside alone (outcomes, deliveries, times), and gives it to the tree in steps:
the tick of an event, and the ticks that the tree asks for after it. A request that the recorded tree did not make has
no outcome. What was recorded can answer another request than its own if `match` says so: the same question, asked by a
node that was renamed or moved.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from bt_runtime.nodes.context import Request
from bt_runtime.record.recording import Outcome, TickInput, TickRecord
from bt_runtime.runtime.builder import LiveTree
from bt_runtime.runtime.stepper import Standing, Stepper, Supervisor
from bt_runtime.text import without_long
from bt_runtime.text.data import dataclass

Match = Callable[[Outcome, Mapping[str, Request]], Request | None]
"""Chooses the open request that a recorded outcome answers, where none has its key; `None`: none of them."""

BeforeOutcome = Callable[[Request, Outcome], None]
"""Called before a request gets its outcome, or a halted node its partial result."""


def _nothing(_request: Request, _outcome: Outcome) -> None:
    """Work has no effects of its own."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay.

    Args:
        records: the ticks of the replay.
        diverged_at: the first tick that differs from the recording; `None` if none does.
        missing: keys of recorded outcomes that the tree has not requested.
        unanswered: keys of requests that were pending at the end and have no outcome in the recording.
    """

    records: tuple[TickRecord, ...]
    diverged_at: int | None
    missing: tuple[str, ...]
    unanswered: tuple[str, ...] = ()


def replay(
    tree: LiveTree,
    recording: Iterable[TickRecord],
    *,
    paths: Sequence[str] | None = None,
    before_tick: Callable[[TickRecord], None] | None = None,
    before_outcome: BeforeOutcome = _nothing,
) -> Replay:
    """Tick a freshly built tree with the recorded inputs.

    Work may have had effects of its own on what the host's nodes read; the callbacks let the host repeat them.

    Args:
        tree: built, not yet run; of the same file or an edited one.
        recording: all records of a run, from the first tick.
        paths: the node paths of the recorded tree by index, if it may differ; `None` means those of `tree`.
        before_tick: called with each record before it is repeated.
        before_outcome: repeats what the work has done besides returning.
    """
    recorded_paths, own_paths = tree.paths if paths is None else tuple(paths), tree.paths
    player = Replaying(tree, before_outcome=before_outcome)
    records: list[TickRecord] = []
    diverged_at: int | None = None
    for recorded in recording:
        if not player.is_running and recorded.cause != "end":
            diverged_at = diverged_at or recorded.tick
            break
        if before_tick is not None:
            before_tick(recorded)
        record = player.play(recorded)
        if record is not None:
            records.append(record)
        if diverged_at is None and (record is None or not did_the_same(record, recorded, own_paths, recorded_paths)):
            diverged_at = recorded.tick
    unanswered = tuple(key for key, request in player.open_requests.items() if not request.halted)
    return Replay(tuple(records), diverged_at, tuple(player.missing), unanswered)


class Replaying:
    """Repeats a run tick by tick; so one can be repeated while it is recorded.

    Args:
        tree: built, not yet run.
        supervisor: bounds the run after `hand_over`; it sees all ticks until then, and decides nothing.
        before_outcome: repeats what the work has done besides returning.

    Attributes:
        missing: keys of recorded outcomes that the tree has not requested.
    """

    def __init__(
        self, tree: LiveTree, supervisor: Supervisor | None = None, *, before_outcome: BeforeOutcome = _nothing
    ) -> None:
        self.missing: list[str] = []
        self._before_outcome = before_outcome
        self._repeated = None if supervisor is None else _Repeated(supervisor)
        self._stepper = Stepper(tree, self._repeated)

    @property
    def is_running(self) -> bool:
        """Whether the tree has not ended; before the first tick it has not."""
        return not self._stepper.is_over

    @property
    def open_requests(self) -> dict[str, Request]:
        """The requests without an outcome, by key."""
        return self._stepper.under_way | {request.key: request for request in self._stepper.posted}

    def play(self, recorded: TickRecord) -> TickRecord | None:
        """Repeat a recorded tick; `None` if the run ends here and there is nothing to record."""
        stepper = self._stepper
        kept = {outcome.key: outcome for outcome in recorded.outcomes if outcome.state == "cancelled"}
        _settle(stepper, lambda key: kept.pop(key, None), self._before_outcome)
        stepper.start()
        if recorded.cause == "end":
            stepper.halt()
            _settle(stepper, lambda key: kept.pop(key, None), self._before_outcome)
            self.missing += kept
            return stepper.close(recorded.at_s, recorded.causes)
        self.missing += kept  # the recorded tree had halted their nodes, this one has not
        for outcome in arrived(recorded):
            request = stepper.under_way.get(outcome.key) or stepper.start_held(outcome.key)
            if request is None:
                self.missing.append(outcome.key)
            else:
                self._before_outcome(request, outcome)
                stepper.answer(outcome)
        given = TickInput(recorded.cause, recorded.causes, recorded.at_s, recorded.outcomes, recorded.deliveries)
        return stepper.tick(given)

    def hand_over(self) -> Stepper:
        """The run as it is after the last tick that was repeated, for a `RunLoop` to go on with; ends the repetition.

        No work is being done for the requests under way. Requests that the last tick halted are not settled, and those
        that it posted are not started.
        """
        if self._repeated is not None:
            self._repeated.is_live = True
        return self._stepper


@dataclass(slots=True)
class _Repeated:
    """The supervisor of a run that is repeated: it counts what it sees, but its decisions have no effect.

    The recorded run went on. Whether it rested after a tick is not recorded and could only end it, so the supervisor is
    called as if it never rested.
    """

    supervisor: Supervisor
    is_live: bool = False

    def deadline_s(self) -> float | None:
        return self.supervisor.deadline_s()

    def judge(self, standing: Standing) -> Sequence[Request] | None:
        if self.is_live:
            return self.supervisor.judge(standing)
        return self.supervisor.judge(standing._replace(rests=False)) or ()


def did_the_same(record: TickRecord, recorded: TickRecord, paths: Sequence[str], recorded_paths: Sequence[str]) -> bool:
    """Whether two ticks have the same effects; the paths are those of the nodes of each, by index.

    A record may have the sizes of its long values in their place.
    """
    if (
        (paths is recorded_paths or paths == recorded_paths)
        and record.visited == recorded.visited
        and record.changes == recorded.changes
        and record.writes == recorded.writes
        and record.errors == recorded.errors
    ):  # as of nearly all ticks of a tree that is the same
        return True
    was = _did(recorded, recorded_paths)
    return _did(record, paths) == was or _did(replace(record, writes=without_long(record.writes)), paths) == was


def _did(record: TickRecord, paths: Sequence[str]) -> tuple[object, ...]:
    """The effects of a tick, by paths; a list that was kept as JSON is as good as the tuple that it was."""
    return (
        [paths[index] for index in record.visited],
        {paths[index]: status for index, status in record.changes},
        [(key, _plain(value)) for key, value in record.writes],
        record.errors,
    )


def _plain(value: object) -> object:
    """The value with every sequence a list and every mapping a dictionary."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return {name: _plain(each) for name, each in value.items()} if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True)
class Retraced:
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
        before_outcome: repeats what the work has done besides returning.
    """

    def __init__(
        self,
        tree: LiveTree,
        recording: Iterable[TickRecord],
        *,
        match: Match | None = None,
        supervisor: Supervisor | None = None,
        before_outcome: BeforeOutcome = _nothing,
    ) -> None:
        self._stepper = Stepper(tree, supervisor)
        self._match = match
        self._before_outcome = before_outcome
        self._kept = {
            outcome.key: outcome for record in recording for outcome in record.outcomes if outcome.state == "cancelled"
        }

    @property
    def is_running(self) -> bool:
        """Whether the tree has not ended; before the first event it has not."""
        return not self._stepper.is_over

    @property
    def open_requests(self) -> Mapping[str, Request]:
        """The requests without an outcome, by key, in the order in which they were started."""
        return self._stepper.under_way

    def step(self, event: TickRecord) -> Retraced:
        """Give the next event to the tree; after its end nothing happens.

        Raises:
            HotLoopError: the tree asks for another tick without end.
        """
        if not self.is_running:
            return Retraced(event, (), unclaimed=arrived(event))
        if event.cause == "end":
            self._halt()
            record = self._stepper.close(event.at_s, event.causes)
            return Retraced(event, () if record is None else (record,))
        claimed = self._claims(event)
        for request, outcome in claimed.values():
            self._before_outcome(request, outcome)
            self._stepper.answer(outcome)
        answers = tuple(outcome for _, outcome in claimed.values())
        records, started = self._tick(
            self._stepper.input(event.cause, event.causes, event.at_s, answers, event.deliveries)
        )
        unclaimed = tuple(outcome for outcome in arrived(event) if outcome.key not in claimed)
        return Retraced(event, records, tuple(request for request in started if not request.halted), unclaimed)

    def _claims(self, event: TickRecord) -> dict[str, tuple[Request, Outcome]]:
        """The outcomes that this tree has asked for, by recorded key: the request that each answers, with its key."""
        claimed: dict[str, tuple[Request, Outcome]] = {}
        waiting = dict(self.open_requests)
        for outcome in arrived(event):
            request = waiting.get(outcome.key)
            if request is None and self._match is not None:
                request = self._match(outcome, waiting)
            if request is not None:
                del waiting[request.key]
                claimed[outcome.key] = (request, replace(outcome, key=request.key))
        return claimed

    def _tick(self, given: TickInput) -> tuple[tuple[TickRecord, ...], list[Request]]:
        """Tick, and go on as long as the tree asks for it; returns also what it has started."""
        stepper = self._stepper
        following: TickInput | None = given
        records: list[TickRecord] = []
        started: list[Request] = []
        while following is not None:
            records.append(stepper.tick(following))
            _settle(stepper, self._kept_of, self._before_outcome)
            started += stepper.start()
            if stepper.is_stopped:
                self._halt()
            following = stepper.again(given.at_s) if self.is_running else None
        return tuple(records), started

    def _halt(self) -> None:
        self._stepper.halt()
        _settle(self._stepper, self._kept_of, self._before_outcome)

    def _kept_of(self, key: str) -> Outcome:
        return self._kept.get(key) or Outcome(key, "cancelled")


def _settle(stepper: Stepper, kept: Callable[[str], Outcome | None], before_outcome: BeforeOutcome) -> None:
    """Settle the halted requests with what was kept of them in the recording, by key."""
    while halted := stepper.halted:
        outcomes = [kept(request.key) for request in halted]
        for request, outcome in zip(halted, outcomes, strict=True):
            if outcome is not None:
                before_outcome(request, outcome)
        stepper.settle(outcomes)


def arrived(event: TickRecord) -> tuple[Outcome, ...]:
    """The outcomes of requests that were not halted."""
    return tuple(outcome for outcome in event.outcomes if outcome.state != "cancelled")
