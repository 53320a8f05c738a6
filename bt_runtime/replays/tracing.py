"""How each tick came to its result: which nodes were ticked by which, what they evaluated, and which one decided.

A trace watches a tree that is built with it, while the tree repeats a recorded run:

    trace = Trace()
    tree = build(definition, trace=trace)
    trace.watch(tree)
    replaying = Replaying(tree)
    for recorded in records:
        replaying.play(recorded)
        visits, given_back = trace.take(), trace.take_given_back()

A live run has no trace, and no cost for one. Between two ticks, and after the last one, halted nodes get the partial
results of their work; these are in `given_back`, not among the visits.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from operator import is_
from typing import Any

from bt_runtime.language.explanation import Evaluation, Stepped, Words, Write, is_of_step
from bt_runtime.nodes.base import Action, Node
from bt_runtime.record.recording import NodeError, describe
from bt_runtime.record.status import RUNNING, Status
from bt_runtime.replays.traced_expressions import TracedExpression
from bt_runtime.runtime.builder import LiveTree
from bt_runtime.text.data import dataclass

_FORCED = Words("an operator has forced this result", "An operator has forced this result.")


@dataclass(frozen=True, slots=True)
class Visit:
    """One step of one node.

    Args:
        parent: the node above it, which has ticked it (unless it is the `then` of a halted `on_halt`). `None` for the
            root.
        decider: the child that decided the status in this step; `None` where the node has decided itself.
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

    owner: Node[Any]
    began: bool
    ticked: list[Node[Any]] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    errors: list[NodeError] = field(default_factory=list)

    def repeats(self, last: "_Frame") -> bool:
        """Whether the same happened as in the last step of the same node, and neither had an effect."""
        return not (
            self.writes
            or self.errors
            or last.writes
            or last.errors
            or self.began is not last.began
            or len(self.evaluations) != len(last.evaluations)
            or len(self.ticked) != len(last.ticked)
            or not all(map(is_, self.evaluations, last.evaluations))
            or not all(map(is_, self.ticked, last.ticked))
        )


