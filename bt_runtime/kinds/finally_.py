"""The `finally` kind."""

from collections.abc import Callable
from typing import Any

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts, Slot
from bt_runtime.nodes.base import Children, Ends, Node
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status
from bt_runtime.text.phrases import joined


@node(
    "finally",
    category="decorator",
    slots=(Slot("child", many=False), Slot("then", many=False)),
    facts=Facts(keeps=("_ended",)),
)
class Finally(Node[NoSettings]):
    """Runs `then` after its child, however the child has ended.

    RUNNING until both have ended; then FAILURE if either failed, else SUCCESS. An error in the child is a failure like
    any other, so `then` runs. After a halt of the whole node nothing more runs: cleanup that must survive a halt
    belongs in the program that runs the tree.

    ```yaml
    finally:
      child: {condition: "turn > 3"}
      then: {set: {hint: "'The end.'"}}
    ```
    """

    child: Node[Any]
    then: Node[Any]
    _ended: Status | None = None

    def attach(self, children: Children) -> None:
        (self.child,) = children["child"]
        (self.then,) = children["then"]

    def initialise(self) -> None:
        self._ended = None
        self.reset_children()

    def update(self) -> Status:
        if self._ended is None:
            status = self.child.step()
            if status is RUNNING:
                return status
            self._ended = status
        status = self.then.step()
        return self._ended if status is SUCCESS else status

    def ahead(self) -> tuple[Node[Any], ...]:
        """`then` alone, once the child has ended."""
        return self.child_nodes if self._ended is None else (self.then,)

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As the child, unless `then` fails."""
        return self._ends(enter(self.child), enter)

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As the child, unless `then` fails; while `then` is RUNNING it is left open how the child has ended."""
        return self._ends(ends, enter) if child is self.child else ends | {FAILURE}

    def _ends(self, ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:
        after = enter(self.then) if ends else frozenset()
        return after & {FAILURE} | (ends if SUCCESS in after else frozenset())

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The child in the step in which it ends, unless `then` fails: what follows it is a consequence."""
        return self.child if self.child in step.ticked and self.then.status is not FAILURE else super().decider(step)

    def words(self, step: Stepped) -> Words:
        parts = []
        if self.child in step.ticked:
            parts.append(f"the child {says(self.child.status)}")
        if self.then in step.ticked:
            parts.append(f"what follows it {says(self.then.status)}")
        return Words("", f"{joined(parts).capitalize()}." if parts else "")
