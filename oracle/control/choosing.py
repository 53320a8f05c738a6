"""Which control answers a question: by its name, of those that a question may name."""

from collections.abc import Collection
from typing import Literal

from bt_runtime import ReloadingTrees, TreeDefinition, TreeLibrary, TreeNotFoundError
from bt_runtime.text import did_you_mean
from oracle.decision import AgentConfig, DecisionTree, decision_trees, make_decision_tree
from oracle.errors import UserError

DEFAULT_TREE = "oracle"


class UnknownTreeError(UserError, ValueError):
    """There is no such tree, or none that a question may name; the message says which there are.

    Args:
        message: what would be right.
        name: as it was given.
    """

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class Controls:
    """The trees of a library, and the decision trees in Python.

    Args:
        library: where YAML trees are found by name.
        named: what a question may name besides the default tree; empty: all that are not internal.
        default: `loop` has the default decision tree answer in the place of the default tree.
    """

    def __init__(
        self, library: TreeLibrary, *, named: Collection[str] = (), default: Literal["tree", "loop"] = "tree"
    ) -> None:
        self._trees = ReloadingTrees(library)
        self._named = frozenset({*named, DEFAULT_TREE} if named else ())
        self._default = default

    def choose(self, name: str, config: AgentConfig) -> TreeDefinition | DecisionTree:
        """The control of that name; a registered decision tree goes before a YAML tree of the same name.

        Raises:
            UnknownTreeError: there is none; parts of trees, and what the operator has not listed, are refused alike.
            TreeFileError: the tree has mistakes.
        """
        if not self.may_be_named(name):
            known = sorted(filter(self.may_be_named, {*self._trees.names(), *decision_trees()}))
            hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
            raise UnknownTreeError(f"there is no tree {name!r}; {hint}", name=name)
        if name == DEFAULT_TREE and self._default == "loop":
            return make_decision_tree("default", config)
        if name in decision_trees():
            return make_decision_tree(name, config)
        return self._trees.load(name)

    def may_be_named(self, name: str) -> bool:
        """Whether a question may name it."""
        if self._named and name not in self._named:
            return False
        try:
            return name in decision_trees() or not self._trees.is_internal(name)
        except TreeNotFoundError:
            return False
