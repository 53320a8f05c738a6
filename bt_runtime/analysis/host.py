"""The inputs of a check: what is known of the host, the checks that it adds, and the budget.

A registry names the host's module, which is loaded when a tree is checked, not when it is run.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from importlib import import_module
from time import thread_time
from typing import Any

from bt_runtime.analysis.codes import Code
from bt_runtime.analysis.expressions.domains import Domain
from bt_runtime.analysis.states import EndStates, Known, States
from bt_runtime.language.definition import NodeDefinition, TreeDefinition
from bt_runtime.language.registry import Registry
from bt_runtime.text import Mistake
from bt_runtime.text.data import dataclass

MOST_TICKS = 8_000
"""Ticks of nodes in the walks of one check: well under a second."""
LONGEST_S = 2.0
"""Processor time of one check; the trees of this project take a hundredth of it."""
_LOOK_EVERY = 16  # queries; each takes a few milliseconds at most, and reading the time takes a system call


class OverBudgetError(Exception):
    """The check has exceeded its budget, or its result is no longer needed."""


class Budget:
    """The remaining budget of one check; its walks and judges query it as they proceed.

    Args:
        longest_s: processor time of the thread that checks.
    """

    def __init__(self, *, ticks: int = MOST_TICKS, longest_s: float = LONGEST_S) -> None:
        self._ticks = ticks
        self._longest_s = longest_s
        self._until_s: float | None = None
        self._asked = 0
        self._is_cancelled = False

    def cancel(self) -> None:
        """End the check soon; may be called in another thread."""
        self._is_cancelled = True

    def spend(self, ticks: int = 0) -> None:
        """Spend ticks, if any, and make sure that the check may continue.

        Raises:
            OverBudgetError: it may not.
        """
        self._ticks -= ticks
        if self._ticks < 0 or self._is_cancelled:
            raise OverBudgetError
        self._asked += 1
        if self._asked % _LOOK_EVERY == 1:
            now_s = thread_time()
            if self._until_s is None:
                self._until_s = now_s + self._longest_s
            if now_s > self._until_s:
                self._ticks = -1  # and so for all that follows
                raise OverBudgetError


Transfer = Callable[[Any, NodeDefinition, States], EndStates]
"""The flow of a kind that needs code for it: given the walk (`bt_runtime.analysis.walk.Walk`), a node and the states in
which it is ticked."""


@dataclass(frozen=True, slots=True)
class HostChecks:
    """What the checker knows of a host.

    Args:
        declared: what a key of the host may hold, where that is less than its type.
        given: keys that begin a run with a value from the host rather than their default.
        volatile: keys that may change whenever time passes.
        volatile_facts: facts that nothing is known of once time has passed.
        facts: the facts of the host, with their values at the start of a run.
        apart: the facts whose values distinguish states.
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
