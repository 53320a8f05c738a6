"""The `retry` kind."""

from math import inf
from typing import Annotated, Any

from pydantic import Field

from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings
from bt_runtime.nodes.base import Decorator, Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import number_of
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, Status
from bt_runtime.text.phrases import seconds

MOST_ATTEMPTS = 1000


class RetrySettings(NodeSettings):
    """Settings of `retry`.

    Args:
        attempts: how often the child is tried in all, at most 1000; a number or an expression.
        backoff_s: seconds to wait before the second attempt; 0 tries again at once.
        factor: each further wait is longer by this factor.
        max_backoff_s: no wait is longer than this.
    """

    attempts: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)] | ExpressionText
    backoff_s: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    factor: float = Field(default=2.0, ge=1, allow_inf_nan=False)
    max_backoff_s: float = Field(default=60.0, ge=0, allow_inf_nan=False)


@node(
    "retry",
    settings=RetrySettings,
    waits=True,
    facts=Facts(repeats=True, keeps=("_most", "_failures", "_pause_s", "_resume_at_s")),
)
class RetryChild(Decorator[RetrySettings]):
    """Tries its child again when it fails, with a growing wait between the attempts.

    `attempts` may be an expression over the blackboard, such as `tries_left`; it is evaluated when the node begins.

    SUCCESS when the child succeeds; FAILURE when the last attempt has failed; RUNNING while the child is running and
    during the waits. A halt ends the wait.

    ```yaml
    retry:
      attempts: 3
      backoff_s: 0.5
      child: {condition: "turn > 3"}
    ```
    """

    _most = 1
    _failures = 0
    _pause_s = 0.0
    _resume_at_s = -inf

    def initialise(self) -> None:
        wanted, most = self.settings.attempts, MOST_ATTEMPTS
        self._most = number_of(wanted, self, setting="attempts", least=1, most=most, whole=True)
        self._failures = 0
        self._pause_s = self.settings.backoff_s
        self._resume_at_s = -inf

    def update(self) -> Status:
        if self.run.now_s < self._resume_at_s:
            return RUNNING
        status = self.child.step()
        if status is not FAILURE:
            return status
        self._failures += 1
        if self._failures >= self._most:
            return FAILURE
        self._wait()
        return RUNNING

    def _wait(self) -> None:
        pause_s = min(self._pause_s, self.settings.max_backoff_s)
        if pause_s == 0:
            self.run.tick_again(self.path)
            return
        self._pause_s = pause_s * self.settings.factor
        self._resume_at_s = self.run.now_s + pause_s
        self.run.wake_at(self.index, self._resume_at_s)

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_deadline(self.index)

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The node itself where it tries again."""
        return None if self.status is RUNNING and self.child.status is not RUNNING else super().decider(step)

    def words(self, step: Stepped) -> Words:
        wait_s, child = self._resume_at_s - self.run.now_s, self.child
        goes_on = self.status is RUNNING and child.status is not RUNNING
        has_failed = self.status is FAILURE or (goes_on and bool(step.ticked))
        attempt = self._failures + (not has_failed)
        text, when = f"attempt {attempt} of {self._most}", f"in {seconds(wait_s)}" if wait_s > 0 else "at once"
        figures = (Figure("attempts", attempt, self._most),)
        if not step.ticked:
            return Words(f"{text} {when}", f"It waits: {text} {when}.", figures) if goes_on else Words()
        another = f"; another one follows {when}" if goes_on else ""
        return Words(text, f"{child.title} {says(child.status)} at {text}{another}.", figures)
