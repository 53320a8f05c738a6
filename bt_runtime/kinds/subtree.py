"""The `subtree` kind."""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from bt_runtime.kind import NodeSettings, TreeUse, Use
from bt_runtime.nodes import Children, Node
from bt_runtime.registration import node
from bt_runtime.status import Status


class SubtreeSettings(NodeSettings):
    """Settings of `subtree`.

    Args:
        tree: the name of another tree.
        arguments: values for the parameters that it declares; written `with` in YAML.
    """

    tree: str
    arguments: dict[str, Any] = Field(default_factory=dict, alias="with")

    def uses(self) -> Iterator[Use]:
        yield TreeUse(("tree",), self.tree, self.arguments)


@node("subtree", category="decorator", settings=SubtreeSettings, shorthand="tree")
class Subtree(Node[SubtreeSettings]):
    """Another tree, inserted here when the tree is read; it uses the same blackboard.

    Its result is that of the other tree's root. A tree that includes itself, directly or not, is refused before
    anything runs.

    ```yaml
    subtree: {tree: greet, with: {times: 2}}
    ```
    """

    root: Node[Any]

    def attach(self, children: Children) -> None:
        (self.root,) = children["root"]

    def update(self) -> Status:
        return self.root.step()
