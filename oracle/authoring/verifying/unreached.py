"""Nodes that no explored run has reached: which of them no run at all can reach, and which may be reached in others.

That no run reaches a node is known from the flow of control through the tree, never from the runs that were explored:
those are bounded. A file that is included serves several trees, so a node of it that this tree cannot reach is no
mistake of this tree.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Self

from bt_runtime import NodeDefinition, Registry, TreeDefinition
from bt_runtime.analysis.flow import flow_of
from bt_runtime.analysis.silences import silences_in
from oracle.authoring.verifying.stories import where

UNREACHABLE: Final = "unreachable"
"""The code of the silence that marks a node that no run is meant to reach."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """The topmost nodes that were not reached, by index; without those that are marked.

    Args:
        definition: the tree.
        possible: a run may reach them, as far as is known.
        impossible: no run can, and they stand in the tree's own file.
    """

    definition: TreeDefinition
    possible: frozenset[int]
    impossible: frozenset[int]

    @classmethod
    def of(cls, definition: TreeDefinition, visited: frozenset[int], *, registry: Registry) -> Self:
        """Those of a tree.

        Args:
            definition: the tree.
            visited: the nodes that were reached, by index.
            registry: its kinds.
        """
        nodes = definition.nodes()
        left = [at for at in _topmost(nodes, visited) if not _is_marked(nodes[at], definition)]
        flow = flow_of(definition, registry=registry) if left else None
        ruled_out = frozenset(at for at in left if flow is not None and not flow.is_reached(nodes[at]))
        own = frozenset(at for at in ruled_out if nodes[at].place.file == definition.file)
        return cls(definition, frozenset(left) - ruled_out, own)

    @property
    def refutation(self) -> str:
        """What is wrong, a line for each node that no run can reach."""
        return "\n".join(f"no run can reach it: {self._named(at)}" for at in sorted(self.impossible))

    def lines(self, indices: Iterable[int]) -> list[str]:
        """A line for each of these nodes."""
        return [f"not reached: {self._named(at)}" for at in sorted(indices)]

    def _named(self, index: int) -> str:
        node = self.definition.nodes()[index]
        return f"{node.path} ({where(node)})"


def _topmost(nodes: Iterable[NodeDefinition], visited: frozenset[int]) -> list[int]:
    """The nodes that were not visited, without those below another one of them."""
    found: dict[str, int] = {}
    for index, node in enumerate(nodes):
        if index not in visited and not any(node.path.startswith(f"{above}/") for above in found):
            found[node.path] = index
    return list(found.values())


def _is_marked(node: NodeDefinition, definition: TreeDefinition) -> bool:
    """Whether the author has written that no run is meant to reach the node."""
    name = PurePath(node.place.file).stem
    text = definition.source if name == PurePath(definition.file).stem else definition.sources.get(name, "")
    silences = silences_in(text, file=node.place.file, known=[UNREACHABLE])
    return any(silence.code == UNREACHABLE and silence.line == node.place.line for silence in silences)
