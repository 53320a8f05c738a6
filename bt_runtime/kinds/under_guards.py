"""The base of `loop` and `guarded`: a child under guards."""

from typing import Any, ClassVar

from bt_runtime.kinds.ending import AwaitingHalted
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Slot
from bt_runtime.nodes.base import Children, Node, SettingsT
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING


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
