"""What happens when a subtree ends: `finally` and `on_halt`, and the base of nodes that await halted work."""

from collections.abc import Callable
from typing import Any

from bt_runtime.language.errors import RunError
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts, Slot
from bt_runtime.nodes.base import Children, Ends, Node, SettingsT
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, INVALID, RUNNING, SUCCESS, Status
from bt_runtime.text.phrases import joined


class AwaitingHalted(Node[SettingsT]):
    """Ends with a status that is known, after the work of its halted children has been awaited.

    A subclass returns `end_with(status)`, and returns `ends_with` at the beginning of `update` where it is not `None`.
    """

    ends_with: Status | None = None

    def initialise(self) -> None:
        """Begin a new round."""
        self.ends_with = None
        self.reset_children()

    def end_with(self, status: Status) -> Status:
        """Halt the children; if that leaves work to be awaited, the node ends a tick later."""
        self.halt_children()
        if not self.run.halting:
            return status
        self.ends_with = status
        self.run.tick_again(self.path)
        return RUNNING

    def ahead(self) -> tuple[Node[Any], ...]:
        """No child once the status is known."""
        return self.child_nodes if self.ends_with is None else ()


@node(
    "finally",
    category="decorator",
    slots=(Slot("child", many=False), Slot("then", many=False)),
    facts=Facts(keeps=("_ended",)),
)
class Finally(Node[NoSettings]):
    """Runs `then` after its child, whatever the child's result.

    RUNNING until both have ended; then FAILURE if either failed, otherwise SUCCESS. After a halt `then` does not run:
    see `on_halt`.

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


@node("on_halt", category="decorator", slots=(Slot("child", many=False), Slot("then", many=False)), facts=Facts())
class OnHalt(Node[NoSettings]):
    """Runs `then` if its child is halted while RUNNING: by a guard, a timeout or the end of the run.

    SUCCESS, FAILURE or RUNNING as the child. `then` may only contain nodes that end in the same tick, such as `set`;
    its result is ignored. For cleanup after a normal end use `finally`.

    ```yaml
    on_halt:
      child: {condition: "turn > 3"}
      then: {set: {hint: "'It was interrupted.'"}}
    ```
    """

    child: Node[Any]
    then: Node[Any]

    def attach(self, children: Children) -> None:
        (self.child,) = children["child"]
        (self.then,) = children["then"]

    def update(self) -> Status:
        return self.child.step()

    def terminate(self, new_status: Status) -> None:
        if new_status is not INVALID:
            return
        status = self.then.step()
        self.then.stop(INVALID)
        if status is RUNNING:  # a kind of the host that does not declare that it waits
            raise RunError(f"{self.then.path!r} did not end at once, as nodes below 'then' must")

    def words(self, step: Stepped) -> Words:
        return Words("", f"{self.child.title} {says(self.child.status)}.") if step.ticked else Words()
