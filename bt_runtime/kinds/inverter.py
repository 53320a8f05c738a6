"""The `inverter` kind."""

from py_trees.common import Status

from bt_runtime.node import Decorator
from bt_runtime.registration import NoSettings, node


@node("inverter", shorthand="child")
class Inverter(Decorator[NoSettings]):
    """Turns its child's answer around.

    SUCCESS when the child fails, FAILURE when it succeeds, RUNNING while it is running.

    ```yaml
    inverter:
      condition: "turn > 3"
    ```
    """

    def update(self) -> Status:
        """Tick the child and swap."""
        status = self.child.step()
        if status is Status.SUCCESS:
            return Status.FAILURE
        return Status.SUCCESS if status is Status.FAILURE else status
