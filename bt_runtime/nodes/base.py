"""Base classes of all nodes, on py_trees.

Every node is a `py_trees.behaviour.Behaviour` with py_trees' life cycle (`initialise`, `update`, `terminate`, `stop`,
`status`), so that py_trees' display and visitors work. Two things differ:

- `step` ticks a node by direct calls instead of through nested generators: half the cost, and one place that catches
  what a node raises. An exception in `update` breaks a stock py_trees tick: statuses go stale, a memory sequence starts
  over. Here the node returns FAILURE, and the error is in the tick record under the node's path.
- A node stores what changes and what a tick reads. Attributes that only py_trees' tools read (name, identifier, parent,
  …) are derived from the definition on demand; they take most of a stock node's memory.

Invariants: a node that has ended has no RUNNING children; a halted action's request is withdrawn; `terminate` is
called once for each `initialise`, whatever was raised in between.
"""

import uuid
from abc import abstractmethod
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Iterator, Mapping
from functools import update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from py_trees.behaviour import Behaviour
from py_trees.common import BlackBoxLevel
from py_trees.logging import Logger

from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.errors import RunError
from bt_runtime.language.explanation import Stepped, Words, of_step
from bt_runtime.language.kind import UNDECLARED, Facts, Kind, NodeSettings
from bt_runtime.nodes.blackboard import Blackboard, PrivateView
from bt_runtime.nodes.context import Request, RunContext
from bt_runtime.record.recording import describe
from bt_runtime.record.status import FAILURE, INVALID, RUNNING, SUCCESS, Status

Children = Mapping[str, tuple["Node[Any]", ...]]
Ends = frozenset[Status]
"""The results (SUCCESS, FAILURE) with which a node can end; empty: it cannot end."""
ANY_END: Ends = frozenset({SUCCESS, FAILURE})
SettingsT = TypeVar("SettingsT", bound=NodeSettings)

_RAISED = (Exception, CancelledError)
"""What is caught around a node. Nodes are plain calls, so a `CancelledError` there comes from a result that they read;
it is not a cancel of the run."""

_PATHS = uuid.UUID("5a3c1f0e-7c1b-4a51-9a53-0b7d6a3d9d11")


class _PyTreesView(Behaviour):
    """The attributes that py_trees' tools read, derived when they are read; type checkers see py_trees' own."""

    logger = Logger("bt_runtime")
    blackbox_level = BlackBoxLevel.NOT_A_BLACKBOX
    feedback_message = ""

    if not TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The last part of the path."""
            return self.definition.label

        @property
        def id(self) -> uuid.UUID:
            """An identifier made from the path."""
            return uuid.uuid5(_PATHS, self.path)

        @property
        def qualified_name(self) -> str:
            """The class and the name."""
            return f"{type(self).__qualname__}/{self.name}"

        @property
        def blackboards(self) -> list[Any]:
            """None: the blackboard is the run's."""
            return []

        @property
        def children(self) -> list["Node[Any]"]:
            """The child nodes."""
            self.grow()
            return list(self.child_nodes)

        @property
        def parent(self) -> "Node[Any] | None":
            """The node above; `None` for the root, and for a node whose tree has been released."""
            root = self.run.root()
            return root and next((node for node in root.iterate() if self in node.child_nodes), None)


