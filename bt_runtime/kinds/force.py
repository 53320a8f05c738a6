"""The `force_success` and `force_failure` kinds."""

from bt_runtime.checking import transfers
from bt_runtime.nodes import Decorator
from bt_runtime.registration import NoSettings, node
from bt_runtime.status import FAILURE, RUNNING, SUCCESS, Status


@node("force_success", shorthand="child", flow=transfers.forced("success"))
class ForceSuccess(Decorator[NoSettings]):
    """Returns SUCCESS however its child ends; RUNNING while it is running.

    ```yaml
    force_success:
      condition: "turn > 3"
    ```
    """

    def update(self) -> Status:
        return RUNNING if self.child.step() is RUNNING else SUCCESS


@node("force_failure", shorthand="child", flow=transfers.forced("failure"))
class ForceFailure(Decorator[NoSettings]):
    """Returns FAILURE however its child ends; RUNNING while it is running.

    ```yaml
    force_failure:
      condition: "turn > 3"
    ```
    """

    def update(self) -> Status:
        return RUNNING if self.child.step() is RUNNING else FAILURE
