"""A walk through the syntax tree of an expression, with a domain for each name in each of its parts.

`a and b` evaluates `b` only where `a` is true, so `b` is looked at with the domains that this leaves.
"""

import ast
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from bt_runtime.analysis.expressions import abstract
from bt_runtime.analysis.expressions.abstract import Computed
from bt_runtime.analysis.expressions.domains import (
    ANY,
    EMPTY,
    LISTS,
    MAPS,
    NOTHING,
    NULL,
    Domain,
    Numbers,
    above,
    of_value,
)
from bt_runtime.language.expressions.compiler import CONSTANTS
from bt_runtime.text.data import dataclass

Domains = Mapping[str, Domain]
Operands = Sequence[tuple[ast.expr, Domain]]
Kind = Literal["fails", "null", "never_equal", "always_true", "always_false"]

_MOST_STEPS = 5_000
_ORDINARY = 2**40
_OPPOSITE = {"Eq": "NotEq", "Lt": "GtE", "LtE": "Gt", "In": "NotIn"}
_NOT = {**_OPPOSITE, **{other: one for one, other in _OPPOSITE.items()}, "Is": "NotEq", "IsNot": "Eq"}
_SWAPPED: Mapping[str, str] = {"Lt": "Gt", "LtE": "GtE", "Gt": "Lt", "GtE": "LtE"}


