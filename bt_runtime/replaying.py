"""Replay a tree from its records: no work is started, every outcome comes from the recording.

A run is a function of the tree and its inputs, so the same tree does the same again; with an edited tree the replay
shows the first tick that differs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from bt_runtime.builder import LiveTree
from bt_runtime.context import Request
from bt_runtime.recording import Outcome, TickInput, TickRecord
from bt_runtime.status import RUNNING
from bt_runtime.text import without_long
from bt_runtime.ticker import close_tree, tick_tree


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
    before_outcome: Callable[[Request, Outcome], None] | None = None,
) -> Replay:
    """Tick a freshly built tree with the recorded inputs.

    Work may have had effects of its own on what the host's nodes read; the callbacks let the host repeat them.

    Args:
        tree: built, not yet run; of the same file or an edited one.
        recording: all records of a run, from the first tick.
        paths: the node paths of the recorded tree by index, if it may differ; `None` means those of `tree`.
        before_tick: called with each record before it is repeated.
        before_outcome: called before a request gets its outcome, or a halted node its partial result.
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
    """Takes the place of the run loop, record by record; so a run can be repeated while it is recorded.

    Args:
        tree: built, not yet run.
        before_outcome: as for `replay`.

    Attributes:
        is_running: the tree has not ended.
        open_requests: requests without an outcome, by key.
        missing: keys of recorded outcomes that the tree has not requested.
    """

    def __init__(self, tree: LiveTree, *, before_outcome: Callable[[Request, Outcome], None] | None = None) -> None:
        self._before_outcome = before_outcome or (lambda _request, _outcome: None)
        self._tree = tree
        self._context = tree.context
        self.is_running = True
        self.open_requests: dict[str, Request] = {}
        self.missing: list[str] = []

    def play(self, recorded: TickRecord) -> TickRecord | None:
        """Repeat a recorded tick; `None` if the run ends here and there is nothing to record."""
        given = TickInput(recorded.cause, recorded.causes, recorded.at_s, recorded.outcomes, recorded.deliveries)
        if recorded.cause == "end":
            self._tree.halt()
            self._answer(recorded.outcomes)
            self.is_running = False
            return close_tree(self._tree, given)
        self._answer(recorded.outcomes)
        record = tick_tree(self._tree, given)
        self._context.settled(self._context.halting)
        self._context.take_again()
        self.open_requests |= {request.key: request for request in self._context.take_posted()}
        self.is_running = self._tree.root.status is RUNNING
        return record

    def _answer(self, outcomes: Iterable[Outcome]) -> None:
        """Set the recorded outcomes on the requests with the same keys."""
        for outcome in outcomes:
            request = self.open_requests.pop(outcome.key, None)
            if request is None:
                self.missing.append(outcome.key)
            elif outcome.state != "cancelled":
                self._before_outcome(request, outcome)
                self._context.answer(request, outcome)
            elif request.halted:
                self._before_outcome(request, outcome)
                self._context.give_back(request, outcome)
            else:
                self.missing.append(outcome.key)  # the recorded tree had halted its node, this one has not
                self.open_requests[outcome.key] = request


def did_the_same(record: TickRecord, recorded: TickRecord, paths: Sequence[str], recorded_paths: Sequence[str]) -> bool:
    """Whether two ticks have the same effects; the paths are those of the nodes of each, by index.

    A record may have the sizes of its long values in their place.
    """
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
