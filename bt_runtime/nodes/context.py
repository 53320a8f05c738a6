"""Shared state of a run's nodes and its stepper: nodes ask for work and wake-ups, the driver of the run provides them.

Rules that make a run a function of its inputs:

- Nodes never await and never read a clock; `now_s` is the time of the tick, the same for the whole tick.
- A node that needs something slow posts a request and returns RUNNING. The loop starts the requests of a tick in the
  order in which they were posted, and sets their outcomes before a later tick.
- A halted node's request is cancelled, and its end is awaited before anything else starts. A request that is withdrawn
  in the tick that posted it never starts. One that is withdrawn later is cancelled, whether or not it was held until
  then: what a node sees must not depend on a hold, which is not recorded.
- Only the methods of the context change it.
"""

import weakref
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

from bt_runtime.language.expressions.compiler import Lookup
from bt_runtime.language.kind import Facts, Value
from bt_runtime.nodes.blackboard import Blackboard
from bt_runtime.record.recording import NodeError, Outcome, TickInput, TickRecord
from bt_runtime.record.status import Status
from bt_runtime.text.data import dataclass

working: ContextVar[str] = ContextVar("bt_runtime_working_node", default="")
"""The path of the node whose work a task does; set by what starts the work."""


def working_node() -> str:
    """The path of the node whose work is under way in this task, or in one that is started from it; else empty."""
    return working.get()


class TickedNode(Protocol):
    """A node with a status."""

    index: int
    status: Status


class Requester(Protocol):
    """A node that can have a pending request."""

    @property
    def path(self) -> str:
        """The path of the node."""
        ...

    @property
    def facts(self) -> Facts:
        """What its kind declares; its roles say what the request is for."""
        ...

    @property
    def settings(self) -> Any:  # noqa: ANN401  each kind has a type of its own
        """Its settings from the tree file."""
        ...

    def start(self) -> Coroutine[Any, Any, Any]:
        """The work; called by the loop after the tick."""
        ...

    def start_part(self, part: Any) -> Coroutine[Any, Any, Any]:  # noqa: ANN401  each kind has parts of its own
        """A part of the work, as the node has posted it."""
        ...

    def give_back(self, value: Any) -> None:  # noqa: ANN401
        """Take the partial result of a cancelled request; never raises."""
        ...


