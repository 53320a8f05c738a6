"""The base of `loop` and `guarded`: a child under guards."""

from typing import Any

from bt_runtime.kind import Slot
from bt_runtime.kinds.ending import Ending
from bt_runtime.nodes import Children, Node, SettingsT
from bt_runtime.status import FAILURE


class UnderGuards(Ending[SettingsT]):
    """Has guards, which are ticked in order at every tick, and a child."""

    guards: tuple[Node[Any], ...]
    child: Node[Any]

    def attach(self, children: Children) -> None:
        """Store the children."""
        self.guards = children.get("guards", ())
        (self.child,) = children["child"]

    def trips(self) -> bool:
        """Whether a guard fails. One that is RUNNING has not decided yet."""
        return any(guard.step() is FAILURE for guard in self.guards)


def guard_slots(*, required: bool) -> tuple[Slot, ...]:
    """The slots of such a kind."""
    return Slot("guards", many=True, required=required), Slot("child", many=False)
