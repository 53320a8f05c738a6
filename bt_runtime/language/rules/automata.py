"""Small deterministic finite automata, which decide on finite traces of letters whether a sentence holds.

A letter says which of a sentence's two events one event of the trace is: neither, the first, the second, or both.

Each DECLARE template has one, with the semantics of linear temporal logic on finite traces (LTLf).

The definitions are those of Pesic and van der Aalst (DECLARE) and of De Giacomo and Vardi (LTLf), with three
refinements, because the events of a run are not activities of one kind:

- An event may be both of a template's events, such as `tool: any` and `tool: vault_write`. "Before" and "after" are
  strict: an event neither precedes nor follows itself.
- "Directly", "first of all" and "last of all" count only events of the types that the rule names: `chain_response` over
  two tool calls means the next tool call, whatever else happens between them.
- A run without any event of these types satisfies `init` and `last`.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from bt_runtime.language.rule import Template

NEITHER, FIRST, THEN, BOTH = range(4)
"""The letters."""

Row = tuple[int, int, int, int]
"""The next state for each letter."""


@dataclass(frozen=True)
class Automaton:
    """A deterministic finite automaton; its states are numbers, and 0 is the first.

    Args:
        rows: for each state, the next state for each letter.
        accepting: the states in which the sentence holds if the trace ends.
    """

    rows: tuple[Row, ...]
    accepting: frozenset[int] = field(default_factory=frozenset)

    @cached_property
    def violated(self) -> frozenset[int]:
        """The states from which no continuation of the trace makes the sentence hold."""
        return frozenset(range(len(self.rows))) - self._reaching(self.accepting)

    def _reaching(self, targets: frozenset[int]) -> frozenset[int]:
        """The states from which one of the targets can be reached, the targets among them."""
        found = set(targets)
        while True:
            more = {state for state, row in enumerate(self.rows) if state not in found and found.intersection(row)}
            if not more:
                return frozenset(found)
            found |= more


def conjunction(one: Automaton, other: Automaton) -> Automaton:
    """The automaton of two sentences that must both hold."""
    numbers: dict[tuple[int, int], int] = {(0, 0): 0}
    waiting, rows = deque(numbers), []
    while waiting:
        left, right = waiting.popleft()
        row = []
        for pair in zip(one.rows[left], other.rows[right], strict=True):
            if pair not in numbers:
                numbers[pair] = len(numbers)
                waiting.append(pair)
            row.append(numbers[pair])
        rows.append((row[0], row[1], row[2], row[3]))
    accepting = (
        number for (left, right), number in numbers.items() if left in one.accepting and right in other.accepting
    )
    return Automaton(tuple(rows), frozenset(accepting))


# --- the templates


def _automaton(*rows: Row, accepting: set[int]) -> Automaton:
    return Automaton(rows, frozenset(accepting))


def _at_most(times: int) -> Automaton:
    rows: list[Row] = [(count, count + 1, count, count + 1) for count in range(times + 1)]
    violated = times + 1
    return _automaton(*rows, (violated,) * 4, accepting=set(range(times + 1)))


def _at_least(times: int) -> Automaton:
    rows: list[Row] = [(count, count + 1, count, count + 1) for count in range(times)]
    return _automaton(*rows, (times,) * 4, accepting={times})


# The columns are the letters: neither event, the first one, the second one, both.
_RESPONSE = _automaton((0, 1, 0, 1), (1, 1, 0, 1), accepting={0})
_PRECEDENCE = _automaton((0, 1, 2, 2), (1, 1, 1, 1), (2, 2, 2, 2), accepting={0, 1})
_ALTERNATE_RESPONSE = _automaton((0, 1, 0, 1), (1, 2, 0, 1), (2, 2, 2, 2), accepting={0})
_ALTERNATE_PRECEDENCE = _automaton((0, 1, 2, 2), (1, 1, 0, 0), (2, 2, 2, 2), accepting={0, 1})
_CHAIN_RESPONSE = _automaton((0, 1, 0, 1), (2, 2, 0, 1), (2, 2, 2, 2), accepting={0})
_CHAIN_PRECEDENCE = _automaton((0, 1, 2, 2), (0, 1, 0, 1), (2, 2, 2, 2), accepting={0, 1})
_FIXED: Mapping[Template, Automaton] = {
    "init": _automaton((2, 1, 2, 1), (1, 1, 1, 1), (2, 2, 2, 2), accepting={0, 1}),
    "last": _automaton((1, 2, 1, 2), (1, 2, 1, 2), (1, 2, 1, 2), accepting={0, 2}),
    "responded_existence": _automaton((0, 1, 2, 2), (1, 1, 2, 2), (2, 2, 2, 2), accepting={0, 2}),
    "co_existence": _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={0, 3}),
    "not_co_existence": _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={0, 1, 2}),
    "choice": _automaton((0, 1, 1, 1), (1, 1, 1, 1), accepting={1}),
    "exclusive_choice": _automaton((0, 1, 2, 3), (1, 1, 3, 3), (2, 3, 2, 3), (3, 3, 3, 3), accepting={1, 2}),
    "response": _RESPONSE,
    "precedence": _PRECEDENCE,
    "succession": conjunction(_RESPONSE, _PRECEDENCE),
    "alternate_response": _ALTERNATE_RESPONSE,
    "alternate_precedence": _ALTERNATE_PRECEDENCE,
    "alternate_succession": conjunction(_ALTERNATE_RESPONSE, _ALTERNATE_PRECEDENCE),
    "chain_response": _CHAIN_RESPONSE,
    "chain_precedence": _CHAIN_PRECEDENCE,
    "chain_succession": conjunction(_CHAIN_RESPONSE, _CHAIN_PRECEDENCE),
    "not_succession": _automaton((0, 1, 0, 1), (1, 1, 2, 2), (2, 2, 2, 2), accepting={0, 1}),
    "not_chain_succession": _automaton((0, 1, 0, 1), (0, 1, 2, 2), (2, 2, 2, 2), accepting={0, 1}),
}
_COUNTED: Mapping[Template, Callable[[int], Automaton]] = {
    "absence": lambda _times: _at_most(0),
    "existence": _at_least,
    "exactly": lambda times: Automaton(_at_most(times).rows, frozenset({times})),
    "at_most": _at_most,
}


@lru_cache(maxsize=256)
def automaton_of(template: Template, times: int = 1) -> Automaton:
    """The automaton of a template.

    Args:
        template: its name.
        times: how often its event happens, for the templates that count.
    """
    return _COUNTED[template](times) if template in _COUNTED else _FIXED[template]
