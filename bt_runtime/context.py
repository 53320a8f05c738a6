"""The desk between the nodes of a run and its loop: nodes ask for work and wake-ups here, and the loop serves them.

Rules that make a run a function of what it was told:

- Nodes never await and never read a clock; `now_s` is the time of the tick, the same for the whole tick.
- A node that needs something slow posts a request and answers RUNNING. The loop starts the requests of a tick in the
  order in which they were posted, and hands the outcomes back at the start of a later tick.
- A halted node's request is cancelled, and its end is awaited before anything else starts. One that is withdrawn in the
  tick that posted it never starts.
"""

from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bt_runtime.blackboard import Blackboard
from bt_runtime.recording import NodeError, Outcome


class Requester(Protocol):
    """A node that can have a request under way."""

    @property
    def path(self) -> str:
        """Which node."""
        ...

    def start(self) -> Coroutine[Any, Any, Any]:
        """Begin; called by the loop after the tick."""
        ...

    def give_back(self, value: Any) -> None:  # noqa: ANN401
        """Take what a cancelled request kept; never raises."""
        ...


class Host(Protocol):
    """What the embedding program offers to the nodes that every tree has."""

    def notify(self, *, topic: str, message: str, severity: str, metadata: Mapping[str, Any]) -> None:
        """Tell the user something beside the answer."""
        ...

    async def call(self, action: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401
        """Run a named action and return JSON data; raise to fail."""
        ...


@dataclass(slots=True, eq=False)
class Request:
    """Something slow that a node asked for.

    Args:
        key: `path@n` for the n-th of the node in this run.
        node: who asked.
        outcome: how it ended, from the tick on that is told so.
        started: it has left the desk.
        halted: the node no longer wants it.
    """

    key: str
    node: Requester
    outcome: Outcome | None = None
    started: bool = False
    halted: bool = False


class RunContext:
    """What the nodes of one run share with its loop.

    Args:
        blackboard: of this run.
        host: the embedding program; the host's own nodes know its real type.
    """

    __slots__ = (
        "again",
        "blackboard",
        "deadlines",
        "errors",
        "halting",
        "host",
        "now_s",
        "posted",
        "stopped",
        "tick",
        "visit",
        "visited",
    )

    def __init__(self, blackboard: Blackboard, host: Any = None) -> None:  # noqa: ANN401  the host's own type
        self.blackboard = blackboard
        self.host = host
        self.now_s = 0.0
        self.tick = 0
        self.visited: list[int] = []
        self.visit = self.visited.append  # bound once: every node calls it in every tick
        self.stopped: list[int] = []
        self.posted: list[Request] = []
        self.halting: list[Request] = []
        self.deadlines: dict[int, float] = {}
        self.again: str | None = None
        self.errors: list[NodeError] = []

    def post(self, node: Requester, *, nth: int) -> Request:
        """Ask for `node.start()` to be run after this tick."""
        request = Request(f"{node.path}@{nth}", node)
        self.posted.append(request)
        return request

    def withdraw(self, request: Request) -> None:
        """The node was halted: cancel what is under way; what has not been started never will be.

        An outcome that is there already, but that the node has not looked at, is given back at once.
        """
        if request.halted:
            return
        request.halted = True
        if not request.started:
            self.posted.remove(request)
        elif request.outcome is None:
            self.halting.append(request)
        else:
            self.give_back(request, request.outcome)

    def give_back(self, request: Request, outcome: Outcome) -> None:
        """Hand a halted node what its request kept."""
        if outcome.error is not None:
            self.record_error(request.node.path, outcome.error)
        request.node.give_back(outcome.value)

    def take_posted(self, chosen: Sequence[Request] | None = None) -> Sequence[Request]:
        """The requests to start now, in the order in which they were posted.

        Args:
            chosen: some of the posted ones; the others stay posted. `None` means all.
        """
        if chosen is None or len(chosen) == len(self.posted):
            chosen, self.posted = self.posted, []
        else:
            self.posted = [request for request in self.posted if request not in chosen]
        for request in chosen:
            request.started = True
        return chosen

    def wake_at(self, node_index: int, at_s: float) -> None:
        """Tick the tree when the run's clock shows `at_s`; replaces the node's earlier wish."""
        self.deadlines[node_index] = at_s

    def forget_deadline(self, node_index: int) -> None:
        """The node no longer cares."""
        self.deadlines.pop(node_index, None)

    def tick_again(self, path: str) -> None:
        """Tick the tree again at once: the node at `path` can make progress without waiting."""
        self.again = path

    def record_error(self, path: str, error: str) -> None:
        """An exception in a node, as `Type: message`, for the tick record."""
        self.errors.append(NodeError(path, error))
