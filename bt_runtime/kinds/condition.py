"""The `condition` kind."""

from bt_runtime.language.explanation import Stepped, Words, of_step
from bt_runtime.language.kind import ExpressionText, Facts, NodeSettings
from bt_runtime.nodes.base import Children, Condition
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import Compiled, compile_in_scope, lookup_in_scope
from bt_runtime.nodes.wording import condition_words


class ExpressionSettings(NodeSettings):
    """Settings of `condition` and `if`.

    Args:
        when: an expression over the blackboard.
    """

    when: ExpressionText


@node("condition", settings=ExpressionSettings, shorthand="when", facts=Facts())
class ExpressionCondition(Condition[ExpressionSettings]):
    """Tests an expression over the blackboard.

    SUCCESS when the expression is true, FAILURE when it is not; never RUNNING. An expression that cannot be evaluated
    (`None` compared with a number, say) is an error in the tick record, and FAILURE.

    ```yaml
    condition: "turn >= 3 and not sources"
    ```
    """

    _when: Compiled

    def attach(self, children: Children) -> None:  # noqa: ARG002  a leaf
        self._when = compile_in_scope(self.settings.when, self)

    def holds(self) -> bool:
        holds = bool(self._when.evaluate(lookup_in_scope(self)))
        self.feedback_message = "" if holds else self.settings.when
        return holds

    @of_step
    def words(self, step: Stepped) -> Words:
        return condition_words(step)
