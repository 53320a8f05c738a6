"""Small deterministic finite automata, which decide on finite traces of letters whether a sentence holds.

A letter says which of a sentence's two events one event of the trace is: neither, the first, the second, or both.
"""

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property

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
