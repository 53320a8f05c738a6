"""The operations of expressions; each checks its operands and bounds its result."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence

from bt_runtime.language.kind import Value
from bt_runtime.text import brief, extent
from bt_runtime.text.data import dataclass

LARGEST_INT = 2**63 - 1
LONGEST_TEXT = 100_000
LONGEST_LIST = 10_000
"""Items, those of the lists and maps in it among them: a list of two times itself doubles with each step."""

_NUMBERS = frozenset({int, float})
_FLAT = frozenset({str, int, float, bool, type(None)})


class OperandError(Exception):
    """Operands of the wrong type or size; the caller adds the column and raises an `ExpressionError`."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def bounded_number(value: float, done: str) -> float:
    """The number, if JSON readers accept it: at most 64 bits, finite.

    Raises:
        OperandError: it is too large, or not a real number.
    """
    if _is_bounded(value):
        return value
    raise OperandError(
        f"{done} is too large for 64 bits" if isinstance(value, int) else f"{done} is not a finite number"
    )


def _is_bounded(value: float) -> bool:
    return -LARGEST_INT <= value <= LARGEST_INT if isinstance(value, int) else math.isfinite(value)


def is_number(value: object) -> bool:
    """Whether it is an `int` or a `float`; true and false are not."""
    return type(value) in _NUMBERS or (isinstance(value, int | float) and not isinstance(value, bool))


def _null_hint(*operands: object) -> str | None:
    return "null means that there is no value yet: test with 'is not null' first" if None in operands else None


# --- comparisons


def equal(left: Value, right: Value) -> bool:
    """Whether two values are the same JSON value; different types never are, and lists may be tuples."""
    if type(left) is not type(right):
        if isinstance(left, bool) or isinstance(right, bool):
            return False
        if isinstance(left, list | tuple) and isinstance(right, list | tuple):
            return list(left) == list(right)
    return bool(left == right)


def _ordering(symbol: str, compare: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def run(left: Value, right: Value) -> bool:
        if type(left) in _NUMBERS and type(right) in _NUMBERS:
            return compare(left, right)
        if (isinstance(left, str) and isinstance(right, str)) or (is_number(left) and is_number(right)):
            return compare(left, right)
        message = f"{brief(left)} {symbol} {brief(right)} compares neither two numbers nor two texts"
        raise OperandError(message, _null_hint(left, right))

    return run


def contained(item: Value, container: Value) -> bool:
    """`item in container`: a part of a text, an item of a list, a key of a map."""
    if isinstance(container, str):
        if isinstance(item, str):
            return item in container
        raise OperandError(f"{brief(item)} in {brief(container)} searches a text for something that is not a text")
    if isinstance(container, list | tuple):
        return any(equal(item, other) for other in container)
    if isinstance(container, Mapping):
        return isinstance(item, str) and item in container
    message = f"{brief(item)} in {brief(container)} searches something that is not a text, list or map"
    raise OperandError(message, _null_hint(container))


COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "Eq": equal,
    "NotEq": lambda left, right: not equal(left, right),
    "Lt": _ordering("<", operator.lt),
    "LtE": _ordering("<=", operator.le),
    "Gt": _ordering(">", operator.gt),
    "GtE": _ordering(">=", operator.ge),
    "In": contained,
    "NotIn": lambda item, container: not contained(item, container),
    "Is": operator.is_,
    "IsNot": operator.is_not,
}

# --- arithmetic


