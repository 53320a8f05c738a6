"""The `switch` kind."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from py_trees import composites

from bt_runtime.checking import transfers
from bt_runtime.expressions import Expression
from bt_runtime.kind import ExpressionUse, NodeSettings, Slot, Use, keyed_slot
from bt_runtime.nodes import Children, Node
from bt_runtime.registration import node
from bt_runtime.scope import compile_in_scope, lookup_in_scope
from bt_runtime.status import FAILURE, Status
from bt_runtime.text import brief


class SwitchSettings(NodeSettings):
    """Settings of `switch`.

    Args:
        value: an expression over the blackboard.
    """

    value: str

    def uses(self) -> Iterator[Use]:
        yield ExpressionUse(("value",), self.value)


@node(
    "switch",
    category="composite",
    settings=SwitchSettings,
    slots=(Slot("cases", many=True, keyed=True), Slot("default", many=False, required=False)),
    flow=transfers.switch,
)
class Switch(Node[SwitchSettings]):
    """Runs the node that belongs to the value of an expression.

    The expression is evaluated once, when the node begins; the chosen node stays the same while it is RUNNING. Cases
    are texts: a number, `true`, `false` and `null` are written in quotes, as in `"3"`. A list or a map fits no case.

    SUCCESS, FAILURE and RUNNING as the chosen node; without a case for the value `default` is chosen, and FAILURE is
    the result where there is none. An expression that cannot be evaluated is an error in the tick record, and FAILURE.
    A halt halts the chosen node.

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

    _value: Expression
    _nodes: Mapping[str, Node[Any]]
    _chosen: Node[Any] | None = None

    def attach(self, children: Children) -> None:
        self._value = compile_in_scope(self.settings.value, self)
        self._nodes = {slot: nodes[0] for slot, nodes in children.items() if nodes}

    def initialise(self) -> None:
        self.reset_children()
        value = self._value.evaluate(lookup_in_scope(self))
        case = _as_case(value)
        chosen = self._nodes.get(keyed_slot("cases", case)) if case is not None else None
        self._chosen = chosen or self._nodes.get("default")
        self.feedback_message = "" if self._chosen else f"no case for {brief(value)}"

    def update(self) -> Status:
        return FAILURE if self._chosen is None else self._chosen.step()


def _as_case(value: object) -> str | None:
    """A value as the text of its case; `None` if it has none."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if value is None or isinstance(value, bool | int | float) else None
