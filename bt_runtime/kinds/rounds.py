"""Decorators that begin their child again: `retry`, `repeat` and `for_each`."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Annotated, Any

from pydantic import Field

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import ExpressionText, ExpressionUse, Facts, KeyUse, NodeSettings, Use
from bt_runtime.nodes.base import Children, Decorator, Node
from bt_runtime.nodes.context import Compiled
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import compile_in_scope, lookup_in_scope, number_of
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status
from bt_runtime.text import brief
from bt_runtime.text.phrases import counted, seconds

MOST_ATTEMPTS = 1000


class RetrySettings(NodeSettings):
    """Settings of `retry`.

    Args:
        attempts: the number of attempts, including the first; at most 1000.
        backoff_s: seconds to wait before the second attempt.
        factor: each further wait is longer by this factor.
        max_backoff_s: the longest wait in seconds.
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
    """Runs its child again when it fails, with a growing wait between the attempts.

    SUCCESS when the child succeeds; FAILURE when the last attempt fails; otherwise RUNNING.

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


class RepeatSettings(NodeSettings):
    """Settings of `repeat`.

    Args:
        times: how many times the child must succeed.
    """

    times: Annotated[int, Field(ge=1)] | ExpressionText


@node("repeat", settings=RepeatSettings, waits=True, facts=Facts(repeats=True, keeps=("_wanted", "_successes")))
class Repeat(Decorator[RepeatSettings]):
    """Runs its child a number of times, in separate ticks.

    SUCCESS when the child has succeeded `times` times; FAILURE as soon as it fails; otherwise RUNNING.

    ```yaml
    repeat:
      times: 2
      child: {set: {count: "count + 1"}}
    ```
    """

    _wanted = 1
    _successes = 0

    def initialise(self) -> None:
        self._wanted = number_of(self.settings.times, self, setting="times", least=1, whole=True)
        self._successes = 0

    def update(self) -> Status:
        status = self.child.step()
        if status is not SUCCESS:
            return status
        self._successes += 1
        if self._successes >= self._wanted:
            return SUCCESS
        self.run.tick_again(self.path)
        return RUNNING

    def words(self, step: Stepped) -> Words:
        if not step.ticked:
            return Words()
        text = f"{self._successes} of {self._wanted} times"
        sentence = f"{self.child.title} {says(self.child.status)}; {text} done."
        return Words(text, sentence, (Figure("times", self._successes, self._wanted),))


class ForEachSettings(NodeSettings):
    """Settings of `for_each`.

    Args:
        items: a list, or an expression that returns one.
        item: the blackboard key for the item.
        index: the blackboard key for its position, from 0.
        go_on: continue with the next item after a failure.
    """

    items: str | list[Any] = Field(alias="in")
    item: str = Field(alias="as")
    index: str | None = None
    go_on: bool = Field(default=False, alias="continue")

    def uses(self) -> Iterator[Use]:
        if isinstance(self.items, str):
            yield ExpressionUse(("in",), self.items)
        yield KeyUse(("as",), self.item, "write")
        if self.index is not None:
            yield KeyUse(("index",), self.index, "write", "int")


@node(
    "for_each",
    settings=ForEachSettings,
    waits=True,
    acts=True,
    facts=Facts(repeats=True, keeps=("_items", "_position", "_has_failed")),
)
class ForEach(Decorator[ForEachSettings]):
    """Runs its child once for each item of a list.

    The list is evaluated once, when the node starts. Declare the keys of `as` and `index` in the tree. SUCCESS when
    the child has succeeded for every item; FAILURE as soon as it fails (with `continue: true`, after the last item),
    or if the value is not a list; otherwise RUNNING.

    ```yaml
    for_each:
      in: ["a", "b"]
      as: hint
      index: count
      child: {condition: "hint == 'a' or count == 1"}
    ```
    """

    _list: Compiled | None = None
    _items: Sequence[Any] = ()
    _position = 0
    _has_failed = False

    def attach(self, children: Children) -> None:
        super().attach(children)
        if isinstance(self.settings.items, str):
            self._list = compile_in_scope(self.settings.items, self)

    def initialise(self) -> None:
        items = self.settings.items if self._list is None else self._list.evaluate(lookup_in_scope(self))
        if not isinstance(items, list | tuple):
            raise ExpressionError(f"'in' must be a list, not {brief(items)}")
        self._items, self._position, self._has_failed = tuple(items), 0, False

    def update(self) -> Status:
        if not self._items:
            return SUCCESS
        if self.child.status is not RUNNING:
            board, settings = self.board, self.settings
            board.set(settings.item, self._items[self._position])
            if settings.index is not None:
                board.set(settings.index, self._position)
        status = self.child.step()
        if status is RUNNING or (status is FAILURE and not self.settings.go_on):
            return status
        self._has_failed = self._has_failed or status is FAILURE
        self._position += 1
        if self._position == len(self._items):
            return FAILURE if self._has_failed else SUCCESS
        self.run.tick_again(self.path)
        return RUNNING

    def terminate(self, new_status: Status) -> None:  # noqa: ARG002  the same for every status
        self._items = ()

    def decider(self, step: Stepped) -> Node[Any] | None:
        """The node itself where an earlier item decides."""
        overruled = self.status is FAILURE and self.child.status is not FAILURE
        return None if overruled else super().decider(step)

    def words(self, step: Stepped) -> Words:
        if not step.ticked:
            return Words() if self.status is FAILURE else Words("no items", "There are no items.")
        done = self._position
        if self.status is not RUNNING:
            counted_items = counted(done + (self.status is FAILURE and not self.settings.go_on), "item")
            but = "; one of them said no" if self.decider(step) is None else ""
            return Words(counted_items, f"{self.child.title} {says(self.child.status)} after {counted_items}{but}.")
        at = done if self.child.status is not RUNNING else done + 1
        text = f"item {at} of {len(self._items)}"
        sentence = f"{self.child.title} {says(self.child.status)} for {text}."
        return Words(text, sentence, (Figure("items", at, len(self._items)),))
