"""How each tick came to its result: which nodes were ticked by which, what they evaluated, and which one decided.

A trace watches a tree that is built with it, while the tree repeats a recorded run:

    trace = Trace()
    tree = build(definition, trace=trace)
    trace.watch(tree)
    replaying = Replaying(tree)
    for recorded in records:
        replaying.play(recorded)
        visits = trace.take()

A run that is under way has no trace, and pays nothing for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from bt_runtime.builder import LiveTree
from bt_runtime.explanation import Evaluation, Words
from bt_runtime.nodes import Node
from bt_runtime.recording import NodeError, describe
from bt_runtime.status import Status

_FORCED = Words("an operator has forced this result")


@dataclass(frozen=True, slots=True)
class Visit:
    """One step of one node.

    Args:
        index: of the node.
        status: that it returned.
        parent: the node that ticked it; `None` for the root.
        decider: the child that decided the status; `None` where the node has decided itself.
        words: what its kind says.
        evaluations: of its expressions, in order.
        writes: to the blackboard by the node itself, not by its children.
        errors: exceptions of the node itself.
    """

    index: int
    status: Status
    parent: int | None
    decider: int | None
    words: Words
    evaluations: tuple[Evaluation, ...] = ()
    writes: tuple[tuple[str, Any], ...] = ()
    errors: tuple[NodeError, ...] = ()


@dataclass(slots=True)
class _Frame:
    """A step that has begun."""

    index: int
    position: int  # in the order of entry
    last_child: int | None = None
    evaluations: list[Evaluation] = field(default_factory=list)
    writes: list[tuple[str, Any]] = field(default_factory=list)
    errors: list[NodeError] = field(default_factory=list)


class Trace:
    """Collects the visits of a tree's ticks."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._visits: list[Visit | None] = []
        self._writes = 0
        self._errors = 0
        self._tree: LiveTree | None = None

    def watch(self, tree: LiveTree) -> None:
        """Watch each step of a tree that was built with this trace."""
        self._tree = tree
        for node in tree.nodes:
            vars(node)["step"] = partial(self._step, node, node.step)

    def evaluated(self, evaluation: Evaluation) -> None:
        """Take an evaluation of the node that is being ticked."""
        if self._frames:
            self._frames[-1].evaluations.append(evaluation)

    def take(self) -> tuple[Visit, ...]:
        """The visits since the last call, in the order of entry."""
        taken = tuple(visit for visit in self._visits if visit is not None)
        self._visits.clear()
        self._writes = self._errors = 0
        return taken

    def _step(self, node: Node[Any], step: Callable[[], Status]) -> Status:
        self._note_effects()
        frames = self._frames
        parent = frames[-1] if frames else None
        if parent is not None:
            parent.last_child = node.index
        frame = _Frame(node.index, len(self._visits))
        self._visits.append(None)
        frames.append(frame)
        is_forced = node.is_forced
        try:
            status = node.step_forced() if is_forced else step()
        finally:
            self._note_effects()
            frames.pop()
        self._visits[frame.position] = Visit(
            node.index,
            status,
            None if parent is None else parent.index,
            None if is_forced else _decider_of(node, frame),
            _FORCED if is_forced else _words_of(node),
            tuple(frame.evaluations),
            tuple(frame.writes),
            tuple(frame.errors),
        )
        return status

    def _note_effects(self) -> None:
        """Give what was written and raised since the last call to the node that is being ticked."""
        if self._tree is None:
            return
        context = self._tree.context
        writes, errors = context.blackboard.writes, context.errors
        if self._frames:
            frame = self._frames[-1]
            frame.writes += writes[self._writes :]
            frame.errors += errors[self._errors :]
        self._writes, self._errors = len(writes), len(errors)


def deciding(visits: Sequence[Visit]) -> Visit | None:
    """The visit that decided a tick: from the root, along the children that decided; `None` if nothing was ticked."""
    if not visits:
        return None
    by_index = {visit.index: visit for visit in visits}
    visit, seen = visits[0], {visits[0].index}
    while visit.decider is not None and visit.decider in by_index and visit.decider not in seen:
        visit = by_index[visit.decider]
        seen.add(visit.index)
    return visit


def path_to(visits: Sequence[Visit], index: int) -> tuple[Visit, ...]:
    """The visits from the root to a node, as they ticked each other; empty if it was not ticked."""
    by_index = {visit.index: visit for visit in visits}
    found: list[Visit] = []
    at: int | None = index
    while at is not None and at in by_index and len(found) <= len(by_index):
        found.append(by_index[at])
        at = by_index[at].parent
    return tuple(reversed(found))


def _decider_of(node: Node[Any], frame: _Frame) -> int | None:
    own = node.decider()
    return frame.last_child if own is None else own.index


def _words_of(node: Node[Any]) -> Words:
    """The words of the kind; those of another package may be wrong, and break nothing."""
    try:
        return node.words()
    except Exception as error:  # noqa: BLE001  whatever foreign words raise
        return Words(f"(its words failed: {describe(error)})")
