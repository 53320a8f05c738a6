"""Decorators of a result: `inverter`, `force_success`, `force_failure` and `once`."""

from typing import Any, ClassVar

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.base import Decorator, Ends, Node, Passing
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import said, says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status


@node("inverter", shorthand="child", facts=Facts())
class Inverter(Passing[NoSettings]):
    """Inverts the result of its child.

    SUCCESS when the child fails; FAILURE when it succeeds; RUNNING while it is running.

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


class Forced(Passing[NoSettings]):
    """Ends with one status, whatever its child says."""

    forced: ClassVar[Status]

    def update(self) -> Status:
        """Tick the child; its result counts for nothing."""
        return RUNNING if self.child.step() is RUNNING else self.forced

    def ends_as(self, ends: Ends) -> Ends:
        """With that status, if the child ends."""
        return frozenset({self.forced}) if ends else ends

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The node itself where it overrules the child."""
        return super().decider(step) if self.child.status is self.status else None

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the child says it
        """What the child says, and what it counts as."""
        child = self.child
        counts = "" if child.status is self.status else f", which counts as {said(self.status)}"
        return Words("", f"{child.title} {says(child.status)}{counts}.")


@node("force_success", shorthand="child", facts=Facts())
class ForceSuccess(Forced):
    """Returns SUCCESS whatever the result of its child; RUNNING while the child is running.

    ```yaml
    force_success:
      condition: "turn > 3"
    ```
    """

    forced = SUCCESS


@node("force_failure", shorthand="child", facts=Facts())
class ForceFailure(Forced):
    """Returns FAILURE whatever the result of its child; RUNNING while the child is running.

    ```yaml
    force_failure:
      condition: "turn > 3"
    ```
    """

    forced = FAILURE


@node("once", shorthand="child", facts=Facts(remembers=("_result",)))
class Once(Decorator[NoSettings]):
    """Runs its child once in a run and keeps its result.

    SUCCESS or FAILURE as the child ended, also at later visits; RUNNING while it is running. A halted child starts
    again.

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
