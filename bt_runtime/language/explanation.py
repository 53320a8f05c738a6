"""Explanations of a node's last step, for people who ask why a run went as it did.

A node kind words its own explanations (`Node.words`); any other kind gets a generic one. They are made only when a
`Trace` watches a recorded run being repeated, never during a run.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from bt_runtime.text.phrases import value_of, values_line

_F = TypeVar("_F", bound=Callable[..., Any])

_OF_STEP = "is_of_step"


def of_step(method: _F) -> _F:
    """Mark a `Node.words` or `Node.decider` that depends only on the step, its status, and what never changes.

    A step that repeats its node's last one then reuses the words of that one.
    """
    vars(method)[_OF_STEP] = True
    return method


def is_of_step(method: Callable[..., Any]) -> bool:
    """Whether a method is marked; one that overrides it is not."""
    return _OF_STEP in getattr(method, "__dict__", ())


class Figure(NamedTuple):
    """A number that a node has read.

    Args:
        name: what it counts: `turns`, `tokens`, `errors in a row`.
        value: now.
        limit: the limit that it is compared with; `None` if there is none.
        unit: `s`, `%`, or empty for a plain count.
    """

    name: str
    value: float
    limit: float | None = None
    unit: str = ""


class Words(NamedTuple):
    """A node's explanation of its last step, worded by its kind.

    People read them behind the node's name and status, so they repeat neither. Short; in the terms of the tree; "no",
    not "failed"; numbers with thousands separators and units (`bt_runtime.text.phrases`). Text from outside is quoted
    with `clipped` or `value_of`.

    Args:
        text: a phrase that follows its name: `5 of 10 turns`, `strategies 0 → 1`; empty if the status says enough.
        sentence: a whole sentence that says what the node has done, and what came of it: `One more turn is granted: 6
            of 10.` It is the headline of a tick that the node has decided. Empty: a plain one is made from name and
            status.
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

    @property
    def verdict(self) -> str:
        """Operands and result of a condition: `signal "stuck" · turn 5 → yes`."""
        return f"{self.operands_line} → {'error' if self.error else 'yes' if self.value else 'no'}".lstrip()

    @property
    def result(self) -> str:
        """Operands and value: `tries 2 → 3`."""
        return f"{self.operands_line} → {'error' if self.error else value_of(self.value)}".lstrip()

    @property
    def operands_line(self) -> str:
        """What it has read: `signal "stuck" · turn 5`."""
        return values_line((operand.name, operand.value) for operand in self.operands)


class Write(NamedTuple):
    """A write to the blackboard: a key, its value before, and its value since."""

    key: str
    before: Any
    value: Any


class Stepped(NamedTuple):
    """What happened in one step of a node.

    Args:
        began: it began in this step; else it was RUNNING before.
        ticked: its children that it ticked, in order; a child may be there more than once.
        writes: to the blackboard by the node itself, not by its children.
    """

    began: bool
    ticked: tuple[Any, ...]  # of `Node`, which stands above this module
    evaluations: tuple[Evaluation, ...] = ()
    writes: tuple[Write, ...] = ()
