"""Expression operations over domains instead of values: the possible results, and whether they may or must fail.

Each function mirrors one of `bt_runtime.language.expressions.operations`. An empty result means that the operation
always raises. Results are upper bounds. They are wide where exact bounds would depend on rounding.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from operator import add, floordiv, mul, sub, truediv

from bt_runtime.analysis.expressions.domains import (
    ANY,
    BOOL,
    EMPTY,
    FILLED,
    LISTS,
    LONGEST_TEXT,
    NOTHING,
    NUMBER,
    TEXT,
    Domain,
    Numbers,
    TextSet,
    of_value,
    of_values,
)
from bt_runtime.language.expressions.operations import COMPARISONS
from bt_runtime.text.data import dataclass

_OPERATORS = {"Add": add, "Sub": sub, "Mult": mul, "Div": truediv, "FloorDiv": floordiv}
_DIVIDING = frozenset({"Div", "FloorDiv", "Mod"})
_EXACT = 2**50
_MOST_PAIRS = 256


@dataclass(frozen=True, slots=True)
class Computed:
    """What an operation may do.

    Args:
        domain: the values that it may return; empty: it always raises.
    """

    domain: Domain
    raises: bool = False


FAILS = Computed(NOTHING, raises=True)


def truth(*, can_be_true: bool, can_be_false: bool) -> Domain:
    """A domain of true and false."""
    return Domain(frozenset({True} if can_be_true else ()) | frozenset({False} if can_be_false else ()))


# --- comparisons


def compared(operator: str, left: Domain, right: Domain) -> Computed:
    """`left OPERATOR right`, the operator by its name in Python's syntax tree."""
    if operator in {"Eq", "Is"}:
        return Computed(_equal(left, right))
    if operator in {"NotEq", "IsNot"}:
        return Computed(inverted(_equal(left, right)))
    if operator in {"In", "NotIn"}:
        found = contained(left, right)
        return found if operator == "In" else Computed(inverted(found.domain), found.raises)
    return _ordered(operator, left, right)


def inverted(domain: Domain) -> Domain:
    """`not domain`."""
    return truth(can_be_true=domain.can_be_false, can_be_false=domain.can_be_true)


def _equal(left: Domain, right: Domain) -> Domain:
    can_be_equal = not left.equal_to(right).is_empty
    return truth(can_be_true=can_be_equal, can_be_false=not (can_be_equal and left.is_single and right.is_single))


def _ordered(operator: str, left: Domain, right: Domain) -> Computed:
    found = NOTHING
    if left.numbers and right.numbers:
        found = found.union(_numbers_ordered(operator, left.numbers, right.numbers))
    if left.texts and right.texts:
        found = found.union(_of_pairs(COMPARISONS[operator], left.texts, right.texts))
    right_types = (left.is_number and right.is_number) or (left.is_text and right.is_text)
    return Computed(found, raises=not right_types)


def _numbers_ordered(operator: str, left: Numbers, right: Numbers) -> Domain:
    compare = COMPARISONS[operator]
    if operator in {"Lt", "LtE"}:
        return truth(can_be_true=compare(left.least, right.most), can_be_false=not compare(left.most, right.least))
    return truth(can_be_true=compare(left.most, right.least), can_be_false=not compare(left.least, right.most))


def _of_pairs(compare: Callable[[str, str], bool], left: TextSet, right: TextSet) -> Domain:
    if left.values is None or right.values is None or len(left.values) * len(right.values) > _MOST_PAIRS:
        return BOOL
    return Domain(frozenset(bool(compare(one, other)) for one, other in product(left.values, right.values)))


def contained(item: Domain, container: Domain) -> Computed:
    """`item in container`, of a container whose items are not known."""
    found, sized = NOTHING, container.sized()
    raises = sized != container
    if container.texts:
        raises = raises or not item.is_text
        if item.texts:
            found = found.union(_of_pairs(lambda part, text: part in text, item.texts, container.texts))
    if sized.constants:
        holds = "[...]" in sized.constants or ("{...}" in sized.constants and item.texts is not None)
        found = found.union(truth(can_be_true=holds, can_be_false=True))
    return Computed(found, raises=raises)


def among(item: Domain, items: Sequence[Domain]) -> Computed:
    """`item in [items]`."""
    results = [_equal(item, other) for other in items]
    is_among, is_none = any(each.can_be_true for each in results), all(each.can_be_false for each in results)
    return Computed(truth(can_be_true=is_among, can_be_false=is_none))


# --- arithmetic


def computed(operator: str, left: Domain, right: Domain) -> Computed:
    """`left OPERATOR right` of an arithmetic operator."""
    found = NOTHING
    raises = not (left.is_number and right.is_number)
    if left.numbers and right.numbers:
        numbers = _arithmetic(operator, left.numbers, right.numbers)
        found = Domain(numbers=numbers)
        raises = raises or (operator in _DIVIDING and 0 in replace(right.numbers, whole=False))
        raises = raises or not all(part and _is_small(part) for part in (numbers, left.numbers, right.numbers))
    if operator == "Add":  # what is joined can become too long
        texts = _joined(left.texts, right.texts) if left.texts and right.texts else None
        lists = product(left.constants & LISTS, right.constants & LISTS)
        joined = Domain(frozenset("[...]" if "[...]" in pair else "[]" for pair in lists), texts=texts)
        found = found.union(joined)
    return Computed(found, raises=raises or found.is_empty)


def negated(value: Domain) -> Computed:
    """`-value`."""
    return computed("Sub", of_value(0), value)


def _is_small(numbers: Numbers) -> bool:
    return abs(numbers.least) < _EXACT and abs(numbers.most) < _EXACT


