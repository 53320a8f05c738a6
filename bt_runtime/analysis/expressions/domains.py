"""Sets of the values that an expression may have, as far as they are known before a run.

A `Domain` has a part for each JSON type. It may hold more values than are possible (it is an upper bound), never fewer.
All operations here keep that.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from bt_runtime.language.kind import Key, KeyType, Value
from bt_runtime.text.data import dataclass

MOST_TEXTS = 64
"""A set of more texts counts as any text."""
LONGEST_TEXT = 1_000
"""A longer text counts as any text, so that the analysis of a text that grows in a loop ends."""
_MOST_WHILE_WIDENING = 16
_EXACT = 2**50
"""Below this magnitude each whole number is a float too, and has floats between itself and the next."""
_LARGEST = 2**63
"""A number beyond it stands for all numbers beyond it."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """Finite numbers from `least` to `most`, both included; `whole`: none of them is a float, `3.0` neither."""

    least: float = -math.inf
    most: float = math.inf
    whole: bool = False

    @property
    def only(self) -> float | None:
        """The only value; `None` if there are several."""
        return self.least if self.least == self.most else None

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most and not (self.whole and isinstance(value, float))

    def within(self, least: float, most: float) -> "Numbers | None":
        """Those in an interval; `None` if there are none."""
        low, high = max(self.least, least), min(self.most, most)
        if self.whole:
            low = math.ceil(low) if math.isfinite(low) else low
            high = math.floor(high) if math.isfinite(high) else high
        return Numbers(low, high, self.whole) if low <= high else None

    def without(self, value: float) -> "Numbers | None":
        """Those other than a value; the same where it lies between the ends."""
        found: Numbers | None = self
        if found and found.least == value:
            found = found.within(above(value, whole=self.whole), math.inf)
        if found and found.most == value:
            found = found.within(-math.inf, -above(-value, whole=self.whole))
        return found

    def union(self, other: "Numbers") -> "Numbers":
        """The smallest interval around both."""
        return Numbers(min(self.least, other.least), max(self.most, other.most), self.whole and other.whole)


def above(value: float, *, whole: bool) -> float:
    """The least number that is larger than a value; the value itself where the next float is too far away."""
    if not math.isfinite(value):
        return value
    if whole:
        return math.floor(value) + 1
    return math.nextafter(value, math.inf) if abs(value) < _EXACT else value


@dataclass(frozen=True, slots=True)
class TextSet:
    """Texts: those of a finite set, or (`values` is `None`) all; without the empty one if `filled`."""

    values: frozenset[str] | None = None
    filled: bool = False

    @property
    def only(self) -> str | None:
        """The only value; `None` if there are several."""
        return next(iter(self.values)) if self.values is not None and len(self.values) == 1 else None

    def __contains__(self, value: str) -> bool:
        return (bool(value) or not self.filled) and (self.values is None or value in self.values)

    def among(self, values: Iterable[str]) -> "TextSet | None":
        """Those of a finite set; `None` if there are none."""
        found = frozenset(value for value in values if value in self)
        return TextSet(found, "" not in found) if found else None

    def without(self, value: str) -> "TextSet | None":
        """Those other than a value."""
        if self.values is not None:
            return self.among(self.values - {value})
        return replace(self, filled=self.filled or value == "")

    def union(self, other: "TextSet") -> "TextSet":
        """Those of both."""
        if self.values is None or other.values is None or len(self.values | other.values) > MOST_TEXTS:
            return TextSet(None, self.filled and other.filled)
        return TextSet(self.values | other.values, self.filled and other.filled)


PartT = TypeVar("PartT", Numbers, TextSet)

Constant = bool | str | None
LISTS: Final = frozenset({"[]", "[...]"})
MAPS: Final = frozenset({"{}", "{...}"})
EMPTY: Final = frozenset({"[]", "{}"})
FILLED: Final = frozenset({"[...]", "{...}"})
_FALSY: Final[frozenset[Constant]] = EMPTY | {None, False}


@dataclass(frozen=True, slots=True)
class Domain:
    """Possible values; a domain without any is empty: nothing is possible.

    Args:
        constants: which of null, true and false are possible, and which lists and maps, of which it is known whether
            they have items: `"[]"`, `"[...]"`, `"{}"`, `"{...}"`.
        numbers: the possible numbers.
        texts: the possible texts.
    """

    constants: frozenset[Constant] = frozenset()
    numbers: Numbers | None = None
    texts: TextSet | None = None

    @property
    def is_empty(self) -> bool:
        """No value is possible."""
        return not (self.constants or self.numbers or self.texts)

    @property
    def can_be_true(self) -> bool:
        """Some value counts as true."""
        return not self.truthy().is_empty

    @property
    def can_be_false(self) -> bool:
        """Some value counts as false."""
        return not self.falsy().is_empty

    @property
    def is_text(self) -> bool:
        """Every value is a text."""
        return self.texts is not None and not (self.constants or self.numbers)

    @property
    def is_number(self) -> bool:
        """Every value is a number."""
        return self.numbers is not None and not (self.constants or self.texts)

    @property
    def is_single(self) -> bool:
        """All values are equal to each other (`1` and `1.0` are)."""
        part = self.numbers or self.texts
        if part is None or self.constants or (self.numbers and self.texts):
            return part is None and len(self.constants) == 1 and self.constants.isdisjoint(FILLED)
        return part.only is not None

    def __contains__(self, value: Value) -> bool:
        if isinstance(value, str):
            return self.texts is not None and value in self.texts
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self.numbers is not None and value in self.numbers
        return of_value(value).constants <= self.constants

    def truthy(self) -> "Domain":
        """The values that count as true."""
        return Domain(
            self.constants - _FALSY, self.numbers and self.numbers.without(0), self.texts and self.texts.without("")
        )

    def falsy(self) -> "Domain":
        """The values that count as false."""
        return Domain(
            self.constants & _FALSY, self.numbers and self.numbers.within(0, 0), self.texts and self.texts.among([""])
        )

    def sized(self) -> "Domain":
        """The values that have a length."""
        return Domain(self.constants & (LISTS | MAPS), texts=self.texts)

    def union(self, other: "Domain") -> "Domain":
        """The values of either domain."""
        if self is other or other.is_empty:
            return self
        numbers, texts = _either(self.numbers, other.numbers), _either(self.texts, other.texts)
        return Domain(self.constants | other.constants, numbers, texts)

    def widened(self, newer: "Domain") -> "Domain":
        """The union without the bounds that have moved, so that repeated widening ends after a few steps."""
        found = self.union(newer)
        numbers, texts = found.numbers, found.texts
        if self.numbers and numbers and numbers != self.numbers:
            least = -math.inf if numbers.least < self.numbers.least else numbers.least
            numbers = Numbers(least, math.inf if numbers.most > self.numbers.most else numbers.most, numbers.whole)
        if self.texts and texts and texts != self.texts and len(texts.values or ()) > _MOST_WHILE_WIDENING:
            texts = TextSet(None, texts.filled)
        return replace(found, numbers=numbers, texts=texts)

    def equal_to(self, other: "Domain") -> "Domain":
        """The values that may equal one of another domain; `1` and `1.0` are equal."""
        both = self.numbers and other.numbers
        numbers = self.numbers.within(both.least, both.most) if self.numbers and both else None
        return Domain(self.constants & other.constants, numbers, _common(self.texts, other.texts))

    def meet(self, other: "Domain") -> "Domain":
        """The values of both domains."""
        found = self.equal_to(other)
        if found.numbers and other.numbers and other.numbers.whole:
            return replace(found, numbers=Numbers(whole=True).within(found.numbers.least, found.numbers.most))
        return found

    def unequal_to(self, other: "Domain") -> "Domain":
        """The values that may differ from those of another domain: all, unless that has exactly one value."""
        if not other.is_single:
            return self
        numbers, texts = self.numbers, self.texts
        if numbers and other.numbers:
            numbers = numbers.without(other.numbers.least)
        if texts and other.texts and other.texts.only is not None:
            texts = texts.without(other.texts.only)
        return Domain(self.constants - other.constants, numbers, texts)

    def __str__(self) -> str:
        """In an author's words: `text, or null`."""
        if self == ANY:
            return "any value"
        words = [_numbers_in_words(self.numbers)] if self.numbers else []
        if self.texts:
            words += ["text"] if self.texts.values is None else map(repr, sorted(self.texts.values))
        words += [word for constants, word in _WORDS if constants & self.constants]
        return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "nothing"


