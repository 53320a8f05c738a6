"""What a node says about its last step, for people who ask why a run went as it did.

A node kind says it in its own words (`Node.words`), a kind without words gets plain ones. Nothing of this is done while
a run is under way: a `Trace` asks for it when a recorded run is repeated.
"""

from typing import Any, NamedTuple


class Figure(NamedTuple):
    """A number that a node has looked at.

    Args:
        name: what it counts: `turns`, `tokens`, `errors in a row`.
        value: now.
        limit: that it is held against; `None` if there is none.
        unit: `s`, `%`, or empty for a plain count.
    """

    name: str
    value: float
    limit: float | None = None
    unit: str = ""


class Words(NamedTuple):
    """What a node says about its last step.

    Args:
        text: a phrase that follows its name: `5 of 10 turns`, `strategies 0 → 1`; empty if the status says enough.
        sentence: a whole sentence, where the node has decided what happens next: `One more turn is granted.`
        figures: the numbers behind it.
    """

    text: str = ""
    sentence: str = ""
    figures: tuple[Figure, ...] = ()


class Operand(NamedTuple):
    """A name that an evaluation has read.

    Args:
        name: a blackboard key or parameter.
        value: JSON data.
        at: where it stands in the expression, in characters from 0; each place once.
    """

    name: str
    value: Any
    at: tuple[int, ...] = ()


class Clause(NamedTuple):
    """A part of an expression between `and`, `or`, `not`, `if` and `else`.

    Args:
        start: of its first character, from 0.
        end: behind its last character.
        asked: it was evaluated; one that could not change the result is not.
        value: of the clause; `None` if it was not asked, or failed.
    """

    start: int
    end: int
    asked: bool
    value: Any = None


class Evaluation(NamedTuple):
    """One evaluation of an expression.

    Args:
        text: the expression.
        value: its value; `None` if it failed.
        error: why it failed; empty if it did not.
        clauses: in the order of the text.
        operands: in the order in which they were read first.
    """

    text: str
    value: Any
    error: str
    clauses: tuple[Clause, ...]
    operands: tuple[Operand, ...]
