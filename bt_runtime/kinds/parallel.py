"""The `parallel` kind."""

from typing import Any, Literal

from py_trees.common import Status
from pydantic import Field

from bt_runtime.kind import NodeSettings
from bt_runtime.node import Node
from bt_runtime.registration import CHILDREN, node


class ParallelSettings(NodeSettings):
    """Settings of `parallel`.

    Args:
        success: how many children must succeed: `all`, `one`, or a number.
        failure: when to give up: `one` at the first failure; `unreachable` when too few children are left to succeed.
        max_concurrent: how many children may be RUNNING at a time; the others wait their turn. `None`: all.
    """

    success: Literal["all", "one"] | int = Field(default="all")
    failure: Literal["one", "unreachable"] = "unreachable"
    max_concurrent: int | None = Field(default=None, ge=1)


@node("parallel", category="composite", settings=ParallelSettings, slots=CHILDREN, shorthand="children")
class Parallel(Node[ParallelSettings]):
    """Ticks its children side by side, each until it has ended.

    SUCCESS when as many children have succeeded as `success` asks for; FAILURE by the `failure` policy; RUNNING otherwise.
    When it ends, the children that are still RUNNING are halted. A child that has ended is not ticked again in the round.

    ```yaml
    parallel:
      success: 1
      max_concurrent: 2
      children:
        - condition: "turn > 3"
        - condition: "turn < 9"
    ```
    """

    def initialise(self) -> None:
        """Start a new round."""
        self.reset_children()

    def update(self) -> Status:
        """Tick every child that has not ended, up to the limit of running ones."""
        children: list[Node[Any]] = self.children  # type: ignore[assignment]  # py_trees types them as its own base
        needed = {"all": len(children), "one": 1}.get(str(self.settings.success), self.settings.success)
        limit = self.settings.max_concurrent or len(children)
        succeeded = failed = running = 0
        for child in children:
            status = child.status
            if status not in {Status.SUCCESS, Status.FAILURE}:
                if running == limit:
                    continue
                status = child.step()
            succeeded += status is Status.SUCCESS
            failed += status is Status.FAILURE
            running += status is Status.RUNNING
        return self._verdict(succeeded, failed, int(needed), len(children))

    def _verdict(self, succeeded: int, failed: int, needed: int, total: int) -> Status:
        if succeeded >= needed:
            verdict = Status.SUCCESS
        elif (failed and self.settings.failure == "one") or total - failed < needed:
            verdict = Status.FAILURE
        else:
            return Status.RUNNING
        self.halt_children()
        return verdict