NOTHING: Final = Domain()
NULL: Final = Domain(frozenset({None}))
TRUE: Final = Domain(frozenset({True}))
FALSE: Final = Domain(frozenset({False}))
BOOL: Final = Domain(frozenset({True, False}))
NUMBER: Final = Domain(numbers=Numbers())
TEXT: Final = Domain(texts=TextSet())
ANY: Final = Domain(_FALSY | FILLED | {True}, Numbers(), TextSet())

_WORDS: Final[Sequence[tuple[frozenset[Constant], str]]] = (
    (TRUE.constants, "true"),
    (FALSE.constants, "false"),
    (LISTS, "a list"),
    (MAPS, "a map"),
    (NULL.constants, "null"),
)
_BY_TYPE: Mapping[KeyType, Domain] = {
    "int": Domain(numbers=Numbers(whole=True)),
    "float": NUMBER,
    "str": TEXT,
    "bool": BOOL,
    "list": Domain(LISTS),
    "map": Domain(MAPS),
    "any": ANY,
}


def of_type(key_type: KeyType, *, null: bool = False) -> Domain:
    """The values of a declared type; with null only if so stated, or if the type is `any`."""
    return _BY_TYPE[key_type].union(NULL if null else NOTHING)


def of_value(value: Value) -> Domain:
    """Exactly one value; of lists and maps only whether they are empty."""
    if value is None or isinstance(value, bool):
        return Domain(frozenset({value}))
    if isinstance(value, int | float):
        return Domain(numbers=_number(value))
    if isinstance(value, str):
        return Domain(texts=TextSet(frozenset({value}) if len(value) <= LONGEST_TEXT else None, bool(value)))
    return Domain((MAPS if isinstance(value, Mapping) else LISTS) & (FILLED if value else EMPTY))


