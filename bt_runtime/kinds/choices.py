"""Choices between branches: `if` and `switch`."""

import json
from collections.abc import Iterator
from typing import Any

from py_trees import composites

from bt_runtime.kinds.leaves import ExpressionSettings
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings, Slot, is_literal, keyed_slot
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.context import Compiled
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import compile_in_scope, lookup_in_scope
from bt_runtime.nodes.wording import choice_words
from bt_runtime.record.status import FAILURE, SUCCESS, Status
from bt_runtime.text import brief


@node(
    "if",
    category="composite",
    settings=ExpressionSettings,
    slots=(Slot("then", many=False), Slot("else", many=False, required=False)),
    facts=Facts(keeps=("_branch",)),
)
class If(Node[ExpressionSettings]):
    """Runs `then` if an expression is true, otherwise `else`.

    The expression is evaluated once, when the node starts. SUCCESS, FAILURE or RUNNING as the chosen branch; SUCCESS
    if there is none.

    ```yaml
    if:
      when: "turn > 3"
      then: {set: {hint: "'Be brief.'"}}
      else: {set: {hint: "'Take your time.'"}}
    ```
    """

    stock = composites.Selector
    memory = True
    """For py_trees' displays: the choice stays the same while it is RUNNING."""

    _when: Compiled
    _branches: tuple[Node[Any] | None, Node[Any] | None]
    _branch: Node[Any] | None = None

    def attach(self, children: Children) -> None:
        self._when = compile_in_scope(self.settings.when, self)
        then, otherwise = children["then"], children.get("else")
        self._branches = then[0], otherwise[0] if otherwise else None

    def initialise(self) -> None:
        self.reset_children()
        then, otherwise = self._branches
        self._branch = then if self._when.evaluate(lookup_in_scope(self)) else otherwise

    def update(self) -> Status:
        return SUCCESS if self._branch is None else self._branch.step()

    def words(self, step: Stepped) -> Words:
        return choice_words(step, step.evaluations[-1].verdict if step.evaluations else "")


_NO_CASE = object()
_SLOT = keyed_slot("cases", "")


class SwitchSettings(NodeSettings):
    """Settings of `switch`.

    Args:
        value: an expression over the blackboard.
    """

    value: ExpressionText


@node(
    "switch",
    category="composite",
    settings=SwitchSettings,
    slots=(Slot("cases", many=True, keyed=True), Slot("default", many=False, required=False)),
    facts=Facts(keeps=("_chosen",)),
)
class Switch(Node[SwitchSettings]):
    """Runs the case that matches the value of an expression.

    The expression is evaluated once, when the node starts. SUCCESS, FAILURE or RUNNING as the chosen node; FAILURE if
    there is none. Put numbers, `true`, `false` and `null` in quotes: `"3"` matches both number and text.

    ```yaml
    switch:
      value: question
      cases:
        q: {set: {hint: "'A short question.'"}}
        why: {set: {hint: "'Give the reasons.'"}}
      default: {set: {hint: "''"}}
    ```
    """

    stock = composites.Selector
    memory = True
    """For py_trees' displays: the choice stays the same while it is RUNNING."""

    _value: Compiled
    _cases: dict[object, Node[Any]]
    _default: Node[Any] | None = None
    _chosen: Node[Any] | None = None

    def attach(self, children: Children) -> None:
        self._value = compile_in_scope(self.settings.value, self)
        self._default = next(iter(children.get("default", ())), None)
        self._cases = {}
        for slot, (case,) in children.items():
            for value in _values_of(slot.removeprefix(_SLOT)) if slot.startswith(_SLOT) else ():
                self._cases.setdefault(value, case)

    def initialise(self) -> None:
        self.reset_children()
        value = self._value.evaluate(lookup_in_scope(self))
        self._chosen = self._cases.get(_tagged(value), self._default)
        self.feedback_message = "" if self._chosen else f"no case for {brief(value)}"

    def update(self) -> Status:
        return FAILURE if self._chosen is None else self._chosen.step()

    def words(self, step: Stepped) -> Words:
        return choice_words(step, step.evaluations[-1].result if step.evaluations else "")


def _values_of(case: str) -> Iterator[object]:
    """The values that a case stands for: its text, and the number or constant that the text is."""
    yield case
    if is_literal(case):
        yield _tagged(json.loads(case))


def _tagged(value: object) -> object:
    """A value that can be looked up: in Python `true` equals 1, and a list has no hash."""
    if value is None or isinstance(value, str):
        return value
    return (isinstance(value, bool), value) if isinstance(value, bool | int | float) else _NO_CASE
