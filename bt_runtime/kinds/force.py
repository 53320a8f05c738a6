"""The `force_success` and `force_failure` kinds."""

from typing import Any, ClassVar

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts
from bt_runtime.nodes.base import Ends, Node, Passing
from bt_runtime.nodes.registration import NoSettings, node
from bt_runtime.nodes.wording import said, says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status


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
    """Returns SUCCESS however its child ends; RUNNING while it is running.

    ```yaml
    force_success:
      condition: "turn > 3"
    ```
    """

    forced = SUCCESS


@node("force_failure", shorthand="child", facts=Facts())
class ForceFailure(Forced):
    """Returns FAILURE however its child ends; RUNNING while it is running.

    ```yaml
    force_failure:
      condition: "turn > 3"
    ```
    """

    forced = FAILURE
