"""The `once` kind."""

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.base import Decorator
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import said, says
from bt_runtime.record.status import RUNNING, Status


@node("once", shorthand="child", facts=Facts(remembers=("_result",)))
class Once(Decorator[NoSettings]):
    """Runs its child to its end once in a run, and returns that result ever after.

    SUCCESS or FAILURE as the child ended, also at later times, when the child is not ticked any more; RUNNING while it
    is running. A child that was halted has not ended, and begins again.

    ```yaml
    once: {set: {count: "count + 1"}}
    ```
    """

    _result: Status | None = None

    def update(self) -> Status:
        if self._result is not None:
            return self._result
        status = self.child.step()
        if status is not RUNNING:
            self._result = status
        return status

    def words(self, step: Stepped) -> Words:
        if step.ticked:
            return Words("", f"{self.child.title} {says(self.child.status)}.")
        before = f"{self.child.title} said {said(self.status)} the first time"
        return Words("as the first time", f"{before}, and is not asked again.")
