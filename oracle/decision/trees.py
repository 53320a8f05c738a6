"""Decision trees in Python: the protocol, the default one, and those that are registered by name.

A YAML tree is the usual way to change control; `DecisionTree`, the extension point for skills, is for what a tree
cannot say.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, runtime_checkable

from oracle.core.errors import TreeAuthorError
from oracle.decision import rules
from oracle.decision.config import AgentConfig
from oracle.decision.progress import as_action
from oracle.decision.state import AgentState


@runtime_checkable
class DecisionTree(Protocol):
    """Decides whether the plain loop continues; every method is a pure function of its arguments."""

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        """Called before each turn, and after it before its tools: (continue?, the reason if not)."""
        ...

    def on_turn_start(self, state: AgentState) -> AgentState:
        """Called before each turn; setting `turn_warned` or `token_warned` sends that warning to user and model."""
        ...

    def on_tool_result(self, state: AgentState, result: Mapping[str, Any]) -> AgentState:
        """Called for each tool call that was run: `{tool, arguments, is_error, result_digest, text, group}`."""
        ...

    def get_config(self) -> AgentConfig:
        """The limits in force."""
        ...


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


@decision_tree("default")
class DefaultDecisionTree:
    """Continues until one of the termination rules holds."""

    def __init__(self, config: AgentConfig | None = None) -> None:
        self._config = config or AgentConfig()

    def should_continue(self, state: AgentState) -> tuple[bool, str]:
        """(true, "") or (false, the termination reason of highest priority)."""
        reason = rules.termination(state)
        return reason is None, reason or ""

    def on_turn_start(self, state: AgentState) -> AgentState:
        """Mark the warnings that are due."""
        return rules.mark_warnings(state)

    def on_tool_result(self, state: AgentState, result: Mapping[str, Any]) -> AgentState:
        """Add the action to the history that the rules use; without a digest, the result is compared by its text."""
        text = result.get("text")
        action = as_action(result if text is None else {"result_digest": text, **result})
        return state.after_tool_result(action, error=str(text or ""), source=result.get("group"))

    def get_config(self) -> AgentConfig:
        """The limits in force."""
        return self._config
