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
        tree: the name of another tree.
        arguments: values for the parameters that it declares; written `with` in YAML.
        outputs: the keys here that get the values of its private keys when it ends; written `out` in YAML.
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
    """Another tree, inserted here when the tree is read; it uses the same blackboard.

    Its result is that of the other tree's root: SUCCESS, FAILURE or RUNNING. A tree that includes itself, directly or
    not, is refused before anything runs.

    Keys that the other tree declares with `private: true` exist once for each inclusion, and only its own nodes see
    them; they keep their values until the end of the run. `out` copies such values to keys here when the other tree has
    ended, with either result; not after a halt.

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