@dataclass(slots=True)
class AbstractEvaluation:
    """One analysis of one expression.

    Attributes:
        found: the findings; only about parts that are evaluated.
    """

    found: dict[ast.expr, tuple[Kind, str]] = field(default_factory=dict)
    _steps: int = 0
    _silent: int = 0

    def run(self, node: ast.expr, domains: Domains, *, tested: bool = False) -> Computed:
        """What a part may evaluate to; `tested`: only its truth counts, so one that never changes is reported."""
        outcome = self._run(node, domains, tested=tested)
        if tested and isinstance(node, ast.Name | ast.Call | ast.Attribute) and not _is_constant(node):
            self._report_truth(node, outcome.domain, [(node, outcome.domain)])
        return outcome

    def _run(self, node: ast.expr, domains: Domains, *, tested: bool) -> Computed:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return Computed(ANY, raises=True)
        match node:
            case ast.Constant():
                return Computed(of_value(node.value))
            case ast.Name():
                return Computed(of_value(CONSTANTS[node.id]) if node.id in CONSTANTS else domains.get(node.id, ANY))
            case ast.BoolOp():
                return self._logic(node, domains, tested=tested)
            case ast.UnaryOp(op=ast.Not()):
                inner = self.run(node.operand, domains, tested=True)
                return Computed(abstract.inverted(inner.domain), inner.raises)
            case ast.IfExp():
                return self._conditional(node, domains, tested=tested)
            case ast.Compare():
                return self._comparison(node, domains)
            case _:
                return self._operation(node, domains)

    # --- parts that choose what is evaluated

    def _logic(self, node: ast.BoolOp, domains: Domains, *, tested: bool) -> Computed:
        goes_on = isinstance(node.op, ast.And)
        here = domains
        found, raises = NOTHING, False
        for part in node.values[:-1]:
            outcome = self.run(part, here, tested=True)
            raises = raises or outcome.raises
            found = found.union(outcome.domain.falsy() if goes_on else outcome.domain.truthy())
            left = self.refined(part, here, truth=goes_on)
            if left is None:
                return Computed(found, raises=raises)
            here = left
        last = self.run(node.values[-1], here, tested=tested)
        return Computed(found.union(last.domain), raises=raises or last.raises)

    def _conditional(self, node: ast.IfExp, domains: Domains, *, tested: bool) -> Computed:
        test = self.run(node.test, domains, tested=True)
        found, raises = NOTHING, test.raises
        for truth, part in ((True, node.body), (False, node.orelse)):
            here = self.refined(node.test, domains, truth=truth)
            if here is not None:
                outcome = self.run(part, here, tested=tested)
                found, raises = found.union(outcome.domain), raises or outcome.raises
        return Computed(found, raises=raises)

    # --- comparisons

    def _comparison(self, node: ast.Compare, domains: Domains) -> Computed:
        raises, can_be_true, can_be_false = False, True, False
        here = domains
        for left, operator, right in _steps(node):
            outcome = self._step(node, left, operator, right, here)
            raises = raises or outcome.raises
            can_be_false = can_be_false or outcome.domain.can_be_false
            narrowed = self._narrowed(left, operator, right, here) if outcome.domain.can_be_true else None
            if narrowed is None:
                can_be_true = False
                break
            here = narrowed
        found = abstract.truth(can_be_true=can_be_true, can_be_false=can_be_false)
        if len(node.ops) > 1:
            self._report_truth(node, found, [])
        return Computed(found, raises=raises)

    def _step(self, node: ast.Compare, left: ast.expr, operator: str, right: ast.expr, domains: Domains) -> Computed:
        one, other = self.run(left, domains), self.run(right, domains)
        if one.domain.is_empty or other.domain.is_empty:
            return abstract.FAILS
        outcome = self._compared(operator, one.domain, right, other.domain, domains)
        operands = [(left, one.domain), (right, other.domain)]
        self._report_failure(node, outcome, operands, ordered=operator in _SWAPPED)
        written = _is_literal(left) and _is_literal(right)
        if len(node.ops) == 1 and not outcome.domain.is_empty and not written:
            self._report_comparison(node, operator, outcome.domain, operands)
        return Computed(outcome.domain, outcome.raises or one.raises or other.raises)

    def _compared(self, operator: str, one: Domain, right: ast.expr, other: Domain, domains: Domains) -> Computed:
        if operator in {"In", "NotIn"} and isinstance(right, ast.List | ast.Tuple):
            found = abstract.among(one, [self._quietly(item, domains).domain for item in right.elts])
            return found if operator == "In" else Computed(abstract.inverted(found.domain), found.raises)
        return abstract.compared(operator, one, other)

    def _report_comparison(self, node: ast.Compare, operator: str, found: Domain, operands: Operands) -> None:
        equality = operator in {"Eq", "NotEq", "In", "NotIn"}
        never = equality and found.can_be_true is (operator in {"NotEq", "NotIn"}) and found.is_single
        if operator in {"NotEq", "IsNot"} and operands[1][1] == NULL:
            return  # a careful test for null
        if never:
            self._report(node, "never_equal", operands)
        else:
            self._report_truth(node, found, operands)

    # --- everything else

    def _operation(self, node: ast.expr, domains: Domains) -> Computed:
        operands = _operands(node)
        outcomes = [self.run(part, domains) for part in operands]
        raised = any(outcome.raises for outcome in outcomes)
        if any(outcome.domain.is_empty for outcome in outcomes):
            return abstract.FAILS
        values = [outcome.domain for outcome in outcomes]
        found = _evaluated(node, values)
        ordered = not isinstance(node, ast.Attribute | ast.Subscript)
        self._report_failure(node, found, list(zip(operands, values, strict=True)), ordered=ordered)
        return Computed(found.domain, found.raises or raised)

    def _quietly(self, node: ast.expr, domains: Domains) -> Computed:
        self._silent += 1
        try:
            return self.run(node, domains)
        finally:
            self._silent -= 1

    # --- reports

    def _report_failure(self, node: ast.expr, outcome: Computed, operands: Operands, *, ordered: bool) -> None:
        if outcome.domain.is_empty:
            self._report(node, "fails", operands)
        elif ordered and outcome.raises and any(None in value and value != ANY for _, value in operands):
            self._report(node, "null", operands)

    def _report_truth(self, node: ast.expr, domain: Domain, operands: Operands) -> None:
        if domain.is_empty or (domain.can_be_true and domain.can_be_false):
            return
        self._report(node, "always_true" if domain.can_be_true else "always_false", operands)

    def _report(self, node: ast.expr, kind: Kind, operands: Operands) -> None:
        if not self._silent and self._steps <= _MOST_STEPS and node not in self.found:
            known = (f"{_shown(part)} is {value}" for part, value in operands if not _is_literal(part))
            self.found[node] = (kind, "; ".join(known))

    # --- what names hold after a part had a truth

    def refined(self, node: ast.expr, domains: Domains, *, truth: bool) -> Domains | None:
        """The domains for which a part may have that truth; `None` if there are none."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return domains
        match node:
            case ast.UnaryOp(op=ast.Not()):
                return self.refined(node.operand, domains, truth=not truth)
            case ast.BoolOp():
                decides = isinstance(node.op, ast.Or)
                return self._first_to_decide([(part, decides) for part in node.values], domains, truth=truth)
            case ast.IfExp():
                return self._refined_conditional(node, domains, truth=truth)
            case ast.Compare():
                return self._refined_comparison(node, domains, truth=truth)
        outcome = self._quietly(node, domains)
        if outcome.domain.is_empty:
            return None
        return _assigned(node, outcome.domain.truthy() if truth else outcome.domain.falsy(), domains)

    def _first_to_decide(self, parts: list[tuple[ast.expr, bool]], domains: Domains, *, truth: bool) -> Domains | None:
        """`and`, `or`: a part with the deciding truth decides; else all parts have the other one."""
        here = domains
        found: Domains | None = None
        for part, decides in parts:
            if decides is truth:
                found = _either(found, self.refined(part, here, truth=decides))
            left = self.refined(part, here, truth=not decides)
            if left is None:
                return found
            here = left
        return found if parts[0][1] is truth else here

    def _refined_conditional(self, node: ast.IfExp, domains: Domains, *, truth: bool) -> Domains | None:
        found: Domains | None = None
        for case, part in ((True, node.body), (False, node.orelse)):
            here = self.refined(node.test, domains, truth=case)
            if here is not None:
                found = _either(found, self.refined(part, here, truth=truth))
        return found

    def _refined_comparison(self, node: ast.Compare, domains: Domains, *, truth: bool) -> Domains | None:
        here = domains
        found: Domains | None = None
        for left, operator, right in _steps(node):
            if not truth:
                found = _either(found, self._narrowed(left, _NOT[operator], right, here))
            narrowed = self._narrowed(left, operator, right, here)
            if narrowed is None:
                return found
            here = narrowed
        return here if truth else found

    def _narrowed(self, left: ast.expr, operator: str, right: ast.expr, domains: Domains) -> Domains | None:
        """The domains for which a comparison is true."""
        operator = {"Is": "Eq", "IsNot": "NotEq"}.get(operator, operator)
        one, other = self._quietly(left, domains).domain, self._quietly(right, domains).domain
        if one.is_empty or other.is_empty:
            return None
        self._silent += 1
        result = self._compared(operator, one, right, other, domains).domain
        self._silent -= 1
        if not result.can_be_true:
            return None
        if operator in {"In", "NotIn"}:
            return self._narrowed_by_items(left, operator, right, one, other, domains)
        here = _assigned(left, _limited(operator, one, other), domains)
        if here is None:
            return None
        return _assigned(right, _limited(_SWAPPED.get(operator, operator), other, one), here)

    def _narrowed_by_items(
        self, left: ast.expr, operator: str, right: ast.expr, one: Domain, other: Domain, domains: Domains
    ) -> Domains | None:
        if isinstance(right, ast.List | ast.Tuple):
            items = [self._quietly(item, domains).domain for item in right.elts]
            found = NOTHING if operator == "In" else one
            for item in items:
                found = found.union(one.equal_to(item)) if operator == "In" else found.unequal_to(item)
            return _assigned(left, found, domains)
        searched = other.sized()
        kept = one if searched.constants or not other.texts else Domain(texts=one.texts)
        if operator == "In":
            searched = replace(searched, constants=searched.constants - EMPTY)
        here = _assigned(left, kept, domains)
        return None if here is None else _assigned(right, searched, here)


def _limited(operator: str, one: Domain, other: Domain) -> Domain:
    """The values of the left operand for which the comparison may be true."""
    if operator == "Eq":
        return one.equal_to(other)
    if operator == "NotEq":
        return one.unequal_to(other)
    numbers = None
    if one.numbers and other.numbers:
        least, most = _interval(operator, other.numbers, whole=one.numbers.whole)
        numbers = one.numbers.within(least, most)
    texts = one.texts if other.texts else None
    if texts and texts.values is not None and other.texts:
        single = (Domain(texts=texts.among([value])) for value in texts.values)
        right = Domain(texts=other.texts)
        texts = texts.among(
            value.texts.only or ""
            for value in single
            if value.texts and abstract.compared(operator, value, right).domain.can_be_true
        )
    return Domain(numbers=numbers, texts=texts)


def _interval(operator: str, other: Numbers, *, whole: bool) -> tuple[float, float]:
    if operator == "Lt":
        return -math.inf, -above(-other.most, whole=whole)
    if operator == "LtE":
        return -math.inf, other.most
    return (above(other.least, whole=whole) if operator == "Gt" else other.least), math.inf


def _assigned(node: ast.expr, domain: Domain, domains: Domains) -> Domains | None:
    """The domains if a part has one of these values; only names and `len(name)` narrow a domain."""
    if domain.is_empty:
        return None
    if isinstance(node, ast.Name) and node.id not in CONSTANTS:
        met = domains.get(node.id, ANY).meet(domain)
        return None if met.is_empty else {**domains, node.id: met}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and domain.numbers:
        name = node.args[0]
        sized = domains.get(name.id, ANY) if isinstance(name, ast.Name) and name.id not in CONSTANTS else ANY
        sized = sized.sized()
        if domain.numbers.least >= 1:
            return _assigned(name, sized.truthy(), domains)
        return _assigned(name, sized.falsy() if domain.numbers.most <= 0 else sized, domains)
    if isinstance(node, ast.BinOp) and domain.numbers:
        return _assigned_sum(node, domain.numbers, domains)
    return domains


def _assigned_sum(node: ast.BinOp, numbers: Numbers, domains: Domains) -> Domains | None:
    """The domains if a name plus a known whole number has one of these values."""
    sign = {ast.Add: 1, ast.Sub: -1}.get(type(node.op))
    match node.left, node.right:
        case (ast.Name() as name, other) if sign is not None:
            added = _whole(other, domains)
        case (other, ast.Name() as name) if sign == 1:
            added = _whole(other, domains)
        case _:
            return domains
    known = domains.get(name.id, ANY).numbers if name.id not in CONSTANTS else None
    if added is None or known is None or not known.whole:
        return domains
    moved = Numbers(numbers.least - (sign or 1) * added, numbers.most - (sign or 1) * added)
    met = known.within(moved.least, moved.most)
    return None if met is None else _assigned(name, Domain(numbers=met), domains)


def _whole(node: ast.expr, domains: Domains) -> int | None:
    """The only value of a part, if that is a whole number of ordinary size."""
    domain = of_value(node.value) if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name) and node.id not in CONSTANTS:
        domain = domains.get(node.id, ANY)
    if domain is None or not domain.is_single or domain.numbers is None or not domain.numbers.whole:
        return None
    return int(domain.numbers.least) if abs(domain.numbers.least) < _ORDINARY else None


def _either(one: Domains | None, other: Domains | None) -> Domains | None:
    if one is None or other is None:
        return other if one is None else one
    if one is other:
        return one
    return {name: one[name].union(other[name]) for name in one if name in other}


def _steps(node: ast.Compare) -> Iterable[tuple[ast.expr, str, ast.expr]]:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        yield left, type(operator).__name__, right
        left = right


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.UnaryOp():
            return [node.operand]
        case ast.BinOp():
            return [node.left, node.right]
        case ast.List() | ast.Tuple():
            return list(node.elts)
        case ast.Attribute() | ast.Subscript():
            return [node.value]
        case ast.Call():
            return list(node.args)
    return []


def _evaluated(node: ast.expr, values: list[Domain]) -> Computed:
    match node:
        case ast.UnaryOp():
            return abstract.negated(values[0])
        case ast.BinOp():
            return abstract.computed(type(node.op).__name__, values[0], values[1])
        case ast.List() | ast.Tuple():
            nests = any(value.constants & (LISTS | MAPS) for value in values)  # a nested list can become too long
            return Computed(of_value(values and [None]), raises=nests)
        case ast.Attribute():
            return abstract.entry(values[0], node.attr)
        case ast.Subscript():
            key = ast.literal_eval(node.slice)
            return abstract.entry(values[0], key)
        case ast.Call(func=ast.Name(id=name)):
            return abstract.called(name, values)
    return Computed(ANY, raises=True)


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id in CONSTANTS)


def _is_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Tuple):
        return all(map(_is_literal, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_literal(node.operand)
    return _is_constant(node)


def _shown(node: ast.expr) -> str:
    return f"'{ast.unparse(node)}'"