class Node(_PyTreesView, Generic[SettingsT]):
    """A node of a live tree.

    Args:
        index: its position in the definition's `nodes()`.
    """

    __slots__ = ("child_nodes", "definition", "index", "run", "settings", "status")

    settings: SettingsT
    """From the tree file; the reader has validated them."""

    kind: ClassVar[Kind]
    facts: ClassVar[Facts] = UNDECLARED
    """What its kind declares."""
    unkept: ClassVar[frozenset[str]] = frozenset({"feedback_message", "make_children"})
    """Attributes that are not part of its state between ticks: only shown, counted elsewhere, or a cache."""
    defers: ClassVar[bool] = False
    """Its children are made when it first ticks one, by `make_children`: most runs never tick them."""
    make_children: "Callable[[], Children] | None" = None
    """Makes the children of a kind that defers them; `None`: they are there."""
    stock: ClassVar[type[Behaviour] | None] = None
    """What py_trees' displays show it as; `None` is a composite, decorator or leaf by its category."""
    _forced: Status | None = None
    _initialises = _terminates = True
    """Whether something may happen when it begins, and when it ends."""

    def __init__(self, definition: NodeDefinition, children: Children, run: RunContext, index: int) -> None:
        # py_trees' constructor is not called: its logger, UUID and generator are most of a stock node's memory.
        self.definition = definition
        self.settings = definition.settings  # type: ignore[assignment]  # of the kind's settings type
        self.run = run
        self.index = index
        self.status = INVALID
        self.child_nodes: tuple[Node[Any], ...] = ()
        for nodes in children.values():
            self.child_nodes += nodes
        self.attach(children)

    @property
    def path(self) -> str:
        """Its identity, stable across reloads."""
        return self.definition.path

    @property
    def title(self) -> str:
        """What people call it: its name, else the tree that it includes, else its kind."""
        return self.definition.title

    @property
    def board(self) -> Blackboard | PrivateView:
        """The run's blackboard, with the private keys of the tree that contains the node under their names there.

        What settings name is read and written here.
        """
        private = self.definition.private
        return PrivateView(self.run.blackboard, private) if private else self.run.blackboard

    @property
    def constants(self) -> Mapping[str, object]:
        """The arguments of the subtree that contains it."""
        return self.definition.constants

    def walk(self) -> Iterator["Node[Any]"]:
        """This node and all below it, in the order of the file; those that were deferred are made now."""
        if self.make_children is not None:
            self.grow()
        yield self
        for child in self.child_nodes:
            yield from child.walk()

    def attach(self, children: Children) -> None:
        """Store the children by slot and compile expressions; called once, when the node is built.

        A kind that defers its children is called without them then, and again when they are made.
        """

    def grow(self) -> None:
        """Make the children that were deferred, if they are not there yet."""
        if self.make_children is not None:
            children = self.make_children()
            self.make_children = None
            self.child_nodes = tuple(node for nodes in children.values() for node in nodes)
            self.attach(children)

    def step(self) -> Status:  # noqa: C901  every node pays for each call in it
        """Tick this node and the children that it decides to tick; never raises."""
        run = self.run
        run.visit(self.index)
        try:
            if self._initialises and self.status is not RUNNING:
                self.initialise()
            status = self.update()
            if status is RUNNING:
                if self.status is not RUNNING:
                    run.record_change(self, self.status)
                    self.status = status
                return status
            if status is not SUCCESS and status is not FAILURE:
                raise TypeError(f"update() must return SUCCESS, FAILURE or RUNNING, not {status!r}")
        except _RAISED as error:
            self._note(error)
            status = FAILURE
        for child in self.child_nodes:
            if child.status is RUNNING:
                child.stop(INVALID)
        if self._terminates:
            try:
                self.terminate(status)
            except _RAISED as error:
                self._note(error)
                status = FAILURE
        if self.status is not status:
            run.record_change(self, self.status)
            self.status = status
        return status

    def _note(self, error: BaseException) -> None:
        """Record an error of the node, for the tick record and for displays."""
        self.feedback_message = describe(error)
        self.run.record_error(self.path, self.feedback_message)

    def force(self, status: Status) -> None:
        """Return this status from the next `step`, once, without ticking anything; for debuggers.

        If the node is RUNNING then, it is halted as its parent would halt it.
        """
        self._forced = status
        # An instance attribute replaces the method of this one node, so that no other `step` has to check for it. If a
        # trace has put its own `step` there, the trace checks.
        vars(self).setdefault("step", self.step_forced)

    @property
    def is_forced(self) -> bool:
        """Whether the next `step` returns a forced status."""
        return self._forced is not None

    def step_forced(self) -> Status:
        """Return the forced status; called once, in place of `step`.

        Raises:
            RunError: no status is forced.
        """
        status, self._forced = self._forced, None
        if status is None:
            raise RunError(f"no result of {self.path!r} is forced")
        if vars(self).get("step") == self.step_forced:
            del self.step
        self.run.visit(self.index)
        self.stop()
        self.run.record_change(self, self.status)
        self.status = status
        return status

    @of_step
    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the subclass looks at it
        """This kind's explanation of its last step; by default none, and a plain sentence is made from its status.

        Called only when a recorded run is explained, directly after the step: `status` is its result, and the
        blackboard is as the step left it. Must not change anything, in the node or in what the host shares with it.
        """
        return Words()

    @of_step
    def decider(self, step: Stepped) -> "Node[Any] | None":
        """The child that decided the status of the last step; `None`: this node. By default the last one ticked.

        Called as `words` is, and must not change anything.
        """
        return step.ticked[-1] if step.ticked else None

    def ahead(self) -> tuple["Node[Any]", ...]:
        """The children that it may still tick before it ends; called while it is RUNNING. By default all."""
        return self.child_nodes

    def ends(self, enter: Callable[["Node[Any]"], Ends]) -> Ends:
        """How it can end once it begins, by its structure alone; by default either way, after ticking any child.

        Args:
            enter: how a child can end that begins then. A child that it is not called for is not ticked.
        """
        for child in self.child_nodes:
            enter(child)
        return ANY_END

    def ends_after(self, child: "Node[Any]", ends: Ends, enter: Callable[["Node[Any]"], Ends]) -> Ends:  # noqa: ARG002
        """How it can end once a child that is RUNNING ends in one of some ways; by default as if it began anew.

        Args:
            ends: the results with which the child can end; empty if it cannot end.
            child: the child.
            enter: how a child can end that begins after that, or in parallel with it.
        """
        return self.ends(enter)

    def halt_children(self) -> None:
        """Halt every child that is still RUNNING."""
        for child in self.child_nodes:
            if child.status is RUNNING:
                child.stop(INVALID)

    def reset_children(self, start: int = 0) -> None:
        """Reset the children from a position on to INVALID: they are not part of this round, or not yet."""
        for child in self.child_nodes[start:] if start else self.child_nodes:
            if child.status is not INVALID:
                child.stop(INVALID)

    def stop(self, new_status: Status = INVALID) -> None:
        """Halt: RUNNING children end first, then this node; idempotent, never raises."""
        for child in self.child_nodes:
            if child.status is not INVALID:
                child.stop(INVALID)
        if self.status is RUNNING and self._terminates:
            try:
                self.terminate(new_status)
            except _RAISED as error:  # a halt must reach every node
                self._note(error)
        if self.status is not new_status:
            self.run.record_change(self, self.status)
            self.status = new_status

    def tick(self) -> Iterator[Behaviour]:
        """py_trees' form of `step`, outside of a run: yields the nodes that were ticked, this one last."""
        ticked = self.run.visited_by(self.step)
        yield from (node for node in self.iterate() if isinstance(node, Node) and node.index in ticked)

    def tip(self) -> Behaviour | None:
        """The deepest node that decided this one's status; `None` while it is INVALID."""
        if self.status is INVALID:
            return None
        below = [child for child in self.child_nodes if child.status is not INVALID]
        running = [child for child in below if child.status is RUNNING]
        decisive = running[0] if running else (below[-1] if below else None)
        return decisive.tip() if decisive is not None else self


