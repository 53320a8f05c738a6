"""The `timeout` kind."""

from typing import Annotated, Any

from pydantic import Field

from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings
from bt_runtime.nodes.base import Ends, Node, Passing
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import number_of
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, Status
from bt_runtime.text.phrases import number


class TimeoutSettings(NodeSettings):
    """Settings of `timeout`.

    Args:
        seconds: how long the child may take, from its first tick, by the run's clock; a number or an
            expression.
    """

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | ExpressionText


@node("timeout", settings=TimeoutSettings, facts=Facts(keeps=("_deadline_s",)))
class Timeout(Passing[TimeoutSettings]):
    """Limits the time of its child.

    SUCCESS, FAILURE and RUNNING as the child, while there is time left; FAILURE when the time is over, and then the
    child is halted. A child that ends in the tick in which the time runs out is still in time. An expression
    is evaluated when the node begins.

    ```yaml
    timeout:
      seconds: 5
      child: {condition: "turn > 3"}
    ```
    """

    _limit_s = 0.0
    _deadline_s = 0.0

    def initialise(self) -> None:
        self._limit_s = number_of(self.settings.seconds, self, setting="seconds", least=0)
        self._deadline_s = self.run.now_s + self._limit_s

    def update(self) -> Status:
        status = self.child.step()
        if status is not RUNNING:
            return status
        if self.run.now_s >= self._deadline_s:
            self.feedback_message = f"{self._limit_s:g} s are over"
            return FAILURE
        self.run.wake_at(self.index, self._deadline_s)
        return RUNNING

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_deadline(self.index)

    def ends_as(self, ends: Ends) -> Ends:
        return ends | {FAILURE}

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The node itself when the time is over."""
        return None if self._is_over else super().decider(step)

    def words(self, step: Stepped) -> Words:
        if not step.ticked:
            return Words()
        limit_s, elapsed_s = self._limit_s, self.run.now_s - (self._deadline_s - self._limit_s)
        text = f"{number(elapsed_s)} of {number(limit_s)} s"
        says_so = f"The {number(limit_s)} s are over, and {self.child.title} is halted."
        sentence = says_so if self._is_over else f"{self.child.title} {says(self.child.status)} after {text}."
        return Words(text, sentence, (Figure("time", elapsed_s, limit_s, "s"),))

    @property
    def _is_over(self) -> bool:
        return self.status is FAILURE and self.child.status is not FAILURE
