"""The `action` kind."""

from collections.abc import Coroutine, Iterator
from typing import Any

from pydantic import Field

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import CALLS_HOST, CallUse, ExpressionUse, Facts, KeyUse, NodeSettings, Use
from bt_runtime.nodes.base import Action, Children
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import CompiledValues, compile_values, evaluated
from bt_runtime.nodes.wording import changes_line
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status


class CallSettings(NodeSettings):
    """Settings of `action`.

    Args:
        call: the name of the action.
        arguments: an expression for each argument.
        into: the blackboard key for the result.
    """

    call: str
    arguments: dict[str, str | int | float | bool | None] = Field(default_factory=dict, alias="with")
    into: str | None = None

    def uses(self) -> Iterator[Use]:
        for name, value in self.arguments.items():
            if isinstance(value, str):
                yield ExpressionUse(("with", name), value)
        yield CallUse(("call",), self.call, ("with",), tuple(self.arguments))
        if self.into is not None:
            yield KeyUse(("into",), self.into, "write")


@node("action", settings=CallSettings, shorthand="call", facts=Facts(roles=(CALLS_HOST,)))
class CallAction(Action[CallSettings]):
    """Calls an action of the program, such as a tool, by name.

    RUNNING until it is done; then SUCCESS, or FAILURE if it raises an error. A halt cancels it.

    ```yaml
    action:
      call: vault_search
      with: {query: "question", limit: 3}
      into: found
    ```
    """

    _arguments: CompiledValues

    def attach(self, children: Children) -> None:  # noqa: ARG002  a leaf
        self._arguments = compile_values(self.settings.arguments, self)

    def start(self) -> Coroutine[Any, Any, Any]:
        arguments = dict(evaluated(self._arguments, self))
        result: Coroutine[Any, Any, Any] = self.run.host.call(self.settings.call, arguments)
        return result

    def finish(self, value: Any) -> Status:  # noqa: ANN401  JSON data
        if self.settings.into is not None:
            self.board.set(self.settings.into, value)
        return SUCCESS

    def words(self, step: Stepped) -> Words:
        call = self.settings.call
        if self.status is RUNNING:
            return Words(f"calls {call}", f"{call} is {'called' if step.began else 'under way'}.")
        if self.status is SUCCESS:
            into = changes_line(self, step)
            return Words(into, f"{call} has answered{': ' + into if into else ''}.")
        return Words("", f"{call} gave an error.") if self.status is FAILURE else Words("", f"{call} was halted.")