class Condition(Node[SettingsT]):
    """A leaf that decides at once and changes nothing: SUCCESS if `holds`, else FAILURE. Never RUNNING."""

    @abstractmethod
    def holds(self) -> bool:
        """Whether the condition is true."""

    def update(self) -> Status:
        """The result as a status."""
        return SUCCESS if self.holds() else FAILURE


class Guard(Node[SettingsT]):
    """A leaf that decides whether the run may continue: SUCCESS if it may, FAILURE if it trips. Never RUNNING.

    The first guard that trips writes its reason to `termination_reason`; an earlier reason is kept.
    """

    @abstractmethod
    def trips(self) -> str | None:
        """The reason to stop, or `None`."""

    def update(self) -> Status:
        """Check, and write the reason if the guard trips."""
        reason = self.trips()
        if reason is None:
            return SUCCESS
        if not self.run.blackboard["termination_reason"]:
            self.run.blackboard.set("termination_reason", reason)
        return FAILURE


class Action(Node[SettingsT]):
    """A leaf that does slow work: it posts a request, is RUNNING until its outcome arrives, and ends with `finish`.

    A halt cancels the request. The run awaits the cancelled task and hands its partial result to `interrupted`. A
    subclass that overrides `terminate` must call this one.
    """

    unkept = Node.unkept | {"_request", "_requests"}

    _request: Request | None = None
    _requests = 0

    @property
    def request_key(self) -> str:
        """The key of the request that is under way, `path@n`; empty if none is."""
        return self._request.key if self._request is not None else ""

    @abstractmethod
    def start(self) -> Coroutine[Any, Any, Any]:
        """The work itself; called by the loop after the tick that posted the request. Must not write to the blackboard.

        A task that is cancelled may return a partial result instead of raising `CancelledError`.
        """

    def start_part(self, part: Any) -> Coroutine[Any, Any, Any]:  # noqa: ANN401
        """A part of the work, for a kind that posts several requests at a time."""
        raise NotImplementedError(f"{type(self).__name__} posts no parts of its work: {part!r}")

    def finish(self, value: Any) -> Status:  # noqa: ANN401, ARG002  the subclass knows its outcome's type
        """Apply the outcome, during a tick."""
        return SUCCESS

    def interrupted(self, value: Any) -> None:  # noqa: ANN401
        """Apply the partial result of a cancelled task; `None` if it has none.

        Called before the next tick, or at once if the task had ended before the halt.
        """

    def give_back(self, value: Any) -> None:  # noqa: ANN401
        """Call `interrupted`; its exceptions are recorded."""
        try:
            self.interrupted(value)
        except _RAISED as error:  # an error in a node must not break the run
            self._note(error)

    def update(self) -> Status:
        """Post the request, wait for its outcome, finish."""
        request = self._request
        if request is None:
            self._requests += 1
            self._request = self.run.post(self, nth=self._requests)
            return RUNNING
        outcome = request.outcome
        if outcome is None:
            return RUNNING
        self._request = None
        if outcome.state == "failed":
            self.feedback_message = outcome.error or ""
            return self.failed(outcome.error or "the task failed")
        return self.finish(outcome.value)

    def failed(self, error: str) -> Status:
        """Handle an exception of the task, as `Type: message`: record it and fail, unless overridden."""
        self.run.record_error(self.path, error)
        return FAILURE

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        """Withdraw the pending request of a node that was halted or has failed."""
        self.run.forget_deadline(self.index)
        request, self._request = self._request, None
        if request is not None:
            self.run.withdraw(request)


