"""The `repeat` kind."""

from pydantic import Field

from bt_runtime.kind import NodeSettings
from bt_runtime.nodes import Decorator
from bt_runtime.registration import node
from bt_runtime.status import RUNNING, SUCCESS, Status


class RepeatSettings(NodeSettings):
    """Settings of `repeat`.

    Args:
        times: how many times the child must succeed.
    """

    times: int = Field(ge=1)


@node("repeat", settings=RepeatSettings, waits=True)
class Repeat(Decorator[RepeatSettings]):
    """Runs its child a number of times, one tick each.

    SUCCESS when the child has succeeded `times` times; FAILURE as soon as it fails; RUNNING in between. A thousand
    repetitions in a row that take no time end the run with an error that names the node.

    ```yaml
    repeat:
      times: 2
      child: {set: {count: "count + 1"}}
    ```
    """

    _successes = 0

    def initialise(self) -> None:
        self._successes = 0

    def update(self) -> Status:
        status = self.child.step()
        if status is not SUCCESS:
            return status
        self._successes += 1
        if self._successes >= self.settings.times:
            return SUCCESS
        self.run.tick_again(self.path)
        return RUNNING
