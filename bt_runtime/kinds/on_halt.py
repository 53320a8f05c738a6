"""The `on_halt` kind."""

from typing import Any

from bt_runtime.language.errors import RunError
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts, Slot
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import INVALID, RUNNING, Status


@node("on_halt", category="decorator", slots=(Slot("child", many=False), Slot("then", many=False)), facts=Facts())
class OnHalt(Node[NoSettings]):
    """Runs `then` when its child is halted while it is RUNNING: by a guard, a timeout, the end of the run.

    Nodes in `then` must end in the tick in which they begin: `set`, `notify`, conditions and the like. Others are
    refused when the tree is read. `then` runs after the child has been halted, before the partial results of its
    pending work are there. Its result counts for nothing, and an error in it is in the tick record.

    SUCCESS, FAILURE and RUNNING as the child; then nothing else runs. Cleanup after an end is for `finally`.

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
