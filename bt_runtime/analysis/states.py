"""What is known when a node is ticked: the possible values of the blackboard's keys, and facts of the host.

A `State` stands for a set of real situations and may stand for more than are possible, never for fewer. States that
differ in what matters for control (which the host defines) are kept apart and others are joined, so their number stays
small.

An expression splits a state in two: what is known if it is true, and if it is not.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

from bt_runtime.analysis.expressions.analysis import analyse, refine
from bt_runtime.analysis.expressions.domains import ANY, Domain, Numbers, of_value
from bt_runtime.language.definition import NodeDefinition
from bt_runtime.language.expressions.compiler import CONSTANTS
from bt_runtime.language.expressions.syntax import parse, span_of
from bt_runtime.text.data import dataclass

REASON = "termination_reason"
BLAME = "blame"
"""A fact: the paths of the nodes that may have failed last."""
NOBODY = frozenset({"-"})
"""The value of `BLAME` after a success."""
LAST = "last"
"""A fact: the paths of the leaves that ended last with SUCCESS."""
FAULT = "!"
"""The prefix of the path of a node that failed by a fault."""
STOPPED_BY = "stopped by"
"""A fact: the paths of the nodes that wrote the reason."""

ACTED = "acted"
"""A fact below the guards of a loop: the paths of the nodes there that have acted since the loop began."""

ONCE = "once "
"""A fact for each `once`, with its path: the result of its child, empty before."""

TAKEN = "taken "
"""A fact for each key that is delivered: the paths of the `wait` that have taken its value; empty after a `set`."""

Facts = Mapping[str, frozenset[str]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What is known at a moment.

    Args:
        keys: the domains of keys about which more is known than their declaration says.
        facts: the possible values of each fact; a fact that is missing may have any value.
    """

    keys: Mapping[str, Domain] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)

    def with_facts(self, facts: Facts) -> "State":
        """The state with other values of some facts."""
        return State(self.keys, {**self.facts, **facts})

    def succeeded(self, path: str) -> "State":
        """The state after a node has succeeded."""
        return self.with_facts({LAST: frozenset({path}), BLAME: NOBODY})

    def failed(self, path: str, *, fault: bool = False) -> "State":
        """The state after a node has failed; right after a fault, a failure is a consequence of that."""
        before = self.facts.get(BLAME)
        if before:
            fault = fault or all(path.startswith(FAULT) for path in before)
        return self.with_facts({BLAME: frozenset({FAULT + path if fault else path})})

    def forgetting(self, keys: Iterable[str], facts: Iterable[str] = ()) -> "State":
        """The state in which these may have any value."""
        known_keys = self.keys.keys() & set(keys)
        known_facts = self.facts.keys() & set(facts)
        if not known_keys and not known_facts:
            return self
        reason = self.keys.get(REASON)
        if reason is not None and not reason.can_be_false:  # the first reason counts: it may change, and stays one
            known_keys -= {REASON}
        return State(
            {name: domain for name, domain in self.keys.items() if name not in known_keys},
            {name: values for name, values in self.facts.items() if name not in known_facts},
        )

    def joined(self, other: "State", *, widen: bool = False) -> "State":
        """What is known if one of the two states holds; this one itself if it covers the other.

        Args:
            other: the newer one.
            widen: give up bounds that have moved, so that repeated joins end.
        """
        if self is other:
            return self
        keys = _joined(self.keys, other.keys, _widened if widen else _union)
        facts = _joined(self.facts, other.facts, frozenset[str].union)
        return self if keys is self.keys and facts is self.facts else State(keys, facts)


def _joined(mine: Mapping[str, T], theirs: Mapping[str, T], union: Callable[[T, T], T]) -> Mapping[str, T]:
    """What is known in both cases; `mine` itself if that covers the others."""
    if mine is theirs:
        return mine
    found: dict[str, T] = {}
    is_mine = True
    for name, value in mine.items():
        other = theirs.get(name)
        if other is None:
            is_mine = False
            continue
        both = value if other is value else union(value, other)
        is_same = both == value
        found[name] = value if is_same else both
        is_mine = is_mine and is_same
    return mine if is_mine else found


_union = lru_cache(maxsize=8192)(Domain.union)
_widened = lru_cache(maxsize=8192)(Domain.widened)


States = tuple[State, ...]


class EndStates(NamedTuple):
    """What is known after a node, by its result.

    Args:
        success: empty: it cannot succeed.
        failure: empty: it cannot fail.
        waiting: while it is RUNNING at the end of a tick, or halted then; empty: it never waits.
    """

    success: States = ()
    failure: States = ()
    waiting: States = ()


NOWHERE = EndStates()


@dataclass(frozen=True, slots=True)
class Known:
    """What holds at any time in one tree.

    Args:
        bounds: what keys may hold, however often a node has added to them.
        orders: pairs of keys of which the first is never more than the second.
    """

    bounds: Mapping[str, Domain] = field(default_factory=dict)
    orders: frozenset[tuple[str, str]] = frozenset()


@dataclass(slots=True)
class Partition:
    """Joins states that need not be kept apart.

    Args:
        facts: the facts in whose values states are kept apart.
        declared: what the declarations of the keys say.
    """

    facts: tuple[str, ...]
    declared: Mapping[str, Domain]
    known: Known = field(default_factory=Known)
    _truths: dict[Domain, tuple[bool, bool]] = field(default_factory=dict)

    def part(self, state: State) -> object:
        """Equal for states that are joined."""
        facts = state.facts
        return (*map(facts.get, self.facts), facts.get(ACTED), self.truth(self.domain(state, REASON)))

    def domain(self, state: State, key: str) -> Domain:
        """What a key may hold."""
        found = state.keys.get(key)
        return found if found is not None else self.declared.get(key, ANY)

    def bounded(self, state: State) -> State:
        """The state with what bounds its keys."""
        met = {
            key: domain.meet(bound)
            for key, bound in self.known.bounds.items()
            if (domain := state.keys.get(key)) is not None and domain.meet(bound) != domain
        }
        return State({**state.keys, **met}, state.facts) if met else state

    def truth(self, domain: Domain) -> tuple[bool, bool]:
        """Whether a domain can be false, and whether it can be true."""
        found = self._truths.get(domain)
        if found is None:
            found = self._truths[domain] = (domain.can_be_false, domain.can_be_true)
        return found

    def merged(self, states: Iterable[State]) -> States:
        """The same states, joined where they do not differ."""
        several = tuple(states)
        if len(several) < 2:
            return several
        parts: dict[object, State] = {}
        for state in several:
            part = self.part(state)
            known = parts.get(part)
            parts[part] = state if known is None else known.joined(state)
        return tuple(parts.values())


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
