"""Base classes of all nodes, on py_trees.

Every node is a `py_trees.behaviour.Behaviour` with py_trees' life cycle (`initialise`, `update`, `terminate`, `stop`,
`status`), so that py_trees' display and visitors work. Two things differ:

- `step` ticks a node by direct calls instead of through nested generators: half the cost, and one place that catches
  what a node raises. An exception in `update` breaks a stock py_trees tick: statuses go stale, a memory sequence starts
  over. Here the node answers FAILURE, and the error is in the tick record under the node's path.
- The constructor makes no logger, UUID and generator per node, which is most of a stock node's memory.
"""

import uuid
from abc import abstractmethod
from collections.abc import Coroutine, Iterator, Mapping
from logging import getLogger
from typing import Any, ClassVar, Generic, TypeVar

from py_trees.behaviour import Behaviour
from py_trees.common import BlackBoxLevel, Status

from bt_runtime.context import Request, RunContext
from bt_runtime.definition import NodeDefinition
from bt_runtime.kind import Kind, NodeSettings

Children = Mapping[str, tuple["Node[Any]", ...]]
SettingsT = TypeVar("SettingsT", bound=NodeSettings)

_PATHS = uuid.UUID("5a3c1f0e-7c1b-4a51-9a53-0b7d6a3d9d11")


class Node(Behaviour, Generic[SettingsT]):
    """A node of a live tree.

    Args:
        definition: what the tree file says.
        children: by slot, already built.
        run: the run it belongs to.
        index: its place in the definition's `nodes()`.
    """

    kind: ClassVar[Kind]
    settings: SettingsT

    logger = getLogger("bt_runtime.node")  # type: ignore[assignment]  # py_trees wants one; ours is shared and silent
    feedback_message = ""
    blackbox_level = BlackBoxLevel.NOT_A_BLACKBOX

    def __init__(self, definition: NodeDefinition, children: Children, run: RunContext, index: int) -> None:
        # py_trees' own constructor is left out on purpose; see the head of this module.
        self.name = definition.label
        self.path = definition.path
        self.settings = definition.settings  # type: ignore[assignment]  # the reader made it of the kind's type
        self.constants = definition.constants
        self.run = run
        self.index = index
        self.status = Status.INVALID
        self.parent = None
        self.children = [child for slot in children.values() for child in slot]
        for child in self.children:
            child.parent = self
        self.attach(children)

    @property
    def id(self) -> uuid.UUID:  # type: ignore[override]  # an attribute in py_trees; here stable over reloads
        """py_trees' identifier, made from the path."""
        return uuid.uuid5(_PATHS, self.path)

    @property
    def qualified_name(self) -> str:  # type: ignore[override]
        """py_trees' name for displays."""
        return f"{type(self).__qualname__}/{self.name}"

    @property
    def blackboards(self) -> list[Any]:  # type: ignore[override]
        """py_trees' blackboard clients: none, the blackboard is the run's."""
        return []

    def attach(self, children: Children) -> None:  # noqa: B027  a hook, not a duty
        """Keep the children by slot, compile expressions; called once, when the node is built."""

    def step(self) -> Status:
        """Tick this node and what it decides to tick; never raises."""
        self.run.visited.append(self.index)
        try:
            if self.status is not Status.RUNNING:
                self.initialise()
            status = self.update()
            if status is not Status.RUNNING:
                self.terminate(status)
        except Exception as error:  # noqa: BLE001  an exception in a node never breaks a tick
            status = self._fail(error)
        self.status = status
        return status

    def _fail(self, error: Exception) -> Status:
        self.feedback_message = f"{type(error).__name__}: {error}"
        self.run.record_error(self.path, self.feedback_message)
        self.halt_children()
        return Status.FAILURE

    def halt_children(self) -> None:
        """Halt every child that is still RUNNING."""
        for child in self.children:
            if child.status is Status.RUNNING:
                child.stop(Status.INVALID)

    def reset_children(self) -> None:
        """Make every child INVALID, as at the start of a new round."""
        for child in self.children:
            if child.status is not Status.INVALID:
                child.stop(Status.INVALID)

    def stop(self, new_status: Status = Status.INVALID) -> None:
        """Halt: what is RUNNING below ends first, then this node; idempotent, never raises."""
        self.reset_children()
        if self.status is Status.RUNNING:
            try:
                self.terminate(new_status)
            except Exception as error:  # noqa: BLE001  a halt must reach every node
                self.run.record_error(self.path, f"{type(error).__name__}: {error}")
        self.status = new_status

    def tick(self) -> Iterator[Behaviour]:
        """py_trees' generator form of `step`."""
        self.step()
        yield self

    def tick_once(self) -> None:
        """py_trees' form of `step` without a result."""
        self.step()


