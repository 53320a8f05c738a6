"""Expressions over states: what is known after one was true, and after it was not."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from bt_runtime.analysis.states import Partition, State
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.analysis import analyse, refine
from bt_runtime.language.expressions.compiler import CONSTANTS
from bt_runtime.language.expressions.domains import ANY, Domain, Numbers, of_value
from bt_runtime.language.expressions.syntax import parse, span_of

_ORDINARY = 2.0**40
"""That a number grows beyond this is no result that a tree has to handle."""


class Split(NamedTuple):
    """A state, divided by the truth of an expression; `None` is impossible."""

    true: State | None
    false: State | None
    raised: State | None


class _Known(NamedTuple):
    true: Mapping[str, Domain] | None
    false: Mapping[str, Domain] | None
    can_raise: bool


@dataclass(frozen=True, slots=True)
class Conditions:
    """Evaluates expressions over states."""

    partition: Partition

    def split(self, text: str, state: State, scope: "NameScope") -> Split:
        """Divide a state by an expression.

        Args:
            text: an expression that `compile_expression` accepts.
            state: before the evaluation.
            scope: what the names of the expression stand for.
        """
        text = self._known(text, scope)
        domains = tuple(self._domain(name, state, scope) for name in names_in(text))
        known = _analysed(text, domains)
        return Split(
            None if known.true is None else _assigned(state, known.true, scope),
            None if known.false is None else _assigned(state, known.false, scope),
            state if known.can_raise else None,
        )

    def value(self, text: str, state: State, scope: "NameScope") -> tuple[Domain, bool]:
        """What an expression may be, and whether it may raise."""
        text = self._known(text, scope)
        return _value(text, tuple(self._domain(name, state, scope) for name in names_in(text)))

    def _known(self, text: str, scope: "NameScope") -> str:
        """The expression with its comparisons of keys that have an order decided."""
        orders = self.partition.known.orders
        return _decided(text, orders) if orders and not scope.hides(_ordered(orders)) else text

    def _domain(self, name: str, state: State, scope: "NameScope") -> Domain:
        constant = scope.constants.get(name)
        return constant if constant is not None else self.partition.domain(state, scope.key(name))


@dataclass(frozen=True, slots=True)
class NameScope:
    """What the names in the expressions of a node stand for.

    Args:
        constants: the arguments of the subtree that contains it.
        private: the keys that belong to that subtree alone, by their names there.
    """

    constants: Mapping[str, Domain]
    private: Mapping[str, str]

    def key(self, name: str) -> str:
        """The key of the whole tree that a name stands for."""
        return self.private.get(name, name)

    def hides(self, names: frozenset[str]) -> bool:
        """Whether one of these names stands for something else here."""
        return not names.isdisjoint(self.private) or not names.isdisjoint(self.constants)


def scope_of(node: NodeDefinition, *, are_arguments_known: bool) -> NameScope:
    """The scope of a node; the arguments of a tree that is checked alone are not known."""
    known = {name: of_value(value) if are_arguments_known else ANY for name, value in node.constants.items()}
    return NameScope(known, node.private)


_IS_TRUE: Mapping[type[ast.cmpop], bool] = {ast.LtE: True, ast.Gt: False}
"""What a comparison is where its left side is never more than its right one."""
_SWAPPED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.GtE: ast.LtE, ast.Lt: ast.Gt}


@lru_cache(maxsize=16)
def _ordered(orders: frozenset[tuple[str, str]]) -> frozenset[str]:
    return frozenset(name for pair in orders for name in pair)


@lru_cache(maxsize=4096)
def _decided(text: str, orders: frozenset[tuple[str, str]]) -> str:
    if not any(low in text and high in text for low, high in orders):
        return text
    comparisons = [node for node in ast.walk(parse(text)) if isinstance(node, ast.Compare)]
    for node in sorted(comparisons, key=lambda node: -node.col_offset):
        truth = _truth(node, orders)
        if truth is not None:
            start, end = span_of(node, text)
            text = f"{text[:start]}{'true' if truth else 'false'}{text[end:]}"
    return text


def _truth(node: ast.Compare, orders: frozenset[tuple[str, str]]) -> bool | None:
    """What a comparison of two keys that have an order always is; `None` for anything else."""
    match node:
        case ast.Compare(left=ast.Name(id=left), ops=[operator], comparators=[ast.Name(id=right)]):
            if (left, right) in orders:
                return _IS_TRUE.get(type(operator))
            if (right, left) in orders:
                return _IS_TRUE.get(_SWAPPED.get(type(operator), ast.Eq))
    return None


@lru_cache(maxsize=4096)
def names_in(text: str) -> tuple[str, ...]:
    """The names that an expression reads."""
    return tuple(sorted(set(_names(parse(text)))))


def _names(node: ast.expr) -> Iterator[str]:
    functions = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and id(part) not in functions and part.id not in CONSTANTS:
            yield part.id


# Most expressions are asked again with the same domains: in the next round, and after the next change in an editor.


@lru_cache(maxsize=8192)
def _analysed(text: str, values: tuple[Domain, ...]) -> _Known:
    domains = dict(zip(names_in(text), values, strict=True))
    true, false = refine(text, domains, truth=True), refine(text, domains, truth=False)
    return _Known(_changed(domains, true), _changed(domains, false), _raises(text, domains))


@lru_cache(maxsize=8192)
def _value(text: str, values: tuple[Domain, ...]) -> tuple[Domain, bool]:
    domains = dict(zip(names_in(text), values, strict=True))
    found = analyse(text, domains)
    return found.domain, found.can_raise and _raises(text, domains)


def _raises(text: str, domains: Mapping[str, Domain]) -> bool:
    """Whether it may raise, other than by numbers that grow without bound."""
    if not analyse(text, domains).can_raise:
        return False
    return analyse(text, {name: _ordinary(domain) for name, domain in domains.items()}).can_raise


def _ordinary(domain: Domain) -> Domain:
    if domain.numbers is None:
        return domain
    return replace(domain, numbers=domain.numbers.within(-_ORDINARY, _ORDINARY) or Numbers(0, 0, whole=True))


def _changed(before: Mapping[str, Domain], after: Mapping[str, Domain] | None) -> Mapping[str, Domain] | None:
    if after is None:
        return None
    return {name: domain for name, domain in after.items() if before.get(name) != domain}


def _assigned(state: State, domains: Mapping[str, Domain], scope: NameScope) -> State:
    keys = {scope.key(name): domain for name, domain in domains.items() if name not in scope.constants}
    return State({**state.keys, **keys}, state.facts) if keys else state
