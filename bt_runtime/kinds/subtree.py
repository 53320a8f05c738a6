"""The `subtree` kind."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import Field

from bt_runtime.language.explanation import Stepped, Words
from bt_runtime.language.kind import Facts, KeyUse, NodeSettings, TreeUse, Use
from bt_runtime.nodes.base import Children, Ends, Node
from bt_runtime.nodes.registration import node
from bt_runtime.nodes.wording import changes_line, says
from bt_runtime.record.status import RUNNING, Status


class SubtreeSettings(NodeSettings):
    """Settings of `subtree`.

    Args:
        tree: the name of the other tree.
        arguments: values for its parameters.
        outputs: keys of this tree, each with the private key whose value it gets.
    """

    tree: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")
    outputs: dict[str, str] = Field(default_factory=dict, alias="out")

    def uses(self) -> Iterator[Use]:
        yield TreeUse(("tree",), self.tree, self.arguments, self.outputs, ("out",))
        for name, key in self.outputs.items():
            yield KeyUse(("out", name), key, "write")


@node("subtree", category="decorator", settings=SubtreeSettings, shorthand="tree", facts=Facts())
class Subtree(Node[SubtreeSettings]):
    """Includes another tree, which uses the same blackboard.

    SUCCESS, FAILURE or RUNNING as the other tree's root. Each inclusion has its own `private: true` keys; `out`
    copies their values to keys of this tree at the end, but not after a halt.

    ```yaml
    subtree: {tree: greet, with: {times: 2}, out: {greeted: count}}
    ```
    """

    defers = True

    root: Node[Any]

    def attach(self, children: Children) -> None:
        if children:
            (self.root,) = children["root"]

    def update(self) -> Status:
        if self.make_children is not None:
            self.grow()
        status = self.root.step()
        if status is not RUNNING and self.settings.outputs:
            inner, board = self.root.board, self.board
            for name, key in self.settings.outputs.items():
                board.set(key, inner[name])
        return status

    def ends(self, enter: Callable[[Node[Any]], Ends]) -> Ends:
        """As the root."""
        self.grow()
        return enter(self.root)

    def ends_after(self, child: Node[Any], ends: Ends, enter: Callable[[Node[Any]], Ends]) -> Ends:  # noqa: ARG002
        """As the root."""
        return ends

    def words(self, step: Stepped) -> Words:
        copied = changes_line(self, step)
        and_copied = f", and gave {copied}" if copied else ""
        return Words(copied, f"The tree {self.settings.tree} {says(self.status)}{and_copied}.")