def _joined(left: TextSet, right: TextSet) -> TextSet:
    filled = left.filled or right.filled
    if left.values is None or right.values is None or len(left.values) * len(right.values) > _MOST_PAIRS:
        return TextSet(None, filled)
    values = frozenset(one + other for one, other in product(left.values, right.values))
    return TextSet(None if max(map(len, values)) > LONGEST_TEXT else values, filled)


def _bounded(least: float, most: float, *, whole: bool) -> Numbers:
    """An interval whose ends floats hold exactly, so that no rounding matters: larger ends are moved outwards."""
    low = -math.inf if math.isnan(least) or least <= -_EXACT else min(least, _EXACT)
    high = math.inf if math.isnan(most) or most >= _EXACT else max(most, -_EXACT)
    return Numbers(low, high, whole)


def _arithmetic(operator: str, left: Numbers, right: Numbers) -> Numbers | None:
    """The interval between the results of the ends; `None` for a division by zero."""
    whole = left.whole and right.whole and operator != "Div"
    if operator in _DIVIDING:
        if right.only == 0:
            return None
        if operator == "Mod":
            step = 1 if whole else 0
            return _bounded(0, right.most - step, whole=whole) if right.least > 0 else Numbers(whole=whole)
        if right.least <= 0 <= right.most or (operator == "FloorDiv" and not whole):
            return Numbers(whole=whole)
    ones, others = (_bounded(each.least, each.most, whole=each.whole) for each in (left, right))
    pairs = product((ones.least, ones.most), (others.least, others.most))
    ends = [0 if operator == "Mult" and 0 in pair else _OPERATORS[operator](*pair) for pair in pairs]
    if any(math.isnan(end) for end in ends):
        return Numbers(whole=whole)
    return _bounded(min(ends), max(ends), whole=whole)


# --- access and functions


def entry(container: Domain, key: str | int) -> Computed:
    """`container.key` or `container[key]`."""
    filled = "{...}" if isinstance(key, str) else "[...]"
    return Computed(ANY, raises=True) if filled in container.constants else FAILS


def called(name: str, arguments: Sequence[Domain]) -> Computed:
    """A call of one of the functions."""
    return _FUNCTIONS[name](*arguments)


def _len(value: Domain) -> Computed:
    found, constants = NOTHING, value.constants
    if value.texts and value.texts.values is None:
        found = Domain(numbers=Numbers(int(value.texts.filled), math.inf, whole=True))
    elif value.texts:
        found = of_values(map(len, value.texts.values or ()))
    if constants & FILLED:
        found = found.union(Domain(numbers=Numbers(1, math.inf, whole=True)))
    return Computed(found.union(of_value(0)) if constants & EMPTY else found, raises=value.sized() != value)


def _extreme(choose: Callable[[Iterable[float]], float]) -> Callable[..., Computed]:
    def run(*values: Domain) -> Computed:
        if len(values) == 1:
            return Computed(NUMBER.union(TEXT), raises=True) if "[...]" in values[0].constants else FAILS
        found = NOTHING
        numbers = [value.numbers for value in values if value.numbers]
        if len(numbers) == len(values):
            least, most = choose(part.least for part in numbers), choose(part.most for part in numbers)
            found = Domain(numbers=Numbers(least, most, all(part.whole for part in numbers)))
        texts = [value.texts for value in values if value.texts]
        if len(texts) == len(values):
            found = replace(found, texts=reduce(TextSet.union, texts))
        uniform = all(value.is_number for value in values) or all(value.is_text for value in values)
        return Computed(found, raises=not uniform)

    return run


def _quantified(of_nothing: bool) -> Callable[[Domain], Computed]:  # noqa: FBT001
    def run(values: Domain) -> Computed:
        lists = values.constants & LISTS
        found = BOOL if "[...]" in lists else of_value(of_nothing) if lists else NOTHING
        return Computed(found, raises=Domain(lists) != values)

    return run


def _abs(value: Domain) -> Computed:
    if value.numbers is None:
        return FAILS
    raises = not value.is_number or not _is_small(value.numbers)
    return Computed(Domain(numbers=Numbers(0, whole=value.numbers.whole)), raises=raises)


def _round(value: Domain, digits: Domain | None = None) -> Computed:
    if value.numbers is None or (digits is not None and digits.numbers is None):
        return FAILS
    whole = value.numbers.whole or digits in {None, of_value(0)}
    raises = digits not in {None, of_value(0)} or not value.is_number or not _is_small(value.numbers)
    return Computed(Domain(numbers=Numbers(whole=whole)), raises=raises)


def _mapped(change: Callable[[str], str]) -> Callable[[Domain], Computed]:
    def run(text: Domain) -> Computed:
        if text.texts is None:
            return FAILS
        values = text.texts.values
        changed = TextSet(None if values is None else frozenset(map(change, values)), text.texts.filled)
        return Computed(Domain(texts=changed), raises=not text.is_text)

    return run


def _startswith(text: Domain, prefix: Domain) -> Computed:
    if text.texts is None or prefix.texts is None:
        return FAILS
    found = _of_pairs(str.startswith, text.texts, prefix.texts)
    return Computed(found, raises=not (text.is_text and prefix.is_text))


_FUNCTIONS: Mapping[str, Callable[..., Computed]] = {
    "len": _len,
    "min": _extreme(min),
    "max": _extreme(max),
    "any": _quantified(of_nothing=False),
    "all": _quantified(of_nothing=True),
    "abs": _abs,
    "round": _round,
    "lower": _mapped(str.lower),
    "upper": _mapped(str.upper),
    "startswith": _startswith,
    "contains": lambda container, part: contained(part, container),
}
