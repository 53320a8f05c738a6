"""`@node`: makes a class or a plain function a node kind.

The decorator registers nothing: it makes a `Kind` and stores it on the class. A kind exists for trees only if it is in
the explicit list that a `Registry` is made of.
"""

import inspect
from collections.abc import Callable, Collection, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from py_trees.behaviour import Behaviour
from py_trees.composites import Composite
from py_trees.decorators import Decorator as StockDecorator

from bt_runtime.language.errors import KindError
from bt_runtime.language.kind import UNDECLARED, Category, Facts, GuardFlow, Kind, LeafFlow, NodeSettings, Slot
from bt_runtime.nodes.base import Action, Condition, Decorator, Guard, Node, specialised
from bt_runtime.record.status import FAILURE, SUCCESS, Status

ClassT = TypeVar("ClassT", bound=type[Node[Any]])

CHILD = (Slot("child", many=False),)
CHILDREN = (Slot("children", many=True),)


class NoSettings(NodeSettings):
    """Settings of a kind that has none."""


def node(  # noqa: PLR0913  what a kind declares
    name: str,
    *,
    category: Category | None = None,
    settings: type[NodeSettings] = NoSettings,
    slots: Sequence[Slot] | None = None,
    shorthand: str | None = None,
    waits: bool | None = None,
    acts: bool | None = None,
    flow: LeafFlow | GuardFlow | Callable[..., Any] | None = None,
    facts: Facts | None = None,
) -> Callable[[ClassT], ClassT]:
    """Make a subclass of `Node` a node kind, stored in its `kind` attribute.

    Args:
        name: the name of the kind in tree files, in lower case.
        category: in standard terms; by default that of the base class.
        settings: the pydantic model of its settings.
        slots: the places for its children; by default `child` for a decorator and none for a leaf.
        shorthand: the setting or slot that a bare value fills.
        waits: may return RUNNING by itself; by default true for an `Action`.
        acts: has an effect that must not be repeated unintentionally; by default true for the category `action`.
        flow: how it ends, and what it changes (`bt_runtime.language.kind`); by default nothing is known.
        facts: what else is known of it, for judges and proofs; by default only the roles of the base class.

    Raises:
        KindError: the class has no docstring (the kind's contract and palette entry), or lacks a method.
    """

    def decorate(cls: ClassT) -> ClassT:
        found: object = cls
        if not (inspect.isclass(found) and issubclass(found, Node)):
            what, as_it_is = "no node", ""
            if inspect.isclass(found) and issubclass(found, Behaviour):
                what = "a py_trees behaviour"
                as_it_is = f", or use it in trees as 'py_trees: {found.__module__}.{found.__qualname__}'"
            hint = f"derive it from a class of bt_runtime.nodes.base{as_it_is}"
            raise KindError(f"{getattr(found, '__name__', found)} of node kind {name!r} is {what}: {hint}")
        if not cls.__doc__:
            raise KindError(
                f"the class {cls.__name__} of node kind {name!r} has no docstring: say when it returns which status"
            )
        lacking = sorted(getattr(cls, "__abstractmethods__", ()))
        if lacking:
            raise KindError(f"the class {cls.__name__} of node kind {name!r} does not define {', '.join(lacking)}")
        found_category = category or _category(cls)
        found_slots = slots if slots is not None else (CHILD if issubclass(cls, Decorator) else ())
        cls.facts = facts if facts is not None else replace(UNDECLARED, roles=cls.facts.roles)
        cls.kind = Kind(
            name=name,
            category=found_category,
            settings=settings,
            slots=tuple(found_slots),
            shorthand=shorthand,
            waits=issubclass(cls, Action) if waits is None else waits,
            acts=found_category == "action" if acts is None else acts,
            doc=inspect.cleandoc(cls.__doc__),
            flow=flow,
            facts=cls.facts,
            factory=specialised(cls),
        )
        _show_as(cls, found_category)
        return cls

    return decorate


def _show_as(cls: type[Node[Any]], category: Category) -> None:
    """Make py_trees' displays, which ask with `isinstance`, see the class as what it is."""
    if cls.stock is not None:
        cls.stock.register(cls)
    elif category == "composite":
        Composite.register(cls)
    elif category == "decorator":
        StockDecorator.register(cls)


def _category(cls: type[Node[Any]]) -> Category:
    for base, category in ((Action, "action"), (Guard, "guard"), (Condition, "condition"), (Decorator, "decorator")):
        if issubclass(cls, base):
            return cast("Category", category)
    return "action"


def condition_kind(name: str, function: Callable[[Any], bool], *, reads: Collection[str] | None = None) -> Kind:
    """A condition from a function of the blackboard: SUCCESS when it returns true. Its docstring is the kind's.

    Args:
        name: the name of the kind in tree files, in lower case.
        function: gets the blackboard.
        reads: the keys that it reads, and nothing else; `None`: any, so that nothing is proven of trees with it.

    Raises:
        KindError: the function has no docstring, or is async.
    """
    _check_function(name, function)
    if inspect.iscoroutinefunction(function):
        raise KindError(f"the function of condition {name!r} is async; a condition answers at once, so use action_kind")

    class FunctionCondition(Condition[NoSettings]):
        def holds(self) -> bool:
            return function(self.board)

    FunctionCondition.__doc__ = function.__doc__
    facts = None if reads is None else Facts(reads=tuple(reads))
    return node(name, facts=facts)(FunctionCondition).kind


def action_kind(name: str, function: Callable[[Any], Coroutine[Any, Any, bool | None]]) -> Kind:
    """An action from an async function of the host: FAILURE when it returns `False`, else SUCCESS.

    The function runs between ticks, so it may read what the host offers but not write the blackboard. Its docstring
    is the kind's.

    Raises:
        KindError: the function has no docstring, or is not async.
    """
    _check_function(name, function)
    if inspect.isfunction(function) and not inspect.iscoroutinefunction(function):
        raise KindError(f"the function of action {name!r} is not async; write 'async def', or use condition_kind")

    class FunctionAction(Action[NoSettings]):
        def start(self) -> Coroutine[Any, Any, bool | None]:
            return function(self.run.host)

        def finish(self, value: Any) -> Status:  # noqa: ANN401  whatever the function returned
            return FAILURE if value is False else SUCCESS

    FunctionAction.__doc__ = function.__doc__
    return node(name)(FunctionAction).kind


def _check_function(name: str, function: Callable[[Any], object]) -> None:
    if not function.__doc__:
        raise KindError(f"the function of node kind {name!r} has no docstring: say when it returns which status")
