"""Builds the live nodes of a definition; independent of YAML."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from bt_runtime.kinds.standard import STANDARD
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.errors import KindError, TreeError
from bt_runtime.language.registry import Registry
from bt_runtime.nodes.base import Children, Node
from bt_runtime.nodes.blackboard import Blackboard
from bt_runtime.nodes.context import RunContext, Tracer
from bt_runtime.record.status import RUNNING
from bt_runtime.text.data import dataclass

NodeFactory = Callable[[NodeDefinition, Children, RunContext, int], Node[Any]]
"""Makes the node of a definition, given its built children, the run and its index."""


DEEPEST_TREE = 200
"""Levels of nodes. A tick calls two functions for each, and Python's stack is bounded."""


@dataclass(frozen=True, slots=True)
class LiveTree:
    """The nodes of one run; `bt_runtime.run` runs it, once."""

    definition: TreeDefinition
    root: Node[Any]
    context: RunContext

    @property
    def blackboard(self) -> Blackboard:
        """The run's blackboard."""
        return self.context.blackboard

    @property
    def nodes(self) -> tuple[Node[Any], ...]:
        """All nodes, in the order of the definition's `nodes()`."""
        return tuple(self.root.walk())

    @property
    def paths(self) -> tuple[str, ...]:
        """Node paths by index."""
        return self.definition.paths

    def halt(self) -> None:
        """Halt every node that is RUNNING; where the root is not, none is."""
        if self.root.status is RUNNING:
            self.root.stop()


def build(
    definition: TreeDefinition,
    *,
    registry: Registry = STANDARD,
    host: Any = None,  # noqa: ANN401  the host's own type
    values: Mapping[str, Any] | None = None,
    substitutes: Mapping[str, NodeFactory] | None = None,
    trace: Tracer | None = None,
    blackboard: type[Blackboard] = Blackboard,
) -> LiveTree:
    """Make the nodes of one run.

    Args:
        definition: a checked tree.
        registry: the kinds that it was read with.
        host: used by `notify`, `action` and the host's own nodes.
        values: blackboard values that differ from the declared defaults.
        substitutes: factories that replace single nodes, by path; for tests.
        trace: makes the expressions, to tell of their evaluations; see `bt_runtime.Trace`.
        blackboard: a class of its own for the run's blackboard, such as one that notes which keys are read.

    Raises:
        KindError: a substitute for a path that the tree does not have.
        TreeError: the tree is deeper than `DEEPEST_TREE` nodes; the reader accepts no such tree.
        BlackboardError: a value for an undeclared key, or of the wrong type.
    """
    if definition.depth > DEEPEST_TREE:
        raise TreeError(f"the tree {definition.name!r} is more than {DEEPEST_TREE} nodes deep; make it flatter")
    context = RunContext(blackboard(definition.keys, values), host, names=definition.names, trace=trace)
    building = _Building(registry, context, dict(substitutes or {}), None if substitutes else definition.sizes)
    root = building.make(definition.root)
    if building.substitutes:
        raise KindError(f"no node at {sorted(building.substitutes)!r} in tree {definition.name!r}")
    context.set_root(root)
    return LiveTree(definition, root, context)


_NO_CHILDREN: Children = MappingProxyType({})


class _Building:
    """Makes nodes from the top down, so that their indices match the definition's `nodes()`.

    Args:
        registry: the kinds.
        context: of the run.
        substitutes: factories by path; those that were used are taken out.
        sizes: how many nodes are below each node, for kinds that defer their children; `None`: all are made at once.
    """

    def __init__(
        self,
        registry: Registry,
        context: RunContext,
        substitutes: dict[str, NodeFactory],
        sizes: Mapping[str, int] | None,
    ) -> None:
        self._registry = registry
        self._context = context
        self.substitutes = substitutes
        self._sizes = sizes
        self._count = 0

    def make(self, definition: NodeDefinition) -> Node[Any]:
        index, self._count = self._count, self._count + 1
        factory: NodeFactory | None = self.substitutes.pop(definition.path, None) if self.substitutes else None
        if factory is None:
            factory = self._registry.kind(definition.kind).factory
        if not definition.children:
            return factory(definition, _NO_CHILDREN, self._context, index)
        if self._sizes is not None and getattr(factory, "defers", False):
            self._count += self._sizes[definition.path]
            node = factory(definition, _NO_CHILDREN, self._context, index)
            node.make_children = partial(self._children, definition, index + 1)
            return node
        return factory(definition, self._children(definition, self._count), self._context, index)

    def _children(self, definition: NodeDefinition, first: int) -> Children:
        """The children of a node, of which the first has this index."""
        self._count = first
        return {slot: tuple(map(self.make, below)) for slot, below in definition.children.items()}
