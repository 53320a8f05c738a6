"""The `parallel` kind."""

from typing import Annotated, Literal

from pydantic import Field

from bt_runtime.kind import NodeSettings
from bt_runtime.nodes import Children, Node
from bt_runtime.registration import CHILDREN, node
from bt_runtime.status import FAILURE, RUNNING, SUCCESS, Status


class ParallelSettings(NodeSettings):
    """Settings of `parallel`.

    Args:
        success: how many children must succeed: `all`, `one`, or a number.
        failure: when to fail: `one` at the first failure; `unreachable` when too few children are left to succeed.
        max_concurrent: how many children may be RUNNING at a time; the others wait. `None`: all.
    """

    success: Literal["all", "one"] | Annotated[int, Field(ge=1)] = "all"
    failure: Literal["one", "unreachable"] = "unreachable"
    max_concurrent: int | None = Field(default=None, ge=1)


@node("parallel", category="composite", settings=ParallelSettings, slots=CHILDREN, shorthand="children")
class Parallel(Node[ParallelSettings]):
    """Ticks all its children, each until it has ended.

    SUCCESS when as many children have succeeded as `success` asks for; FAILURE by the `failure` policy; RUNNING
    otherwise. Every child is ticked before the result is decided, and enough successes outweigh a failure in that tick.
    When it ends, the children that are still RUNNING are halted. A child that has ended is not ticked again in the
    round.

    ```yaml
    parallel:
      success: 1
      max_concurrent: 2
      children:
        - condition: "turn > 3"
        - condition: "turn < 9"
    ```
    """

    _needed = 0
    _limit = 0

    def attach(self, children: Children) -> None:
        total, wanted = len(children["children"]), self.settings.success
        self._needed = total if wanted == "all" else (1 if wanted == "one" else wanted)
        self._limit = self.settings.max_concurrent or total

    def initialise(self) -> None:
        self.reset_children()

    def update(self) -> Status:
        children = self.child_nodes
        succeeded = failed = running = 0
        for child in children:
            status = child.status
            if status is not SUCCESS and status is not FAILURE:
                # Children are started in their order, so those that are RUNNING stand before those that wait.
                if running == self._limit:
                    continue
                status = child.step()
            succeeded += status is SUCCESS
            failed += status is FAILURE
            running += status is RUNNING
        if succeeded >= self._needed:
            return SUCCESS
        is_lost = (failed and self.settings.failure == "one") or len(children) - failed < self._needed
        return FAILURE if is_lost else RUNNING
