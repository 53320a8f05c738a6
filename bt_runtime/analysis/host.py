"""What the checker knows of a host, and what a host adds to the checker.

A registry names the module that has it, which is loaded when a tree is judged, and not where a tree is run.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.states import EndStates, Known, States
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.expressions.domains import Domain
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake

Transfer = Callable[[Any, NodeDefinition, States], EndStates]
"""The flow of a kind that needs code for it: given the walk (`bt_runtime.analysis.walk.Walk`), a node and the states in
which it is ticked."""


@dataclass(frozen=True, slots=True)
class HostChecks:
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
        transfers: the flows of its kinds that need code, by the kind's name; a `flow` that the kind has comes first.
        judges: judge the flow (`bt_runtime.analysis.flow.Flow`) of a tree, in addition to those of the runtime.
        codes: of the warnings of `judges`.
    """

    declared: Mapping[str, Domain] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    volatile: frozenset[str] = frozenset({"cancel_requested"})
    volatile_facts: frozenset[str] = frozenset()
    facts: Mapping[str, str] = field(default_factory=dict)
    apart: tuple[str, ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    known: Callable[[TreeDefinition], Known] = field(default=lambda _tree: Known())
    transfers: Mapping[str, Transfer] = field(default_factory=dict)
    judges: tuple[Callable[[Any], Iterable[Mistake]], ...] = ()
    codes: tuple[Code, ...] = ()


def host_of(registry: Registry) -> HostChecks:
    """What the module that a registry names knows of its host; nothing if it names none."""
    found: HostChecks = import_module(registry.checks).HOST if registry.checks else HostChecks()
    return found
