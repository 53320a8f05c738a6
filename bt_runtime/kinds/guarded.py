"""A child under guards: `guarded` and `loop`."""

from collections.abc import Callable
from typing import Any, ClassVar

from bt_runtime.kinds.endings import AwaitingHalted
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings, Slot
from bt_runtime.nodes.base import Children, Ends, Node, SettingsT
from bt_runtime.nodes.context import Compiled
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.scope import compile_in_scope, lookup_in_scope
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status


class UnderGuards(AwaitingHalted[SettingsT]):
    """Has guards, which are ticked in order at every tick, and a child."""

    guards: tuple[Node[Any], ...]
    child: Node[Any]

    on_trip: ClassVar[str] = "the child must not run"
    """What a guard that fails leads to."""

    def attach(self, children: Children) -> None:
        """Store the children."""
        self.guards = children.get("guards", ())
        (self.child,) = children["child"]

    def trips(self) -> bool:
        """Whether a guard fails. One that is RUNNING has not decided yet."""
        for guard in self.guards:  # noqa: SIM110  a generator costs as much as a guard
            if guard.step() is FAILURE:
                return True
        return False

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The guard that fails, else the child; the node itself where neither was asked."""
        guard = next((child for child in step.ticked if child.status is FAILURE and child in self.guards), None)
        return guard or (self.child if self.child in step.ticked else None)

    def words(self, step: Stepped) -> Words:
        """A guard that fails, or the child."""
        decider = self.decider(step)
        if decider is None:
            return Words("", self.without_child(step))
        if decider is not self.child:
            then = "halted work is awaited" if self.status is RUNNING else self.on_trip
            return Words("", f"The guard {decider.title} said no: {then}.")
        holds = "No guard trips; " if self.guards else ""
        return Words("", f"{holds}{self.after_child(step)}.")

    def without_child(self, step: Stepped) -> str:  # noqa: ARG002  the subclass looks at it
        """A sentence for a step in which neither a guard has tripped nor the child was ticked."""
        return "Halted work has ended, and with it this node." if self.ends_with is not None else ""

    def after_child(self, step: Stepped) -> str:  # noqa: ARG002  the subclass looks at it
        """What follows from the child, without a full stop."""
        return f"{self.child.title} {says(self.child.status)}"


def guard_slots(*, required: bool) -> tuple[Slot, ...]:
    """The slots of such a kind."""
    return Slot("guards", many=True, required=required), Slot("child", many=False)


@node("guarded", category="decorator", slots=guard_slots(required=True), waits=True, facts=Facts(keeps=("ends_with",)))
class Guarded(UnderGuards[NoSettings]):
    """Runs its child once and fails if a guard trips.

    Guards are ticked before the child at every tick. FAILURE when one trips and the halted work has stopped;
    otherwise SUCCESS, FAILURE or RUNNING as the child.

    ```yaml
    guarded:
      guards:
        - condition: "turn < 9"
      child: {set: {count: "count + 1"}}
    ```
    """

    def update(self) -> Status:
        if self.ends_with is not None:
            return self.ends_with
        return self.end_with(FAILURE) if self.trips() else self.child.step()

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As the child, or by a guard."""
        return self.ends_after(self.child, enter(self.child), enter)

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As the child, or by a guard."""
        if child is not self.child:
            return super().ends_after(child, ends, enter)
        for guard in self.guards:
            enter(guard)
        return ends | {FAILURE}


class LoopSettings(NodeSettings):
    """Settings of `loop`.

    Args:
        until: ends the loop when true; tested before and after each round.
    """

    until: ExpressionText | None = None


@node(
    "loop",
    category="decorator",
    settings=LoopSettings,
    slots=guard_slots(required=False),
    waits=True,
    facts=Facts(reads=("termination_reason",), repeats=True, keeps=("ends_with",)),
)
class Loop(UnderGuards[LoopSettings]):
    """Runs its child again and again until a guard trips or `until` is true.

    Guards are ticked before the child at every tick. When one trips, the child is halted, and the loop ends when its
    work has stopped. SUCCESS when a guard trips or `until` is true; FAILURE when the child fails; otherwise RUNNING.

    ```yaml
    loop:
      until: "count >= 3"
      guards:
        - condition: "turn < 9"
      child: {set: {count: "count + 1"}}
    ```
    """

    on_trip = "the loop ends"

    _until: Compiled | None = None

    def attach(self, children: Children) -> None:
        super().attach(children)
        if self.settings.until is not None:
            self._until = compile_in_scope(self.settings.until, self)

    def update(self) -> Status:
        if self.ends_with is not None:
            return self.ends_with
        if self.trips():
            return self.end_with(SUCCESS)
        if self.child.status is not RUNNING and self._is_over():
            return SUCCESS
        status = self.child.step()
        if status is not SUCCESS:
            return status
        if self._is_over():
            return SUCCESS
        self.run.tick_again(self.path)
        return RUNNING

    def _is_over(self) -> bool:
        return self._until is not None and bool(self._until.evaluate(lookup_in_scope(self)))

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """By a guard, by `until`, or as a round that fails."""
        stops = {SUCCESS} if self._until is not None else set()
        return self.ends_after(self.child, enter(self.child), enter) | stops

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """By a guard, as the round that fails, or after this one and others."""
        if child is not self.child:
            return super().ends_after(child, ends, enter)
        for guard in self.guards:
            enter(guard)
        again = enter(child) if SUCCESS in ends else frozenset()
        stops = {SUCCESS} if self.guards or SUCCESS in ends else set()
        return (ends | again) & {FAILURE} | stops

    def without_child(self, step: Stepped) -> str:
        if step.evaluations:
            return f"The loop ends before another round: {self._verdict(step)}."
        return "Halted work has ended, and with it the loop." if self.ends_with is not None else ""

    def after_child(self, step: Stepped) -> str:
        if self.status is SUCCESS:
            return f"{self.child.title} said yes, and the loop ends: {self._verdict(step)}"
        if self.status is FAILURE:
            return f"{self.child.title} said no, and the loop ends"
        if self.child.status is SUCCESS:
            return "another round begins"
        return f"{self.child.title} {says(self.child.status)}"

    def _verdict(self, step: Stepped) -> str:
        return step.evaluations[-1].verdict if step.evaluations else ""
