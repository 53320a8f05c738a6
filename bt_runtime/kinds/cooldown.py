"""The `cooldown` kind."""

from math import inf
from typing import Annotated

from pydantic import Field

from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings
from bt_runtime.nodes.base import Decorator
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import number_of
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, Status
from bt_runtime.text.phrases import number


class CooldownSettings(NodeSettings):
    """Settings of `cooldown`.

    Args:
        seconds: how long the child rests after each end, by the run's clock; a number or an expression.
        wait: wait for the end of that time, instead of failing.
    """

    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | ExpressionText
    wait: bool = False


@node(
    "cooldown",
    settings=CooldownSettings,
    waits=True,
    facts=Facts(keeps=("_pause_s",), remembers=("_has_begun", "_ready_at_s")),
)
class Cooldown(Decorator[CooldownSettings]):
    """Keeps its child from being run again too soon.

    The time begins when the child has ended or was halted. An expression is evaluated when the node begins.

    SUCCESS, FAILURE and RUNNING as the child; FAILURE while the child rests, or with `wait: true` RUNNING until it may
    run again. A halt ends the wait.

    ```yaml
    cooldown:
      seconds: 30
      child: {set: {hint: "'Name your sources.'"}}
    ```
    """

    _pause_s = 0.0
    _ready_at_s = -inf
    _has_begun = False

    def initialise(self) -> None:
        self._pause_s = number_of(self.settings.seconds, self, setting="seconds", least=0)

    def update(self) -> Status:
        if not self._has_begun:
            if self.run.now_s < self._ready_at_s:
                return self._rest()
            self._has_begun = True
        return self.child.step()

    def _rest(self) -> Status:
        if not self.settings.wait:
            self.feedback_message = f"rests for {self._ready_at_s - self.run.now_s:g} s more"
            return FAILURE
        self.run.wake_at(self.index, self._ready_at_s)
        return RUNNING

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_deadline(self.index)
        if self._has_begun:
            self._has_begun = False
            self._ready_at_s = self.run.now_s + self._pause_s

    def words(self, step: Stepped) -> Words:
        if step.ticked:
            return Words("", f"{self.child.title} {says(self.child.status)}.")
        rest_s = self._ready_at_s - self.run.now_s
        if not 0 < rest_s < inf:
            return Words()
        text = f"rests for {number(rest_s)} s more"
        return Words(text, f"{self.child.title} {text}.", (Figure("rest", rest_s, unit="s"),))
