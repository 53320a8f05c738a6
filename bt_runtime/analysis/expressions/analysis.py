"""What is known about an expression before it is evaluated.

    analyse("turn > 3 and signal == 'later'", domains)   # can it be true? does a part always fail?
    refine("turn > 3", domains, truth=True)              # what do the names hold after it was true?

Both are sound: the value of an evaluation with values inside the domains is inside the domain of the analysis, and
`refine` keeps every assignment for which the expression has that truth. Both take a bounded number of steps; if that is
not enough, they answer that everything is possible. A name without a domain may have any value.
"""

import ast
from collections.abc import Mapping
from functools import lru_cache

from bt_runtime.analysis.expressions.domains import ANY, Domain
from bt_runtime.analysis.expressions.flow import AbstractEvaluation, Domains, Kind
from bt_runtime.language.expressions.syntax import column_of, parse
from bt_runtime.text.data import dataclass


@dataclass(frozen=True, slots=True)
class PartFinding:
    """A part of an expression that is probably a mistake.

    Args:
        kind: `fails`: it raises whenever it is evaluated; `null`: it raises where an operand is null, which is
            possible; `never_equal`: it compares values of which none are equal (`==`, `!=`, `in`);
            `always_true`, `always_false`: it has the same truth whenever it is evaluated.
        column: of its first character, from 1.
        end_column: behind its last character.
        part: the part as written.
        why: the operands, in an author's words.
    """

    kind: Kind
    column: int
    end_column: int
    part: str
    why: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known about an expression.

    Args:
        domain: the values that it may have; empty if it always raises.
        can_raise: whether it may raise. Arithmetic without known bounds may: numbers have at most 64 bits.
        findings: the parts to report, from left to right; parts that are never evaluated are not looked at.
    """

    domain: Domain
    can_raise: bool
    findings: tuple[PartFinding, ...]

    @property
    def can_be_true(self) -> bool:
        """Whether the value may count as true."""
        return self.domain.can_be_true

    @property
    def can_be_false(self) -> bool:
        """Whether the value may count as false; an expression that raises has no value."""
        return self.domain.can_be_false


def analyse(text: str, domains: Domains, *, tested: bool = False) -> Analysis:
    """Analyse an expression that `compile_expression` accepts.

    Args:
        text: the expression.
        domains: what each name may hold; a name that is missing may hold any value.
        tested: only the truth of the value counts, as in a condition; so a name that is always true is a finding.

    Raises:
        ExpressionError: it is not an expression.
    """
    return _analysed(text, tested, tuple(domains.items()))


def refine(text: str, domains: Domains, *, truth: bool) -> dict[str, Domain] | None:
    """What the names may hold if the expression has been evaluated to something true, or to something false.

    Args:
        truth: whether its value counted as true.
        text: an expression that `compile_expression` accepts.
        domains: what each name may hold before.

    Returns:
        The domains with those that became narrower replaced; `None`: it cannot have that truth.

    Raises:
        ExpressionError: it is not an expression.
    """
    found = _refined(text, truth, tuple(domains.items()))
    return None if found is None else dict(found)


def joined(one: Mapping[str, Domain] | None, other: Mapping[str, Domain] | None) -> dict[str, Domain] | None:
    """What the names may hold if one of two cases holds; `None` is the impossible case."""
    if one is None or other is None:
        found = one if other is None else other
        return None if found is None else dict(found)
    return {name: one[name].union(other.get(name, ANY)) for name in one if name in other}


@lru_cache(maxsize=8192)
def _analysed(text: str, tested: bool, domains: tuple[tuple[str, Domain], ...]) -> Analysis:  # noqa: FBT001
    walk = AbstractEvaluation()
    outcome = walk.run(parse(text), dict(domains), tested=tested)
    findings = [
        PartFinding(kind, *_span(node, text), part=_part(node, text), why=why)
        for node, (kind, why) in walk.found.items()
    ]
    findings.sort(key=lambda finding: (finding.column, finding.end_column))
    return Analysis(outcome.domain, outcome.raises, tuple(findings))


@lru_cache(maxsize=8192)
def _refined(text: str, truth: bool, domains: tuple[tuple[str, Domain], ...]) -> Domains | None:  # noqa: FBT001
    return AbstractEvaluation().refined(parse(text), dict(domains), truth=truth)


def _span(node: ast.expr, text: str) -> tuple[int, int]:
    start = column_of(node, text)
    stripped = text.lstrip().encode()
    length = len(stripped[node.col_offset : node.end_col_offset].decode(errors="ignore"))
    return start, start + length


def _part(node: ast.expr, text: str) -> str:
    start, end = _span(node, text)
    return text[start - 1 : end - 1]
