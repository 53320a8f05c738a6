"""The `for_each` kind."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import Field

from bt_runtime.language.errors import ExpressionError
from bt_runtime.language.explanation import Figure, Stepped, Words
from bt_runtime.language.kind import ExpressionUse, Facts, KeyUse, NodeSettings, Use
from bt_runtime.nodes.base import Children, Decorator, Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.scope import Compiled, compile_in_scope, lookup_in_scope
from bt_runtime.nodes.wording import says
from bt_runtime.record.status import FAILURE, RUNNING, SUCCESS, Status
from bt_runtime.text import brief
from bt_runtime.text.phrases import counted


class ForEachSettings(NodeSettings):
    """Settings of `for_each`.

    Args:
        items: a list, or an expression whose value is one; written `in` in YAML.
        item: the blackboard key that gets each item; written `as` in YAML.
        index: the blackboard key that gets its position, from 0.
        go_on: run the child for the other items as well after one has failed; written `continue` in YAML.
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
    """Runs its child for each item of a list, one after the other.

    The list is evaluated once, when the node begins. The keys `as` and `index` are declared by the tree, and keep their
    last values. Each item has a tick of its own.

    SUCCESS when the child has succeeded for every item, also if there is none; FAILURE as soon as it fails, or with
    `continue: true` after the last item if it has failed for any; RUNNING in between. A value that is no list is an
    error in the tick record, and FAILURE. A halt halts the child, and the next time begins with the first item. A
    thousand items in a row that take no time (fewer if they visit more than 50 nodes each) end the run with an error
    that names the node.

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
