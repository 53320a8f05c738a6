"""What the checker knows of node kinds: how each changes what is known, and with which results.

A kind declares it as its `flow`, next to its class. A leaf lists its cases:

    @node("stop", flow=leaf(Case("success", stops=True)))
    @node("offer_more", flow=leaf(Case("success", facts={"offered": "all"}), Case("failure")))

A kind with children declares a function that passes states on to them (`transfers`). A kind without a declaration may
have any result and change anything, so nothing wrong is said about trees with it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bt_runtime.analysis.states import Known, States
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.expressions.domains import Domain

HERE = "here"
"""The value of a fact that stands for the path of the node."""

Result = Literal["success", "failure", "waiting"]


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
class Case:
    """One way in which a leaf can end.

    Args:
        result: `waiting`: what is known while it waits, and after a halt.
        writes: the keys that it has written then; `None`: any value of the key's type.
        adds: what it has added to keys that are counters.
        facts: the facts of the host that it has changed; `None`: any value.
        when: the case is possible only if these keys hold one of these values.
        stops: it has written the reason to stop, if there was none.
        fault: it fails because something outside of the tree has failed, or by an error: not an ordinary result.
    """

    result: Result
    writes: Mapping[str, Domain | None] = field(default_factory=dict)
    adds: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str | None] = field(default_factory=dict)
    when: Mapping[str, Domain] = field(default_factory=dict)
    when_facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stops: bool = False
    fault: bool = False

    @property
    def left(self) -> frozenset[str]:
        """The facts whose value is the path of the node then."""
        return frozenset(fact for fact, value in self.facts.items() if value == HERE)


Transfer = Callable[[Any, NodeDefinition, States], EndStates]
"""The flow of a kind: given the walk (`bt_runtime.analysis.walk.Walk`), a node and the states in which it is ticked."""


@dataclass(frozen=True, slots=True)
class LeafFlow:
    """The flow of a leaf.

    Args:
        cases: its cases, given its settings.
    """

    cases: Callable[[Any], Sequence[Case]]

    def __call__(self, walk: Any, node: NodeDefinition, states: States) -> EndStates:  # noqa: ANN401  see `Transfer`
        """The ends of its cases."""
        ends: EndStates = walk.ends(node, states, self.cases(node.settings))
        return ends


def leaf(*cases: Case) -> LeafFlow:
    """The flow of a leaf that has the same cases whatever its settings."""
    return LeafFlow(lambda _settings: cases)


def leaf_of(cases: Callable[[Any], Sequence[Case]]) -> LeafFlow:
    """The flow of a leaf whose cases depend on its settings."""
    return LeafFlow(cases)


@dataclass(frozen=True, slots=True)
class HostFlow:
    """What the checker knows of a host.

    Args:
        declared: what a key of the host may hold, where that is less than its type.
        given: keys that have a value of their own at the start of a run, rather than their default.
        volatile: keys that may change whenever time passes.
        volatile_facts: facts that nothing is known of once time has passed.
        facts: the facts of the host, with their values at the start of a run.
        apart: the facts in whose values states are kept apart.
        marks: for a key, the fact that says which `set` has written it last.
        known: what holds at any time in a tree that a query can name.
    """

    declared: Mapping[str, Domain] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset({"cancel_requested"})
    volatile_facts: frozenset[str] = frozenset()
    facts: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    known: Callable[[TreeDefinition], Known] = field(default=lambda _tree: Known())


NO_HOST = HostFlow()
