"""How a node kind ends and what it changes then, as data that the checker and the verifier read.

A kind declares it as its `flow`, next to its class. A leaf lists its cases:

    @node("stop", flow=leaf(Case("success", stops=True)))
    @node("offer_more", flow=leaf(Case("success", facts={"offered": "all"}), Case("failure")))

Where that takes code, as with children or expressions, the flow is a function (`bt_runtime.analysis.host.Transfer`).
The checker has those of the kinds of the runtime, by their names. Of a kind without a flow nothing is known: it may
have any result and change anything, so nothing wrong is said about trees with it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Possible = Any
"""What a key may hold: a tuple of values, a `Key` whose values those are, or `None` for any value of the key's type.

The checker itself also gives a `bt_runtime.language.expressions.domains.Domain`.
"""
HERE = "here"
"""The value of a fact that stands for the path of the node."""


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a leaf can end.

    Args:
        result: `waiting`: what is known while it waits, and after a halt.
        writes: the keys that it has written then, each with what it may hold.
        adds: what it has added to keys that are counters.
        facts: the facts of the host that it has changed; `None`: any value.
        when: the case is possible only if each of these keys holds one of these values.
        when_facts: the case is possible only if these facts have one of these values.
        stops: it has written the reason to stop, if there was none.
        fault: it fails because something outside of the tree has failed, or by an error: not an ordinary result.
    """

    result: Literal["success", "failure", "waiting"]
    writes: Mapping[str, Possible] = field(default_factory=dict)
    adds: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, str | None] = field(default_factory=dict)
    when: Mapping[str, Possible] = field(default_factory=dict)
    when_facts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    stops: bool = False
    fault: bool = False


@dataclass(frozen=True, slots=True)
class LeafFlow:
    """The flow of a leaf.

    Args:
        cases: its cases, given its settings.
    """

    cases: Callable[[Any], Sequence[Case]]


def leaf(*cases: Case) -> LeafFlow:
    """The flow of a leaf that has the same cases whatever its settings."""
    return LeafFlow(lambda _settings: cases)


@dataclass(frozen=True, slots=True)
class GuardFlow:
    """The flow of a guard that compares something with a limit.

    It cannot trip where one with the same limit, or a lower one, has passed in the same tick.

    Args:
        fact: the fact of the host that says which limit was found unreached.
        writes: the keys that it has written when it has passed or tripped, as in `Case`.
        limit: its setting that is a limit of its own: a number, an expression, of which nothing is known, or null for
            the one that the host has; `None`: it has no such setting.
        counter: the key that is below its own limit where it has passed.
    """

    fact: str
    writes: Mapping[str, Possible] = field(default_factory=dict)
    limit: str | None = None
    counter: str | None = None
