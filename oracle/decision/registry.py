"""`@decision_tree("name")`: how a skill declares its own control."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeVar

from oracle.core.errors import TreeAuthorError
from oracle.decision.config import AgentConfig
from oracle.decision.protocol import DecisionTree

Factory = Callable[[AgentConfig], DecisionTree]
FactoryT = TypeVar("FactoryT", bound=Factory)

_registered: dict[str, Factory] = {}


class DecisionTreeError(TreeAuthorError, ValueError):
    """A decision tree that cannot be registered or found."""


def decision_tree(name: str) -> Callable[[FactoryT], FactoryT]:
    """Register a class (or a function) that makes a `DecisionTree` from an `AgentConfig`.

    Raises:
        DecisionTreeError: the name is taken.
    """

    def register(factory: FactoryT) -> FactoryT:
        if name in _registered:
            raise DecisionTreeError(f"a decision tree {name!r} is registered already; choose another name")
        _registered[name] = factory
        return factory

    return register


def decision_trees() -> Mapping[str, Factory]:
    """All registered decision trees by name."""
    return MappingProxyType(_registered)


def make_decision_tree(name: str, config: AgentConfig) -> DecisionTree:
    """The registered decision tree of that name, with these limits.

    Raises:
        DecisionTreeError: there is none, or what was registered makes something else.
    """
    if name not in _registered:
        known = ", ".join(sorted(_registered)) or "none"
        raise DecisionTreeError(f"there is no decision tree {name!r}; registered: {known}")
    made: object = _registered[name](config)
    if not isinstance(made, DecisionTree):
        wanted = "should_continue, on_turn_start, on_tool_result, get_config"
        raise DecisionTreeError(f"decision tree {name!r} made a {type(made).__name__}; it must have {wanted}")
    return made
