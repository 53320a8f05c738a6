"""The `parallel` kind."""

from typing import Annotated, Any, Literal, Self

from py_trees import composites
from pydantic import Field, model_validator

from bt_runtime.kinds.ending import AwaitingHalted
from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import Facts, NodeSettings
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.registration import CHILDREN, node
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status


class ParallelSettings(NodeSettings):
    """Settings of `parallel`.

    Args:
        success: how many children must succeed: `all`, `one`, or a number.
        failure: when to fail: `one` at the first failure; `unreachable` when too few children are left to succeed.
        until: makes it a race, which `first_success` or `first_end` of a child decides.
        max_concurrent: how many children may be RUNNING at a time; the others wait. `None`: all.
    """

    success: Literal["all", "one"] | Annotated[int, Field(ge=1)] = "all"
    failure: Literal["one", "unreachable"] = "unreachable"
    until: Literal["first_success", "first_end"] | None = None
    max_concurrent: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _race_decides(self) -> Self:
        if self.until is not None and self.model_fields_set & {"success", "failure"}:
            raise ValueError("'until' decides alone: leave out 'success' and 'failure'")
        return self


@node(
    "parallel",
    category="composite",
    settings=ParallelSettings,
    slots=CHILDREN,
    shorthand="children",
    facts=Facts(keeps=("ends_with",), compares=True),
)
class Parallel(AwaitingHalted[ParallelSettings]):
    """Ticks all its children, each until it has ended.

    SUCCESS when as many children have succeeded as `success` asks for; FAILURE by the `failure` policy; RUNNING
    otherwise. Every child is ticked before the result is decided, and enough successes outweigh a failure in that tick.
    When it ends, the children that are still RUNNING are halted. A child that has ended is not ticked again in the
    round.

    With `until` it is a race. `first_success`: SUCCESS with the first child that succeeds, FAILURE when all have
    failed. `first_end`: the result of the first child that ends. The children behind the deciding one are not ticked
    any more, those that are RUNNING are halted, and the node is RUNNING until their pending work has been awaited.

    ```yaml
    parallel:
      success: 1
      max_concurrent: 2
      children:
        - condition: "turn > 3"
        - condition: "turn < 9"
    ```
    """

    stock = composites.Parallel

    _needed = 0
    _limit = 0

    def attach(self, children: Children) -> None:
        total, wanted = len(children["children"]), self.settings.success
        is_race = self.settings.until is not None
        self._needed = 1 if is_race or wanted == "one" else (total if wanted == "all" else wanted)
        self._limit = self.settings.max_concurrent or total

    def update(self) -> Status:
        if self.ends_with is not None:
            return self.ends_with
        children, until = self.child_nodes, self.settings.until
        succeeded = failed = running = 0
        for child in children:
            status = child.status
            if status is not SUCCESS and status is not FAILURE:
                # Children are started in their order, so those that are RUNNING stand before those that wait.
                if running == self._limit:
                    continue
                status = child.step()
            if until is not None and (status is SUCCESS or (status is FAILURE and until == "first_end")):
                return self.end_with(status)
            succeeded += status is SUCCESS
            failed += status is FAILURE
            running += status is RUNNING
        if succeeded >= self._needed:
            return SUCCESS
        is_lost = (failed and self.settings.failure == "one") or len(children) - failed < self._needed
        return FAILURE if is_lost else RUNNING

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The last child that ended with the result; while the node is RUNNING the last that ended, or was ticked."""
        ended = [child for child in step.ticked if child.status in (SUCCESS, FAILURE)]
        alike = [child for child in ended if child.status is self.status]
        return next(reversed(alike or ended or step.ticked), None)

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the children say it
        statuses = [child.status for child in self.child_nodes]
        said_yes = statuses.count(SUCCESS)
        parts = ((said_yes, "yes"), (statuses.count(FAILURE), "no"), (statuses.count(RUNNING), "running"))
        counts = ", ".join(f"{count} {what}" for count, what in parts if count) or "none ended"
        halted = "; halted work is awaited" if self.ends_with is not None and self.status is RUNNING else ""
        needed = f"{self._needed} of {len(statuses)} children must say yes: {counts}{halted}."
        return Words(counts, needed, (Figure("children that said yes", said_yes, self._needed),))
