"""The operations of expressions over domains instead of values: what may come out, and whether it may or must fail.

Each function mirrors one of `bt_runtime.language.expressions.operations`. An empty result means that the operation
always raises. Results are upper bounds; where exact bounds would need care with rounding, they are wide.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from bt_runtime.language.expressions.domains import (
    ANY,
    BOOL,
    FALSE,
    LONGEST_TEXT,
    NOTHING,
    NUMBER,
    TEXT,
    TRUE,
    Domain,
    Numbers,
    TextSet,
    of_value,
)
from bt_runtime.language.expressions.operations import COMPARISONS

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
    if can_be_true:
        return BOOL if can_be_false else TRUE
    return FALSE if can_be_false else NOTHING


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
    results = {bool(compare(one, other)) for one, other in product(left.values, right.values)}
    return Domain(bools=frozenset(results))


def contained(item: Domain, container: Domain) -> Computed:
    """`item in container`, of a container whose items are not known."""
    found, raises = NOTHING, False
    if container.texts:
        raises = not item.is_text
        if item.texts:
            found = found.union(_of_pairs(lambda part, text: part in text, item.texts, container.texts))
    for filled in container.lists:
        found = found.union(truth(can_be_true=filled, can_be_false=True))
    for filled in container.maps:
        found = found.union(truth(can_be_true=filled and item.texts is not None, can_be_false=True))
    searchable = Domain(texts=container.texts, lists=container.lists, maps=container.maps)
    return Computed(found, raises=raises or searchable != container)


def among(item: Domain, items: Sequence[Domain]) -> Computed:
    """`item in [items]`."""
    results = [_equal(item, other) for other in items]
    return Computed(
        truth(
            can_be_true=any(result.can_be_true for result in results),
            can_be_false=all(result.can_be_false for result in results),
        )
    )


# --- arithmetic


def computed(operator: str, left: Domain, right: Domain) -> Computed:
    """`left OPERATOR right` of an arithmetic operator."""
    found = NOTHING
    raises = not (left.is_number and right.is_number)
    if left.numbers and right.numbers:
        numbers = _ARITHMETIC[operator](left.numbers, right.numbers)
        found = replace(found, numbers=numbers)
        raises = raises or _may_be_zero(operator, right.numbers)
        raises = raises or not all(part and _is_small(part) for part in (numbers, left.numbers, right.numbers))
    if operator == "Add":
        if left.texts and right.texts:
            found = replace(found, texts=_joined(left.texts, right.texts))
        joined = {one or other for one, other in product(left.lists, right.lists)}
        found = replace(found, lists=frozenset(joined))
        raises = raises or not (left.is_number and right.is_number)  # what is joined can become too long
    return Computed(found, raises=raises or found.is_empty)


def _is_small(numbers: Numbers) -> bool:
    return abs(numbers.least) < _EXACT and abs(numbers.most) < _EXACT


def _may_be_zero(operator: str, divisor: Numbers) -> bool:
    return operator in {"Div", "FloorDiv", "Mod"} and 0 in Numbers(divisor.least, divisor.most)


def _joined(left: TextSet, right: TextSet) -> TextSet:
    filled = left.filled or right.filled
    if left.values is None or right.values is None or len(left.values) * len(right.values) > _MOST_PAIRS:
        return TextSet(None, filled)
    if _longest(left.values) + _longest(right.values) > LONGEST_TEXT:
        return TextSet(None, filled)
    return TextSet(frozenset(one + other for one, other in product(left.values, right.values)), filled)


def _longest(values: Iterable[str]) -> int:
    return max(map(len, values), default=0)


def _bounded(least: float, most: float, *, whole: bool) -> Numbers:
    """An interval whose ends floats hold exactly, so that no rounding matters: larger ends are moved outwards."""
    low = -math.inf if math.isnan(least) or least <= -_EXACT else min(least, _EXACT)
    high = math.inf if math.isnan(most) or most >= _EXACT else max(most, -_EXACT)
    return Numbers(low, high, whole)


def _corners(compute: Callable[[float, float], float], left: Numbers, right: Numbers, *, whole: bool) -> Numbers:
    ends = [compute(one, other) for one, other in product((left.least, left.most), (right.least, right.most))]
    if any(math.isnan(end) for end in ends):
        return Numbers(whole=whole)
    return _bounded(min(ends), max(ends), whole=whole)


def _added(left: Numbers, right: Numbers) -> Numbers:
    return _bounded(left.least + right.least, left.most + right.most, whole=left.whole and right.whole)


def _subtracted(left: Numbers, right: Numbers) -> Numbers:
    return _bounded(left.least - right.most, left.most - right.least, whole=left.whole and right.whole)


def _times(left: float, right: float) -> float:
    return 0 if left == 0 or right == 0 else left * right  # infinity stands for large finite numbers


def _safe(numbers: Numbers) -> Numbers:
    """With ends that do not overflow."""
    return _bounded(numbers.least, numbers.most, whole=numbers.whole)


def _divided(left: Numbers, right: Numbers) -> Numbers | None:
    if right.only == 0:
        return None
    if right.least <= 0 <= right.most:
        return Numbers()
    return _corners(_quotient, _safe(left), _safe(right), whole=False)


def _quotient(left: float, right: float) -> float:
    if math.isinf(right):
        return math.nan if math.isinf(left) else 0.0
    return left / right


def _floor_divided(left: Numbers, right: Numbers) -> Numbers | None:
    found = _divided(left, right)
    if found is None:
        return None
    if left.whole and right.whole:
        return Numbers(_floor(found.least), _floor(found.most), whole=True)
    return _bounded(found.least - 2, found.most + 1, whole=False)


def _floor(value: float) -> float:
    return math.floor(value) if math.isfinite(value) else value


def _remainder(left: Numbers, right: Numbers) -> Numbers | None:
    if right.only == 0:
        return None
    whole = left.whole and right.whole
    step = 1 if whole else 0
    if right.least > 0:
        most = min(right.most - step, left.most) if left.least >= 0 else right.most - step
        return _bounded(0, most, whole=whole)
    if right.most < 0:
        return _bounded(right.least + step, 0, whole=whole)
    return Numbers(whole=whole)


_ARITHMETIC: Mapping[str, Callable[[Numbers, Numbers], Numbers | None]] = {
    "Add": _added,
    "Sub": _subtracted,
    "Mult": lambda left, right: _corners(_times, _safe(left), _safe(right), whole=left.whole and right.whole),
    "Div": _divided,
    "FloorDiv": _floor_divided,
    "Mod": _remainder,
}


def negated(value: Domain) -> Computed:
    """`-value`."""
    if value.numbers is None:
        return FAILS
    numbers = _bounded(-value.numbers.most, -value.numbers.least, whole=value.numbers.whole)
    return Computed(Domain(numbers=numbers), raises=not value.is_number or not _is_small(numbers))


# --- access and functions


def entry(container: Domain, key: str | int) -> Computed:
    """`container.key` or `container[key]`."""
    filled = container.maps if isinstance(key, str) else container.lists
    return Computed(ANY, raises=True) if True in filled else FAILS


def called(name: str, arguments: Sequence[Domain]) -> Computed:
    """A call of one of the functions."""
    return _FUNCTIONS[name](*arguments)


def _len(value: Domain) -> Computed:
    found = NOTHING
    if value.texts:
        found = found.union(_text_lengths(value.texts))
    for filled in value.lists | value.maps:
        found = found.union(Domain(numbers=Numbers(1, math.inf, whole=True) if filled else Numbers(0, 0, whole=True)))
    sized = Domain(texts=value.texts, lists=value.lists, maps=value.maps)
    return Computed(found, raises=sized != value)


def _text_lengths(texts: TextSet) -> Domain:
    if texts.values is None:
        return Domain(numbers=Numbers(int(texts.filled), math.inf, whole=True))
    lengths = [len(value) for value in texts.values]
    return Domain(numbers=Numbers(min(lengths), max(lengths), whole=True))


def _extreme(choose: Callable[[Iterable[float]], float]) -> Callable[..., Computed]:
    def run(*values: Domain) -> Computed:
        if len(values) == 1:
            return Computed(NUMBER.union(TEXT), raises=True) if True in values[0].lists else FAILS
        found = NOTHING
        numbers = [value.numbers for value in values if value.numbers]
        if len(numbers) == len(values):
            least, most = choose(part.least for part in numbers), choose(part.most for part in numbers)
            found = Domain(numbers=Numbers(least, most, all(part.whole for part in numbers)))
        texts = [value.texts for value in values if value.texts]
        if len(texts) == len(values):
            joined = texts[0]
            for part in texts[1:]:
                joined = joined.union(part)
            found = replace(found, texts=joined)
        uniform = all(value.is_number for value in values) or all(value.is_text for value in values)
        return Computed(found, raises=not uniform)

    return run


def _quantified(of_nothing: bool) -> Callable[[Domain], Computed]:  # noqa: FBT001
    def run(values: Domain) -> Computed:
        found = NOTHING
        for filled in values.lists:
            found = found.union(BOOL if filled else of_value(of_nothing))
        return Computed(found, raises=Domain(lists=values.lists) != values)

    return run


def _abs(value: Domain) -> Computed:
    if value.numbers is None:
        return FAILS
    least, most, whole = value.numbers.least, value.numbers.most, value.numbers.whole
    low = 0 if least <= 0 <= most else min(abs(least), abs(most))
    numbers = _bounded(low, max(abs(least), abs(most)), whole=whole)
    return Computed(Domain(numbers=numbers), raises=not value.is_number or not _is_small(numbers))


def _round(value: Domain, digits: Domain | None = None) -> Computed:
    if value.numbers is None or (digits is not None and digits.numbers is None):
        return FAILS
    if digits is None or digits == of_value(0):
        numbers = _bounded(_floor(value.numbers.least), _floor(value.numbers.most) + 1, whole=True)
        if value.numbers.whole:
            numbers = _safe(value.numbers)
        return Computed(Domain(numbers=numbers), raises=not value.is_number or not _is_small(numbers))
    return Computed(Domain(numbers=Numbers(whole=value.numbers.whole)), raises=True)


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
