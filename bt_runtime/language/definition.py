"""A tree as its file declares it: checked, with places, immutable; it has no node objects yet.

The reader makes definitions without py_trees; the builder turns them into nodes without YAML.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

from bt_runtime.language.kind import UNDECLARED, Facts, Key, NodeSettings, TreeUse, Use
from bt_runtime.language.rule import Rule
from bt_runtime.text import Place
from bt_runtime.text.data import dataclass


@dataclass(frozen=True, slots=True)
class PlacedUse:
    """What a setting refers to, and where.

    Args:
        use: an expression, a key, a tree or an action.
        place: of the key's name, or of the first character of the text.
        is_verbatim: the file has the text as it is, so that columns of the text are columns of the file; not where it
            is folded, escaped, or an argument.
    """

    use: Use
    place: Place
    is_verbatim: bool = False

    def at(self, column: int) -> Place:
        """The place of a column of the text, from 1; its beginning if that is not known."""
        if not self.is_verbatim:
            return self.place
        return Place(self.place.file, self.place.line, self.place.column + column - 1)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A blackboard key or a parameter as a file declares it.

    Args:
        tree: the tree that declares it.
        is_parameter: it is no key, but a parameter of the tree.
        is_inserted: the parameter is used as `${name}`; whether an expression names it is not said here.
    """

    key: Key
    place: Place
    tree: str
    is_parameter: bool = False
    is_inserted: bool = False


@dataclass(frozen=True, slots=True)
class NodeDefinition:
    """One node of a tree file.

    Args:
        name: the author's name for it, unique among its siblings; `None` if unnamed.
        path: its identity, stable across reloads: the labels from the root joined by `/`. A label is the name, else the
            kind, with `#2`, `#3`, … from the second unnamed sibling of a kind on. A subtree's nodes continue the path
            of the node that includes it.
        settings: validated, of the kind's settings type.
        children: the children by slot, in order; a leaf has none. A `subtree` node has the included root in its slot
            `root`.
        constants: the arguments of the subtree that contains the node, as names for its expressions.
        uses: what the settings refer to, in the order of the settings.
        private: the private keys of the tree that contains the node: by their names there, the names in `keys` of the
            whole tree, such as `sequence/subtree/tries`.
    """

    kind: str
    name: str | None
    path: str
    settings: NodeSettings
    children: Mapping[str, tuple["NodeDefinition", ...]]
    place: Place
    constants: Mapping[str, object] = field(default_factory=dict)
    uses: tuple[PlacedUse, ...] = ()
    private: Mapping[str, str] = field(default_factory=dict)
    facts: Facts = field(default=UNDECLARED, compare=False, repr=False)

    def has(self, *roles: str) -> bool:
        """Whether its kind has one of these roles."""
        own = self.facts.roles
        return bool(own) and any(role in own for role in roles)

    @property
    def label(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def title(self) -> str:
        """What people call it: its name, else the tree that it includes, else its kind."""
        if self.name is not None:
            return self.name
        first = self.uses[0].use if self.uses else None  # a kind that includes a tree names it first
        return first.tree if isinstance(first, TreeUse) else self.kind

    def walk(self) -> Iterator["NodeDefinition"]:
        """This node and all nodes below it, in the order of the file."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            if node.children:
                waiting += [child for nodes in reversed(tuple(node.children.values())) for child in reversed(nodes)]


@dataclass(frozen=True)
class TreeDefinition:
    """One tree with its subtrees included.

    Args:
        keys: every blackboard key of a run: the host's, this tree's, its subtrees'; private ones with the path of the
            subtree before their names.
        sha: SHA-256 over this file and those of its subtrees (in the order of first use), as 64 hexadecimal digits: the
            version that a run records.
        subtrees: the names of the trees it includes, directly or not.
        sources: the texts of this tree and of those that it includes, by name.
        internal: it is a part of other trees and is not run by itself.
        texts: the texts of the same trees, by file as in the places of their nodes.
        rules: those of this file and of its subtrees, in the order of first use; they hold for the whole run.
        labels: what actions of the host read and where they write, each with the pattern of their names.
        parameters: what a tree that includes it may set, by name.
        required: the parameters without a default; if there are any, it can only be run as a part of another tree.
        declarations: the keys and parameters that it and its subtrees declare, each file once.
    """

    name: str
    description: str
    keys: Mapping[str, Key]
    root: NodeDefinition
    source: str
    sha: str
    file: str
    subtrees: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    internal: bool = False
    texts: Mapping[str, str] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    labels: tuple[tuple[str, frozenset[str]], ...] = ()
    parameters: Mapping[str, Key] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    declarations: tuple[Declaration, ...] = ()

    def nodes(self) -> tuple[NodeDefinition, ...]:
        """All nodes in the order of the file, subtrees included; a node's index here is its index in tick records."""
        return tuple(self.root.walk())

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The paths of the nodes, by index; shared by all runs."""
        return tuple(node.path for node in self.root.walk())

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """How many nodes are below each node that has children, by its path; shared by all runs."""
        sizes: dict[str, int] = {}
        for node in reversed(self.nodes()):  # children before their parents
            if node.children:
                below = [child for nodes in node.children.values() for child in nodes]
                sizes[node.path] = sum(1 + sizes.get(child.path, 0) for child in below)
        return sizes

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of its nodes; shared by all runs."""
        return frozenset(node.kind for node in self.root.walk())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the blackboard keys; shared by all runs."""
        return frozenset(self.keys)

    @cached_property
    def depth(self) -> int:
        """How many levels of nodes it has."""
        level, depth = [self.root], 0
        while level:
            level, depth = [child for node in level for nodes in node.children.values() for child in nodes], depth + 1
        return depth
