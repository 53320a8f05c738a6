"""The `inverter` kind."""

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.base import Ends, Passing
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status


@node("inverter", shorthand="child", facts=Facts())
class Inverter(Passing[NoSettings]):
    """Inverts its child's result.

    SUCCESS when the child fails, FAILURE when it succeeds, RUNNING while it is running.

    ```yaml
    inverter:
      condition: "turn > 3"
    ```
    """

    def update(self) -> Status:
        status = self.child.step()
        if status is SUCCESS:
            return FAILURE
        return SUCCESS if status is FAILURE else status

    def ends_as(self, ends: Ends) -> Ends:
        return frozenset({FAILURE if end is SUCCESS else SUCCESS for end in ends})

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the child says it
        child = self.child
        turned = "" if child.status is RUNNING else ", which is turned around"
        return Words("", f"{child.title} {says(child.status)}{turned}.")