class Decorator(Node[SettingsT]):
    """A node with one child, in the slot `child`."""

    child: Node[Any]

    def attach(self, children: Children) -> None:
        """Store the child."""
        (self.child,) = children["child"]


class Passing(Decorator[SettingsT]):
    """A decorator that ticks its child at each of its ticks, and ends when it ends."""

    @abstractmethod
    def ends_as(self, ends: Ends) -> Ends:
        """How it ends when the child ends like this."""

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """By the child."""
        return self.ends_as(enter(self.child))

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:  # noqa: ARG002
        """By the child."""
        return self.ends_as(ends)


_IN_EVERY_TICK = ("step", "stop", "trips", "update")


def specialised(cls: type[Node[Any]]) -> type[Node[Any]]:
    """The class of a kind's nodes: `cls` with its own copies of the methods that every tick calls.

    The interpreter specialises code for the type that it sees; code shared by all kinds sees every type, and costs a
    third more. Nothing derives from this class, so its copies hide no other method.
    """
    known = {name: getattr(cls, name, None) for name in _IN_EVERY_TICK if name not in vars(cls)}
    own: dict[str, Any] = {name: _copy(each) for name, each in known.items() if isinstance(each, FunctionType)}
    own["_initialises"] = cls.initialise is not Behaviour.initialise
    own["_terminates"] = cls.terminate is not Behaviour.terminate
    same = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    return type(cls.__name__, (cls,), {**own, **same})


def _copy(function: FunctionType) -> FunctionType:
    code, names = function.__code__.replace(), function.__globals__
    copy = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    return copy
