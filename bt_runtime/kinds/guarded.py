"""The `guarded` kind."""

from collections.abc import Callable
from typing import Any

from bt_runtime.kinds.under_guards import UnderGuards, guard_slots
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.base import Ends, Node
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.record.status import FAILURE, Status


@node("guarded", category="decorator", slots=guard_slots(required=True), waits=True, facts=Facts(keeps=("ends_with",)))
class Guarded(UnderGuards[NoSettings]):
    """Runs its child once, under guards, and fails when one of them trips.

    The guards are ticked in order at every tick, before the child. When one of them fails, the child is halted, its
    pending work is awaited, and only then the node ends. A guard that is RUNNING has not decided yet and stops nothing.
    A `loop` whose guard trips succeeds, because its work is done; here a selector continues with its next child.

    FAILURE when a guard fails, else as the child: SUCCESS, FAILURE or RUNNING. RUNNING, too, while halted work is
    awaited.

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