def _arithmetic(symbol: str, compute: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def run(left: Value, right: Value) -> Value:
        if not (is_number(left) and is_number(right)):
            message = f"{brief(left)} {symbol} {brief(right)} does not compute with two numbers"
            raise OperandError(message, _null_hint(left, right))
        for operand in (left, right):
            if not _is_bounded(operand):
                bounded_number(operand, brief(operand))
        try:
            value = compute(left, right)
        except ZeroDivisionError:
            raise OperandError(f"{brief(left)} {symbol} {brief(right)} divides by zero") from None
        except OverflowError:
            raise OperandError(f"{brief(left)} {symbol} {brief(right)} is too large") from None
        return value if _is_bounded(value) else bounded_number(value, f"{brief(left)} {symbol} {brief(right)}")

    return run


_add_numbers = _arithmetic("+", operator.add)


def add(left: Value, right: Value) -> Value:
    """`left + right`: numbers, texts, or lists."""
    if isinstance(left, str) and isinstance(right, str):
        if len(left) + len(right) > LONGEST_TEXT:
            raise OperandError(f"the text of {brief(left)} + {brief(right)} is longer than {LONGEST_TEXT:,} characters")
        return left + right
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return bounded_list([*left, *right])
    if isinstance(left, str | list | tuple) or isinstance(right, str | list | tuple):
        message = f"{brief(left)} + {brief(right)} joins neither two texts nor two lists"
        raise OperandError(message, _null_hint(left, right))
    return _add_numbers(left, right)


def negative(value: Value) -> Value:
    """`-value`."""
    if not is_number(value):
        raise OperandError(f"-{brief(value)} is not the negative of a number", _null_hint(value))
    return bounded_number(-value, f"-{brief(value)}")


ARITHMETIC: Mapping[str, Callable[[Value, Value], Value]] = {
    "Add": add,
    "Sub": _arithmetic("-", operator.sub),
    "Mult": _arithmetic("*", operator.mul),
    "Div": _arithmetic("/", operator.truediv),
    "FloorDiv": _arithmetic("//", operator.floordiv),
    "Mod": _arithmetic("%", operator.mod),
}


def bounded_list(items: list[Value]) -> list[Value]:
    """The list, if it is not too long.

    Raises:
        OperandError: it has too many items, with those of the lists and maps in it.
    """
    count = len(items)
    if not _FLAT.issuperset(map(type, items)):
        count = extent(items, most=LONGEST_LIST, with_texts=False)
    if count > LONGEST_LIST:
        raise OperandError(f"the list {brief(items)} has more than {LONGEST_LIST:,} items, at all levels")
    return items


# --- access


def entry(container: Value, key: str | int) -> Value:
    """The value of a map's key, or the item of a list; never an attribute of an object."""
    if isinstance(container, Mapping) and isinstance(key, str):
        if key in container:
            return container[key]
        names = ", ".join(sorted(brief(name) for name in list(container)[:12])) or "none"
        raise OperandError(f"there is no key {key!r} in {brief(container)}", f"its keys: {names}")
    if isinstance(container, list | tuple) and isinstance(key, int):
        if -len(container) <= key < len(container):
            return container[key]
        raise OperandError(f"there is no item {key} in {brief(container)}", f"it has {len(container)}")
    wanted = "a map" if isinstance(key, str) else "a list"
    raise OperandError(f"{brief(container)} is not {wanted} with {key!r} in it", _null_hint(container))


# --- functions


def _one_of(value: Value, types: type | tuple[type, ...], call: str, wanted: str) -> Value:
    if isinstance(value, types):
        return value
    raise OperandError(f"{call} takes {wanted}, not {brief(value)}", _null_hint(value))


def _len(value: Value) -> int:
    return len(_one_of(value, (str, list, tuple, Mapping), "len", "a text, a list or a map"))


def _extreme(call: str, choose: Callable[[Sequence[Value]], Value]) -> Callable[..., Value]:
    def run(*values: Value) -> Value:
        items = _one_of(values[0], (list, tuple), call, "a list, or several values") if len(values) == 1 else values
        if not items:
            raise OperandError(f"{call} of an empty list")
        if all(map(is_number, items)) or all(isinstance(item, str) for item in items):
            return choose(items)
        raise OperandError(f"{call} takes only numbers or only texts, not {brief(list(items))}", _null_hint(*items))

    return run


def _number(value: Value, call: str) -> Value:
    if not is_number(value):
        raise OperandError(f"{call} takes a number, not {brief(value)}", _null_hint(value))
    return bounded_number(value, brief(value))


def _round(value: Value, digits: Value = 0) -> Value:
    number = _number(value, "round")
    if not isinstance(digits, int) or isinstance(digits, bool) or not -15 <= digits <= 15:
        raise OperandError(f"round takes from -15 to 15 digits, not {brief(digits)}")
    return bounded_number(round(number, digits) if digits else round(number), f"round({brief(value)})")


def _startswith(text: Value, prefix: Value) -> bool:
    checked = _one_of(text, str, "startswith", "two texts")
    return bool(checked.startswith(_one_of(prefix, str, "startswith", "two texts")))


@dataclass(frozen=True, slots=True)
class Function:
    """A function of expressions, with its number of arguments."""

    usage: str
    least: int
    most: int
    run: Callable[..., Value]


FUNCTIONS: Mapping[str, Function] = {
    "len": Function("len(value)", 1, 1, _len),
    "min": Function("min(list) or min(a, b, …)", 1, 20, _extreme("min", min)),
    "max": Function("max(list) or max(a, b, …)", 1, 20, _extreme("max", max)),
    "any": Function("any(list)", 1, 1, lambda values: any(_one_of(values, (list, tuple), "any", "a list"))),
    "all": Function("all(list)", 1, 1, lambda values: all(_one_of(values, (list, tuple), "all", "a list"))),
    "abs": Function("abs(number)", 1, 1, lambda value: abs(_number(value, "abs"))),
    "round": Function("round(number) or round(number, digits)", 1, 2, _round),
    "lower": Function("lower(text)", 1, 1, lambda text: _one_of(text, str, "lower", "a text").lower()),
    "upper": Function("upper(text)", 1, 1, lambda text: _one_of(text, str, "upper", "a text").upper()),
    "startswith": Function("startswith(text, prefix)", 2, 2, _startswith),
    "contains": Function(
        "contains(text, part) or contains(list, item)", 2, 2, lambda container, part: contained(part, container)
    ),
}