class Trace:
    """Collects the visits of a tree's ticks. A step that repeats the one before gets the same visit again."""

    def __init__(self) -> None:
        self._is_on = True
        self._frames: list[_Frame] = []
        self._visits: list[Visit | None] = []
        self._given_back: list[Visit] = []
        self._loose_errors: list[NodeError] = []
        self._writes = 0
        self._errors = 0
        self._values: dict[str, Any] = {}
        self._parents: dict[int, int] = {}
        self._tree: LiveTree | None = None
        self._last: dict[int, tuple[_Frame, Visit] | None] = {}  # of nodes whose words depend on the step alone

    @property
    def is_on(self) -> bool:
        """Whether visits are collected; may be changed between ticks."""
        return self._is_on

    @is_on.setter
    def is_on(self, is_on: bool) -> None:
        if is_on and not self._is_on and self._tree is not None:
            self._values = dict(self._tree.blackboard)
        self._is_on = is_on

    def watch(self, tree: LiveTree) -> None:
        """Watch each step of a tree that was built with this trace, and has not been ticked."""
        self._tree = tree
        self._values = dict(tree.blackboard)
        for node in tree.nodes:
            self._parents.update((child.index, node.index) for child in node.child_nodes)
            if is_of_step(type(node).words) and is_of_step(type(node).decider):
                self._last[node.index] = None
            vars(node)["step"] = partial(self._step, node, node.step)
            if isinstance(node, Action):
                vars(node)["give_back"] = partial(self._give_back, node, node.give_back)

    def expression(self, text: str, *, names: frozenset[str]) -> TracedExpression:
        """An expression whose evaluations are those of the node that is being ticked.

        Raises:
            ExpressionError: the text is not a valid expression.
        """
        return TracedExpression(text, names=names, note=self._note_evaluation)

    def _note_evaluation(self, evaluation: Evaluation) -> None:
        if self._frames:
            self._frames[-1].evaluations.append(evaluation)

    def take(self) -> tuple[Visit, ...]:
        """The visits since the last call, in the order of entry."""
        taken = tuple(visit for visit in self._visits if visit is not None)
        self._visits.clear()
        self._loose_errors.clear()
        self._writes = self._errors = 0
        return taken

    def take_given_back(self) -> tuple[Visit, ...]:
        """The halted nodes that got partial results of their work since the last call, each with its writes."""
        taken = tuple(self._given_back)
        self._given_back.clear()
        return taken

    def _step(self, node: Node[Any], step: Callable[[], Status]) -> Status:
        if not self._is_on:
            return node.step_forced() if node.is_forced else step()
        self._note_effects()
        frames, parent, began = self._frames, self._parents.get(node.index), node.status is not RUNNING
        if frames and frames[-1].owner.index == parent:
            frames[-1].ticked.append(node)
        frame, position = _Frame(node, began), len(self._visits)
        self._visits.append(None)
        frames.append(frame)
        is_forced = node.is_forced
        try:
            status = node.step_forced() if is_forced else step()
        finally:
            self._note_effects()
            frames.pop()
        if is_forced:
            self._visits[position] = replace(_visit(node, status, parent, frame), decider=None, words=_FORCED)
        else:
            self._visits[position] = self._visit(node, status, parent, frame)
        return status

    def _visit(self, node: Node[Any], status: Status, parent: int | None, frame: _Frame) -> Visit:
        """The visit of a step, or the equal one of the node's last step."""
        last = self._last.get(node.index)
        if last is not None and last[1].status is status and frame.repeats(last[0]):
            return last[1]
        visit = _visit(node, status, parent, frame)
        if node.index in self._last:
            self._last[node.index] = (frame, visit)
        return visit

    def _give_back(self, node: Node[Any], give_back: Callable[[Any], None], value: Any) -> None:  # noqa: ANN401
        """A halted node gets the partial result of its work: in no step, or while another node halts it."""
        if not self._is_on:
            give_back(value)
            return
        self._note_effects()
        frame = _Frame(node, began=False, errors=[error for error in self._loose_errors if error.path == node.path])
        self._frames.append(frame)
        try:
            give_back(value)
        finally:
            self._note_effects()
            self._frames.pop()
        self._given_back.append(_visit(node, node.status, self._parents.get(node.index), frame))

    def _note_effects(self) -> None:
        """Give what was written and raised since the last call to the node that is being ticked."""
        if self._tree is None:
            return
        context = self._tree.context
        writes, errors = context.blackboard.writes, context.errors
        if len(writes) > self._writes:
            noted = [Write(key, self._values.get(key), value) for key, value in writes[self._writes :]]
            self._values.update((write.key, write.value) for write in noted)
            if self._frames:
                self._frames[-1].writes += noted
            self._writes = len(writes)
        if len(errors) > self._errors:
            (self._frames[-1].errors if self._frames else self._loose_errors).extend(errors[self._errors :])
            self._errors = len(errors)


def deciding(visits: Sequence[Visit]) -> Visit | None:
    """The visit that decided a tick: from the root, along the children that decided.

    `None` if the root was not ticked: nothing was, or only what `on_halt` runs at the end of a run.
    """
    visit = next((visit for visit in visits if visit.parent is None), None)
    if visit is None:
        return None
    by_index, seen = {visit.index: visit for visit in visits}, {visit.index}
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


def _visit(node: Node[Any], status: Status, parent: int | None, frame: _Frame) -> Visit:
    step = Stepped(frame.began, tuple(frame.ticked), tuple(frame.evaluations), tuple(frame.writes))
    return Visit(
        node.index,
        status,
        parent,
        _decider_of(node, step),
        _words_of(node, step),
        step.evaluations,
        tuple([(write.key, write.value) for write in step.writes]) if step.writes else (),
        tuple(frame.errors),
    )


def _decider_of(node: Node[Any], step: Stepped) -> int | None:
    """What the kind says; a child that it has not ticked in this step has decided nothing."""
    try:
        own = node.decider(step)
    except Exception:  # noqa: BLE001  whatever foreign code raises
        own = step.ticked[-1] if step.ticked else None
    return own.index if own is not None and own in step.ticked else None


def _words_of(node: Node[Any], step: Stepped) -> Words:
    """The words of the kind; those of another package may be wrong, and break nothing."""
    try:
        words = node.words(step)
        return words if type(words) is Words else Words(*words)
    except Exception as error:  # noqa: BLE001  whatever foreign words raise
        return Words(f"(its words failed: {describe(error)})")
