"""The `if` kind."""

from typing import Any

from py_trees import composites

from bt_runtime.kinds.condition import ExpressionSettings
from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts, Slot
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import Compiled, compile_in_scope, lookup_in_scope
from bt_runtime.nodes.wording import choice_words
from bt_runtime.record.status import SUCCESS, Status


@node(
    "if",
    category="composite",
    settings=ExpressionSettings,
    slots=(Slot("then", many=False), Slot("else", many=False, required=False)),
    facts=Facts(keeps=("_branch",)),
)
class If(Node[ExpressionSettings]):
    """Runs `then` if an expression is true, else `else`.

    The expression is evaluated once, when the node begins; the branch stays the same while it is RUNNING. A condition
    that must hold all the time is a guard of `guarded`.

    SUCCESS, FAILURE and RUNNING as the branch; SUCCESS where the expression is false and there is no `else`. An
    expression that cannot be evaluated is an error in the tick record, and FAILURE. A halt halts the branch.

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
