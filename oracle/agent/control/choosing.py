"""Finds the control of a query by name: a YAML tree, or a decision tree in Python."""

from collections.abc import Collection
from typing import Literal, Protocol

from bt_runtime import Registry, TreeDefinition, TreeFileError, TreeNotFoundError
from bt_runtime.text import did_you_mean
from oracle.core.errors import UserError
from oracle.decision import (
    AgentConfig,
    DecisionTree,
    DecisionTreeError,
    decision_trees,
    make_decision_tree,
    stricter,
)

DEFAULT_TREE = "oracle"

Chosen = TreeDefinition | DecisionTree


class Trees(Protocol):
    """YAML trees by name: a `TreeLibrary` reads a file each time, `ReloadingTrees` when it has changed."""

    @property
    def registry(self) -> Registry:
        """The kinds that they are read with."""
        ...

    def names(self) -> tuple[str, ...]:
        """The names of all trees, sorted."""
        ...

    def load(self, name: str) -> TreeDefinition:
        """A tree, ready to be built.

        Raises:
            TreeNotFoundError: there is no such tree.
            TreeFileError: it has mistakes.
        """
        ...

    def is_internal(self, name: str) -> bool:
        """Whether a tree is only a part of others.

        Raises:
            TreeNotFoundError: there is no such tree.
        """
        ...


class Controls:
    """The trees in YAML, and the decision trees in Python.

    Args:
        trees: the YAML trees.
        named: what a question may name besides the default tree; empty: all that are not internal.
        default: `loop` replaces the default tree by the default decision tree.
    """

    def __init__(
        self,
        trees: Trees,
        *,
        named: Collection[str] = (),
        default: Literal["tree", "loop"] = "tree",
    ) -> None:
        self._trees = trees
        self._named = frozenset({*named, DEFAULT_TREE} if named else ())
        self._default = default

    def choose(self, name: str, config: AgentConfig) -> Chosen:
        """Load the control of that name; a registered decision tree has precedence over a YAML tree.

        Raises:
            UserError: it does not exist, is internal, or is not among those that the operator has listed.
            TreeFileError: the tree has mistakes.
        """
        if name == DEFAULT_TREE and self._default == "loop":
            return make_decision_tree("default", config)
        if self._is_listed(name):
            if name in decision_trees():
                return make_decision_tree(name, config)
            tree = self._tree(name)
            if tree is not None:
                return tree
        known = self.names()
        hint = did_you_mean(name, known) or f"there are {', '.join(known)}"
        raise UserError(f"there is no tree {name!r}; {hint}", loc=("body", "tree"), value=name)

    def names(self) -> tuple[str, ...]:
        """All names that a question may give, sorted."""
        return tuple(sorted(filter(self.may_be_named, {*self._trees.names(), *decision_trees()})))

    def may_be_named(self, name: str) -> bool:
        """Whether a question may name this control."""
        if not self._is_listed(name):
            return False
        try:
            return name in decision_trees() or not self._trees.is_internal(name)
        except TreeNotFoundError:
            return False

    def _is_listed(self, name: str) -> bool:
        return not self._named or name in self._named

    def _tree(self, name: str) -> TreeDefinition | None:
        """The YAML tree of that name; `None` if there is none, or if it is internal."""
        try:
            tree = self._trees.load(name)
        except TreeNotFoundError:
            return None
        except TreeFileError:
            if self._trees.is_internal(name):
                return None
            raise
        return None if tree.internal else tree


def turn_limit(chosen: Chosen) -> int | None:
    """The control's own turn limit, at least 1 because the first turn always runs; `None`: it has none."""
    limit = chosen.keys["max_turns"].default if isinstance(chosen, TreeDefinition) else None
    return max(1, limit) if isinstance(limit, int) else None


def limits_of(chosen: Chosen, allowed: AgentConfig) -> AgentConfig:
    """The limits in force: a decision tree can lower those of the query, and cannot raise them.

    Raises:
        DecisionTreeError: `get_config` of the decision tree returned something else.
    """
    if isinstance(chosen, TreeDefinition):
        return allowed
    wanted: object = chosen.get_config()
    if not isinstance(wanted, AgentConfig):
        raise DecisionTreeError(f"get_config answered {wanted!r}; it must be an AgentConfig")
    return stricter(wanted, allowed)
