"""What is known when a node is ticked: the possible values of the blackboard's keys, and facts of the host.

A `State` stands for a set of real situations and may stand for more than are possible, never for fewer. States are kept
apart where they differ in what matters to control (the host says in what), and joined otherwise; so their number stays
small.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeVar

from bt_runtime.language.expressions.domains import ANY, Domain

REASON = "termination_reason"
BLAME = "blame"
"""A fact: the paths of the nodes whose failure was the last one."""
NOBODY = frozenset({"-"})
"""The value of `BLAME` after a success."""
LAST = "last"
"""A fact: the paths of the leaves that ended last with SUCCESS."""
FAULT = "!"
"""Before the path of a node that was to blame by a fault."""
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
    """Joins states that do not differ in what matters.

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