class Host(Protocol):
    """What the embedding program offers to the built-in nodes."""

    def notify(self, *, topic: str, message: str, severity: str, metadata: Mapping[str, Any]) -> None:
        """Send the user a message that is not part of the answer."""
        ...

    async def call(self, action: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run a named action and return JSON data; raise to fail."""
        ...


@dataclass(slots=True, eq=False)
class Request:
    """Slow work that a node has asked for.

    Args:
        key: `path@n` for the n-th of the node in this run.
        part: what of the node's work it is, where a node has several requests at a time; `None`: all of it.
        outcome: how it ended; `None` until the tick that gets it.
        is_held: it has not been started, although the tree has been ticked since it was posted.
    """

    key: str
    node: Requester
    outcome: Outcome | None = None
    started: bool = False
    halted: bool = False
    is_held: bool = False
    part: Any = None

    def start(self) -> Coroutine[Any, Any, Any]:
        """The work; called by what drives the run."""
        return self.node.start() if self.part is None else self.node.start_part(self.part)


class Compiled(Protocol):
    """An expression that can be evaluated any number of times."""

    @property
    def names(self) -> frozenset[str]:
        """The blackboard keys and parameters that it reads."""
        ...

    def evaluate(self, lookup: Lookup) -> Value:
        """The value, given the values of the names; as `Expression.evaluate`."""
        ...


class Tracer(Protocol):
    """Watches the nodes of a run (`bt_runtime.Trace`); only a recorded run that is repeated has one."""

    def expression(self, text: str, *, names: frozenset[str]) -> Compiled:
        """An expression of a node, which tells the trace of its evaluations.

        Raises:
            ExpressionError: the text is not a valid expression.
        """
        ...

    def watch(self, tree: Any) -> None:  # noqa: ANN401  a `LiveTree`, which is built of nodes
        """Watch each step of a tree that was built with this trace."""
        ...


class RunContext:
    """What the nodes of one run share with its loop.

    Args:
        host: the embedding program; the host's own nodes know its real type.
        names: those of the blackboard's keys; runs of one tree share them.
        trace: makes the expressions of the nodes; `None`: evaluations are not traced.

    Attributes:
        now_s: the time of the tick, in seconds of the run's clock.
        tick: the number of finished ticks.
        posted: requests to be started after the tick, in order.
        halting: requests of halted nodes whose end has not been awaited.
        again: the path of a node that asked to be ticked again at once; `None` if none did.
        errors: exceptions in nodes during this tick.
        read: the value of a blackboard key; raises `KeyError` for one that is not declared.
        visit: called with the index of each node that is ticked.
        record_change: called with a node whose status changes, and its status before.
    """

    __slots__ = (
        "_changes",
        "_deadlines",
        "_root",
        "_visited",
        "_watches",
        "again",
        "blackboard",
        "errors",
        "halting",
        "host",
        "names",
        "now_s",
        "posted",
        "read",
        "record_change",
        "tick",
        "trace",
        "visit",
    )

    def __init__(
        self,
        blackboard: Blackboard,
        host: Any = None,  # noqa: ANN401  the host's own type
        *,
        names: frozenset[str],
        trace: Tracer | None = None,
    ) -> None:
        self.blackboard = blackboard
        self.read = blackboard.reader
        self.host = host
        self.names = names
        self.trace = trace
        self.now_s = 0.0
        self.tick = 0
        self.posted: tuple[Request, ...] = ()
        self.halting: tuple[Request, ...] = ()
        self.again: str | None = None
        self.errors: tuple[NodeError, ...] = ()
        self._visited: list[int] = []
        self._changes: dict[TickedNode, Status] = {}  # by node, its status at the end of the tick before
        self._deadlines: dict[int, float] = {}
        self._watches: dict[int, tuple[str, tuple[tuple[str, Any], ...]]] = {}
        self._root: weakref.ref[Any] | None = None
        self.visit = self._visited.append  # bound once, like the next one: every node calls it in every tick
        self.record_change = self._changes.setdefault

    # For nodes

    def post(self, node: Requester, *, nth: int, part: Any = None) -> Request:  # noqa: ANN401  the node's own
        """Ask for `node.start()` to be run after this tick, or for a part of the node's work."""
        request = Request(f"{node.path}@{nth}", node, part=part)
        self.posted += (request,)
        return request

    def withdraw(self, request: Request) -> None:
        """Cancel the request of a halted node; one that has not been started never will be.

        An outcome that the node has not taken yet is given back at once.
        """
        if request.halted:
            return
        request.halted = True
        if request.is_held:
            self.posted = _without(self.posted, [request])
            self.halting += (request,)
        elif not request.started:
            self.posted = _without(self.posted, [request])
        elif request.outcome is None:
            self.halting += (request,)
        else:
            self.give_back(request, request.outcome)

    def wake_at(self, node_index: int, at_s: float) -> None:
        """Tick the tree when the run's clock shows `at_s`; replaces the node's earlier deadline."""
        self._deadlines[node_index] = at_s

    def forget_deadline(self, node_index: int) -> None:
        """Remove the node's deadline, if it has one."""
        self._deadlines.pop(node_index, None)

    def wake_on_change(self, node_index: int, path: str, names: Iterable[str]) -> None:
        """Tick the tree again once one of these blackboard keys has another value; replaces the node's earlier call.

        A node calls it at every tick in which it waits: keys may change after it was ticked, in the same tick.
        """
        board = self.blackboard
        self._watches[node_index] = path, tuple((name, board[name]) for name in names)

    def forget_changes(self, node_index: int) -> None:
        """The node does not wait for keys any more."""
        self._watches.pop(node_index, None)

    def tick_again(self, path: str) -> None:
        """Tick the tree again at once: the node at `path` can make progress without waiting."""
        self.again = path

    def record_error(self, path: str, error: str) -> None:
        """An exception in a node, as `Type: message`, for the tick record."""
        self.errors += (NodeError(path, error),)

    def root(self) -> Any:  # noqa: ANN401  a `Node`, which stands above this module
        """The topmost node; `None` when nothing holds the tree any more."""
        return self._root and self._root()

    # For the builder, the stepper and py_trees

    def set_root(self, root: object) -> None:
        """Store a weak reference to the topmost node: nodes refer to the context, and a cycle would outlive its run."""
        self._root = weakref.ref(root)

    def begin_tick(self, at_s: float) -> None:
        """Set the time of the tick; deadlines that it has reached are over, and so is a wish to be ticked again."""
        self.now_s = at_s
        self.again = None
        for request in self.posted:
            request.is_held = True
        if self._deadlines and min(self._deadlines.values()) <= at_s:
            self._deadlines = {index: until_s for index, until_s in self._deadlines.items() if until_s > at_s}

    def end_tick(self, given: TickInput, *, took_ms: float = 0.0) -> TickRecord:
        """Finish the tick: the record of its inputs, of all that happened since the last tick, and of its duration."""
        self.tick += 1
        if self._watches:
            self.notice_changes()
        changes = [(node.index, node.status) for node, before in self._changes.items() if node.status is not before]
        self._changes.clear()
        changes.sort()
        record = TickRecord(
            tick=self.tick,
            at_s=given.at_s,
            cause=given.cause,
            causes=given.causes,
            outcomes=given.outcomes,
            deliveries=given.deliveries,
            visited=tuple(self._visited),
            changes=tuple(changes),
            writes=self.blackboard.take_writes(),
            errors=self.errors,
            took_ms=took_ms,
        )
        self._visited.clear()
        self.errors = ()
        return record

    def has_changed(self) -> bool:
        """Whether something has happened since the last tick ended."""
        return bool(self._changes or self.errors or self.blackboard.writes)

    def visited_by(self, step: Callable[[], object]) -> frozenset[int]:
        """Call a step outside of a recorded tick; the indices of the nodes that it ticked."""
        before = len(self._visited)
        step()
        visited = frozenset(self._visited[before:])
        del self._visited[before:]
        return visited

    def answer(self, request: Request, outcome: Outcome) -> None:
        """Set the outcome of a request, for its node to take in the next tick."""
        request.outcome = outcome

    def give_back(self, request: Request, outcome: Outcome) -> None:
        """Give a halted node the partial result of its request."""
        if outcome.error is not None:
            self.record_error(request.node.path, outcome.error)
        request.node.give_back(outcome.value)

    def take_posted(self, chosen: Collection[Request] | None = None) -> tuple[Request, ...]:
        """The requests to start now, in the order in which they were posted.

        Args:
            chosen: some of the posted ones; the others stay posted. `None` means all.
        """
        taken = self.posted if chosen is None else tuple(chosen)
        self.posted = _without(self.posted, taken)
        for request in taken:
            request.started, request.is_held = True, False
        return taken

    def post_again(self, requests: Sequence[Request]) -> None:
        """Requests whose work was lost are to be started once more, before those that are posted."""
        for request in requests:
            request.started, request.is_held = False, True
        self.posted = (*requests, *self.posted)

    def drop_posted(self) -> None:
        """Forget the requests that have not been started: the run is over."""
        self.posted = ()

    def settled(self, requests: Collection[Request]) -> None:
        """The ends of these requests of halted nodes have been awaited."""
        self.halting = _without(self.halting, requests)

    def notice_changes(self) -> None:
        """Ask for another tick if a key has changed since a node was ticked that waits for it.

        Called at the end of a tick, and after halted nodes have got their partial results.
        """
        board = self.blackboard
        for index, (path, seen) in tuple(self._watches.items()):
            if any(board[name] is not value for name, value in seen):
                del self._watches[index]  # the node is ticked again, and waits again if it has to
                self.again = self.again or path

    def awaits_delivery(self) -> bool:
        """Whether a node waits for a key whose value may come from outside."""
        board = self.blackboard
        return any(board.is_deliverable(name) for _, seen in self._watches.values() for name, _ in seen)

    def next_deadline_s(self) -> float | None:
        """The earliest deadline of a node; `None` if there is none."""
        return min(self._deadlines.values(), default=None)

    def due(self, until_s: float) -> tuple[int, ...]:
        """The indices of the nodes whose deadline has come."""
        return tuple(index for index, at_s in self._deadlines.items() if at_s <= until_s)

    def awaited(self) -> tuple[tuple[tuple[int, float], ...], tuple[int, ...]]:
        """What the run will be woken for: deadlines by the indices of their nodes, and the nodes that wait for keys."""
        return tuple(sorted(self._deadlines.items())), tuple(self._watches)

    def snapshot(self) -> tuple[Any, ...]:
        """The state between two ticks, for `put_back`."""
        plain = (self.posted, self.halting, self.again, self.errors, self.now_s, self.tick)
        return plain, dict(self._deadlines), dict(self._watches), dict(self._changes)

    def put_back(self, snapshot: tuple[Any, ...]) -> None:
        """Return to the state of a snapshot."""
        plain, deadlines, watches, changes = snapshot
        self.posted, self.halting, self.again, self.errors, self.now_s, self.tick = plain
        self._deadlines, self._watches = dict(deadlines), dict(watches)
        self._changes.clear()
        self._changes.update(changes)
        self._visited.clear()


def _without(requests: tuple[Request, ...], removed: Collection[Request]) -> tuple[Request, ...]:
    return tuple(request for request in requests if request not in removed)