class Condition(Node[SettingsT]):
    """A leaf that answers at once and changes nothing: SUCCESS if `holds`, else FAILURE. Never RUNNING."""

    @abstractmethod
    def holds(self) -> bool:
        """Whether the condition is true now."""

    def update(self) -> Status:
        """The answer as a status."""
        return Status.SUCCESS if self.holds() else Status.FAILURE


class Guard(Node[SettingsT]):
    """A leaf that decides whether the run may go on: SUCCESS if it may, FAILURE if it trips. Never RUNNING.

    The first guard that trips writes its reason to `termination_reason`; a reason that is there already stays.
    """

    @abstractmethod
    def trips(self) -> str | None:
        """The reason to stop, or `None`."""

    def update(self) -> Status:
        """Ask, and write the reason down."""
        reason = self.trips()
        if reason is None:
            return Status.SUCCESS
        if not self.run.blackboard["termination_reason"]:
            self.run.blackboard.set("termination_reason", reason)
        return Status.FAILURE


class Action(Node[SettingsT]):
    """A leaf that does something slow: it posts a request, is RUNNING until the outcome is there, then ends by `finish`.

    A halt cancels the request. The run awaits the cancelled task and tells the node what it kept, by `interrupted`.
    """

    _request: Request | None = None
    _requests = 0

    @abstractmethod
    def start(self) -> Coroutine[Any, Any, Any]:
        """The work itself; called by the loop after the tick that posted the request. Must not touch the blackboard.

        A task that is cancelled may return what it has instead of raising `CancelledError`.
        """

    def finish(self, value: Any) -> Status:  # noqa: ANN401, ARG002  the subclass knows its outcome's type
        """Apply the outcome, within a tick."""
        return Status.SUCCESS

    def interrupted(self, value: Any) -> None:  # noqa: ANN401, B027
        """Apply what a cancelled task returned; `None` if it returned nothing. Called before the next tick."""

    def give_back(self, value: Any) -> None:  # noqa: ANN401
        """Call `interrupted`; what it raises is recorded."""
        try:
            self.interrupted(value)
        except Exception as error:  # noqa: BLE001  the node's own accounting must not break the run
            self.run.record_error(self.path, f"{type(error).__name__}: {error}")

    def update(self) -> Status:
        """Post, wait, finish."""
        request = self._request
        if request is None:
            self._requests += 1
            self._request = self.run.post(self, nth=self._requests)
            return Status.RUNNING
        outcome = request.outcome
        if outcome is None:
            return Status.RUNNING
        self._request = None
        if outcome.state == "failed":
            self.feedback_message = outcome.error or ""
            return self.failed(outcome.error or "the task failed")
        return self.finish(outcome.value)

    def failed(self, error: str) -> Status:
        """The task raised; `error` is `Type: message`. Recorded, and FAILURE unless a subclass knows better."""
        self.run.record_error(self.path, error)
        return Status.FAILURE

    def terminate(self, new_status: Status) -> None:
        """Cancel the request of a halted node."""
        request, self._request = self._request, None
        if new_status is Status.INVALID and request is not None:
            self.run.withdraw(request)


class Decorator(Node[SettingsT]):
    """A node with one child, in the slot `child`."""

    child: Node[Any]

    def attach(self, children: Children) -> None:
        """Keep the child."""
        (self.child,) = children["child"]