def _number(value: float) -> Numbers:
    whole = isinstance(value, int)
    if abs(value) <= _LARGEST:
        return Numbers(value, value, whole)
    return Numbers(_LARGEST, math.inf, whole) if value > 0 else Numbers(-math.inf, -_LARGEST, whole)


def of_values(values: Iterable[Value]) -> Domain:
    """The smallest domain with these values."""
    found = NOTHING
    for value in values:
        found = found.union(of_value(value))
    return found


def of_key(key: Key) -> Domain:
    """What a blackboard key may hold by its declaration; null only if that is its first value."""
    found = of_type(key.type)
    if key.values is not None:
        found = found.meet(of_values(key.values))
    if found.numbers and (key.least is not None or key.most is not None):
        least = -math.inf if key.least is None else key.least
        numbers = found.numbers.within(least, math.inf if key.most is None else key.most)
        found = replace(found, numbers=numbers)
    return found.union(NULL if key.default is None else NOTHING)


def _either(one: PartT | None, other: PartT | None) -> PartT | None:
    return one.union(other) if one and other else one or other


def _common(one: TextSet | None, other: TextSet | None) -> TextSet | None:
    if one is None or other is None:
        return None
    if one.values is not None or other.values is not None:
        finite, rest = (one, other) if one.values is not None else (other, one)
        found = rest.among(finite.values or ())
        return one.among(found.values or ()) if found else None
    return TextSet(None, one.filled or other.filled)


def _numbers_in_words(numbers: Numbers) -> str:
    word = "a whole number" if numbers.whole else "a number"
    if numbers.only is not None:
        return f"{numbers.only:g}" if abs(numbers.only) < _EXACT else f"{numbers.only}"
    if math.isfinite(numbers.least) and math.isfinite(numbers.most):
        return f"{word} from {numbers.least:g} to {numbers.most:g}"
    if math.isfinite(numbers.least):
        return f"{word} from {numbers.least:g} on"
    return f"{word} up to {numbers.most:g}" if math.isfinite(numbers.most) else word
