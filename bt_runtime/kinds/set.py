"""The `set` kind."""

from collections.abc import Iterator

from pydantic import Field

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import ExpressionUse, Facts, KeyUse, NodeSettings, Use
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import CompiledValues, compile_values, evaluated
from bt_runtime.nodes.wording import changes_line
from bt_runtime.record.status import SUCCESS, Status
from bt_runtime.text.phrases import joined


class SetSettings(NodeSettings):
    """Settings of `set`.

    Args:
        values: an expression for each blackboard key that is written.
    """

    values: dict[str, str | int | float | bool | None] = Field(min_length=1)

    def uses(self) -> Iterator[Use]:
        for key, value in self.values.items():
            yield KeyUse(("values", key), key, "write")
            if isinstance(value, str):
                yield ExpressionUse(("values", key), value)


@node("set", settings=SetSettings, shorthand="values", facts=Facts())
class Set(Node[SetSettings]):
    """Writes to the blackboard, in the order of the file.

    SUCCESS when every expression had a value of its key's type; FAILURE otherwise, and then the keys before the wrong
    one are written. A text is an expression, so a literal text needs quotes of its own; numbers and booleans are taken
    as they are.

    ```yaml
    set: {count: "count + 1", hint: "'Be brief.'"}
    ```
    """

    _values: CompiledValues

    def attach(self, children: Children) -> None:  # noqa: ARG002  a leaf
        self._values = compile_values(self.settings.values, self)

    def update(self) -> Status:
        board = self.board
        for key, value in evaluated(self._values, self):
            board.set(key, value)
        return SUCCESS

    def words(self, step: Stepped) -> Words:
        if self.status is not SUCCESS:
            return Words()
        changed = changes_line(self, step)
        if not changed:
            return Words("unchanged", f"{joined(self.settings.values)} had that value already.")
        return Words(changed, f"It set {changed}.")
