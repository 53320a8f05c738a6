"""The `wait` kind."""

from collections.abc import Iterator
from math import inf
from typing import Annotated, Self

from pydantic import Field, model_validator

from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import DeliveryUse, ExpressionText, Facts, NodeSettings, Use
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import Compiled, compile_in_scope, lookup_in_scope, number_of
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status
from bt_runtime.text.phrases import number

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)] | ExpressionText


class WaitSettings(NodeSettings):
    """Settings of `wait`, one of the first three of which says what is waited for.

    Args:
        seconds: a time, by the run's clock; a number or an expression.
        until: an expression over the blackboard, until it is true.
        delivery: a key that is declared with `from: delivery`, until it has a value; written `for` in YAML.
        timeout_s: how long `until` and `for` may take; a number or an expression. `None`: without end.
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
    """Waits for a time, for a change of the blackboard, or for a value from outside.

    `seconds` waits for a time. `until` waits until an expression is true, and is evaluated again when a key that it
    names has changed. `for` waits until a key that the host delivers has a value that is not null. Times are evaluated
    when the node begins.

    SUCCESS when that has come, at once if it is so already; FAILURE when `timeout_s` have passed before; RUNNING
    meanwhile. A halt ends the wait. A wait for keys that neither pending work nor a delivery can change ends the run
    with an error that names the node.

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
