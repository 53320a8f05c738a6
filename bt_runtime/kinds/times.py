"""Kinds that know the time: `timeout`, `cooldown` and `wait`."""

from collections.abc import Iterator
from math import inf
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import DeliveryUse, ExpressionText, Facts, NodeSettings, Use
from bt_runtime.nodes.base import Children, Decorator, Ends, Node, Passing
from bt_runtime.nodes.context import Compiled
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import compile_in_scope, lookup_in_scope, number_of
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status
from bt_runtime.text.phrases import number


class TimeoutSettings(NodeSettings):
    """Settings of `timeout`.

    Args:
        seconds: how long the child may take from its first tick.
    """

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] | ExpressionText


@node("timeout", settings=TimeoutSettings, facts=Facts(keeps=("_deadline_s",)))
class Timeout(Passing[TimeoutSettings]):
    """Limits the time of its child.

    SUCCESS, FAILURE or RUNNING as the child; FAILURE when the time is up, and the child is halted.

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


class CooldownSettings(NodeSettings):
    """Settings of `cooldown`.

    Args:
        seconds: the time between an end of the child and its next start.
        wait: wait for that time, rather than fail.
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
    """Keeps its child from running again too soon after it has ended or was halted.

    SUCCESS, FAILURE or RUNNING as the child. Until the time is up: FAILURE, or RUNNING with `wait: true`.

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


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)] | ExpressionText


class WaitSettings(NodeSettings):
    """Settings of `wait`, one of the first three of which says what is waited for.

    Args:
        seconds: a number of seconds or an expression.
        until: an expression that must become true.
        delivery: a key declared with `from: delivery` that must get a value.
        timeout_s: how long `until` and `for` may take; by default without limit.
    """

    seconds: Seconds | None = None
    until: ExpressionText | None = None
    delivery: str | None = Field(default=None, alias="for")
    timeout_s: Seconds | None = None

    @model_validator(mode="after")
    def _one_thing(self) -> Self:
        wanted = [self.seconds, self.until, self.delivery]
        if len(wanted) - wanted.count(None) != 1:
            raise ValueError("it waits for one thing: 'seconds', 'until' or 'for'")
        if self.seconds is not None and self.timeout_s is not None:
            raise ValueError("'timeout_s' bounds 'until' and 'for'; a wait of some 'seconds' ends by itself")
        return self

    def uses(self) -> Iterator[Use]:
        yield from super().uses()
        if self.delivery is not None:
            yield DeliveryUse(("for",), self.delivery)


@node("wait", settings=WaitSettings, shorthand="seconds", waits=True, acts=False, facts=Facts(keeps=("_until_s",)))
class Wait(Node[WaitSettings]):
    """Waits for a time, a condition or a value from outside: one of `seconds`, `until` and `for`.

    SUCCESS when it has come, at once if it is already there; FAILURE after `timeout_s`; otherwise RUNNING. If nothing
    can change the keys of `until`, the run ends with an error.

    ```yaml
    wait: {until: "count >= 0", timeout_s: 60}
    ```
    """

    _condition: Compiled | None = None
    _until_s = inf

    def attach(self, children: Children) -> None:  # noqa: ARG002  a leaf
        settings = self.settings
        condition = f"{settings.delivery} is not null" if settings.delivery is not None else settings.until
        if condition is not None:
            self._condition = compile_in_scope(condition, self)

    def initialise(self) -> None:
        settings = self.settings
        setting = "timeout_s" if settings.seconds is None else "seconds"
        seconds = settings.timeout_s if settings.seconds is None else settings.seconds
        self._until_s = inf if seconds is None else self.run.now_s + number_of(seconds, self, setting=setting, least=0)

    def update(self) -> Status:
        condition, run = self._condition, self.run
        if condition is not None and condition.evaluate(lookup_in_scope(self)):
            return SUCCESS
        if run.now_s >= self._until_s:
            self.feedback_message = "the time is over"
            return SUCCESS if condition is None else FAILURE
        if self._until_s < inf:
            run.wake_at(self.index, self._until_s)
        if condition is not None:
            private = self.definition.private
            keys = {private.get(name, name) for name in condition.names.difference(self.constants)}
            run.wake_on_change(self.index, self.path, keys)
        return RUNNING

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self.run.forget_deadline(self.index)
        self.run.forget_changes(self.index)

    def words(self, step: Stepped) -> Words:
        left_s = self._until_s - self.run.now_s
        figures = (Figure("time left", max(0.0, left_s), unit="s"),) if left_s < inf else ()
        key = self.settings.delivery
        condition = key or (step.evaluations[-1].verdict if step.evaluations else "")
        if self.status is RUNNING:
            text = f"waits for {key}" if key else f"waits: {condition}" if condition else "waits"
            text += f", {number(left_s)} s more" if figures else ""
            return Words(text, f"It {text}.", figures)
        if self.status is FAILURE:
            late = f"The time is over, and {key} has not come." if key else "The time is over."
            return Words("the time is over", late, figures) if figures else Words()
        came = f"{key} has come" if key else condition or "the time is over"
        return Words(came, f"It waits no longer: {came}.")
