"""The `set` kind."""

from collections.abc import Iterator

from pydantic import Field

from bt_runtime.expressions import Expression
from bt_runtime.kind import ExpressionUse, KeyUse, NodeSettings, Use
from bt_runtime.nodes import Children, Node
from bt_runtime.registration import node
from bt_runtime.scope import compile_in_scope, lookup_in_scope
from bt_runtime.status import SUCCESS, Status


class SetSettings(NodeSettings):
    """Settings of `set`.

    Args:
        values: an expression for each blackboard key that is written.
    """

    values: dict[str, str | int | float | bool | None] = Field(min_length=1)

    def uses(self) -> Iterator[Use]:
        """The keys and the expressions."""
        for key, value in self.values.items():
            yield KeyUse(("values", key), key, "write")
            if isinstance(value, str):
                yield ExpressionUse(("values", key), value)


@node("set", category="action", settings=SetSettings, shorthand="values", acts=True)
class Set(Node[SetSettings]):
    """Writes to the blackboard, in the order of the file.

    SUCCESS when every expression had a value of its key's type; FAILURE otherwise, and then the keys before the wrong
    one are written. A text is an expression, so a literal text has quotes of its own; numbers and booleans stand as
    they are.

    ```yaml
    set: {count: "count + 1", hint: "'Be brief.'"}
    ```
    """

    _values: tuple[tuple[str, Expression | None, object], ...]

    def attach(self, children: Children) -> None:  # noqa: ARG002  a leaf
        """Compile the expressions."""
        self._values = tuple(
            (key, compile_in_scope(value, self) if isinstance(value, str) else None, value)
            for key, value in self.settings.values.items()
        )

    def update(self) -> Status:
        """Evaluate and write."""
        lookup = lookup_in_scope(self)
        for key, expression, literal in self._values:
            self.run.blackboard.set(key, literal if expression is None else expression.evaluate(lookup))
        return SUCCESS
