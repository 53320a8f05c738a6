"""Leaves that need nothing of the host: `condition`, `set` and `notify`."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from bt_runtime.language.explanation import Stepped, Words, of_step
from bt_runtime.language.kind import (
    NOTIFIES,
    Case,
    ExpressionText,
    ExpressionUse,
    Facts,
    KeyUse,
    NodeSettings,
    TemplateText,
    Use,
    filled,
    keys_in,
    leaf,
)
from bt_runtime.nodes.base import Children, Condition, Node
from bt_runtime.nodes.context import Compiled
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import (
    CompiledValues,
    compile_in_scope,
    compile_values,
    evaluated,
    lookup_in_scope,
)
from bt_runtime.nodes.wording import changes_line, condition_words
from bt_runtime.record.status import SUCCESS, Status
from bt_runtime.text.phrases import clipped, joined


class ExpressionSettings(NodeSettings):
    """Settings of `condition` and `if`.

    Args:
        when: an expression over the blackboard.
    """

    when: ExpressionText


@node("condition", settings=ExpressionSettings, shorthand="when", facts=Facts())
class ExpressionCondition(Condition[ExpressionSettings]):
    """Tests an expression over the blackboard.

    SUCCESS if it is true; FAILURE if it is false or raises an error.

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


class SetSettings(NodeSettings):
    """Settings of `set`.

    Args:
        values: an expression for each key.
    """

    values: dict[str, str | int | float | bool | None] = Field(min_length=1)

    def uses(self) -> Iterator[Use]:
        for key, value in self.values.items():
            yield KeyUse(("values", key), key, "write")
            if isinstance(value, str):
                yield ExpressionUse(("values", key), value)


@node("set", settings=SetSettings, shorthand="values", facts=Facts())
class Set(Node[SetSettings]):
    """Writes values to the blackboard, in the order of the file.

    SUCCESS if every value fits its key's type; otherwise FAILURE, with the keys before it written. A text is an
    expression: write literal text as `"'text'"`.

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


class NotifySettings(NodeSettings):
    """Settings of `notify`.

    Args:
        message: what the user reads; `{key}` stands for a blackboard value.
        topic: the topic, in the host's terms.
        severity: `info`, `warning` or `error`.
    """

    message: TemplateText = Field(min_length=1, max_length=2000)
    topic: str = "fallback"
    severity: Literal["info", "warning", "error"] = "info"


@node(
    "notify",
    settings=NotifySettings,
    shorthand="message",
    facts=Facts(roles=(NOTIFIES,), shows=True),
    flow=leaf(Case("success"), Case("failure", fault=True)),
)
class Notify(Node[NotifySettings]):
    """Sends the user a message that is not part of the answer.

    SUCCESS, unless the program cannot send it.

    ```yaml
    notify: {message: "Still looking after {turn} turns.", severity: info}
    ```
    """

    def update(self) -> Status:
        settings, board = self.settings, self.board
        values = {key: board[key] for key in keys_in(settings.message)}
        message = filled(settings.message, values)
        self.run.host.notify(topic=settings.topic, message=message, severity=settings.severity, metadata=values)
        return SUCCESS

    def words(self, step: Stepped) -> Words:  # noqa: ARG002  the settings say it
        if self.status is not SUCCESS:
            return Words()
        message = filled(self.settings.message, {key: self.board[key] for key in keys_in(self.settings.message)})
        text = f'sent "{clipped(message, 120)}"'
        return Words(text, f"It {text}")
