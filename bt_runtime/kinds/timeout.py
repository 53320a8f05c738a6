"""The `timeout` kind."""

from pydantic import Field

from bt_runtime.kind import NodeSettings
from bt_runtime.nodes import Decorator
from bt_runtime.registration import node
from bt_runtime.status import FAILURE, RUNNING, Status


class TimeoutSettings(NodeSettings):
    """Settings of `timeout`.

    Args:
        seconds: how long the child may take, from its first tick, by the run's clock.
    """

    seconds: float = Field(gt=0, allow_inf_nan=False)


@node("timeout", settings=TimeoutSettings)
class Timeout(Decorator[TimeoutSettings]):
    """Limits the time of its child.

    SUCCESS, FAILURE and RUNNING as the child, while there is time left; FAILURE when the time is over, and then the
    child is halted. A child that ends in the tick in which the time runs out is still in time.

    ```yaml
    timeout:
      seconds: 5
      child: {condition: "turn > 3"}
    ```
    """

    _deadline_s = 0.0

    def initialise(self) -> None:
        self._deadline_s = self.run.now_s + self.settings.seconds

    def update(self) -> Status:
        status = self.child.step()
        if status is not RUNNING:
            return status
        if self.run.now_s >= self._deadline_s:
            self.feedback_message = f"{self.settings.seconds:g} s are over"
            return FAILURE
        self.run.wake_at(self.index, self._deadline_s)
        return RUNNING

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_deadline(self.index)
