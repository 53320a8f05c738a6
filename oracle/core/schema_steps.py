"""What the evaluation of a JSON schema comes to, counted before anything evaluates it.

A part of a schema that is reached in two ways is evaluated twice, and what doubles at every reference or at every level
of a value has no end in practice. So the steps are counted along references, for a value that goes as deep as it can:

- Parts that see the same value (`allOf`, `anyOf`, `if`, `$ref`, ...) are added up.
- A property or an item is one way down, and only the most expensive way is counted: a schema that refers to itself once
  for each property of a value takes as many steps as the value has parts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

from bt_runtime.text.phrases import clipped
from oracle.core.encoding import to_json

MOST_STEPS: Final = 10_000
"""Of one evaluation, along one way down."""
_MOST_TOGETHER: Final = 1_000  # parts that see the same value

_MANY: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_SAME: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_WAYS: Final = (
    ("properties", "additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"),
    ("prefixItems", "items", "additionalItems", "unevaluatedItems", "contains"),
)
_BESIDE: Final = frozenset({"patternProperties", "propertyNames", "contains"})
"""They see a property or an item together with the part that is named for it."""
_COMPARED: Final = ("const", "dependencies", "dependentRequired", "enum", "required", "type")


def own_steps(part: Mapping[str, Any]) -> int:
    """The steps that a part takes itself: one, one for each name, and one for each value that is compared."""
    names = sum(len(part[each]) for each in ("properties", "patternProperties") if isinstance(part.get(each), Mapping))
    return 1 + names + sum(map(_values, (part[each] for each in _COMPARED if each in part)))


def own_patterns(part: Mapping[str, Any]) -> int:
    """The patterns that a part holds a text against."""
    named = part.get("patternProperties")
    return ("pattern" in part) + (len(named) if isinstance(named, Mapping) else 0)


class Steps:
    """Counts the steps of a schema.

    Args:
        schema: plain JSON data of bounded size; its parts are told apart by their identity.
        own: counts the steps of one part without those of the parts within it.
    """

    def __init__(self, schema: Mapping[str, Any], own: Callable[[Mapping[str, Any]], int]) -> None:
        self._schema, self._own = schema, own
        self._places: dict[int, str] = {id(schema): "#"}
        self._together: dict[int, tuple[int, list[Mapping[str, Any]]]] = {}
        self._counted: dict[tuple[int, int], int] = {}
        self._left = 2_000 + 3 * len(to_json(schema))  # steps of the counting itself

    def most(self, levels: int) -> int:
        """The steps for a value of this many levels, along the most expensive way down.

        Raises:
            ValueError: there are too many, or a reference leads nowhere. The message names the place.
        """
        return self._most(self._schema, levels)

    def _most(self, part: Any, levels: int) -> int:  # noqa: ANN401  JSON data
        if not isinstance(part, Mapping):
            return 1
        key = (id(part), levels)
        if key not in self._counted:
            own, together = self._seen_together(part)
            steps = own + (max(self._below(together, ways, levels - 1) for ways in _WAYS) if levels else 0)
            if steps > MOST_STEPS:
                raise self._in_too_many_ways(part, f"{MOST_STEPS:,} steps for a value of {levels} levels")
            self._counted[key] = steps
        return self._counted[key]

    def _seen_together(self, part: Mapping[str, Any]) -> tuple[int, list[Mapping[str, Any]]]:
        """The parts that see the same value as this one, itself among them, and what they take themselves."""
        if id(part) not in self._together:
            found = [part]
            for each in found:
                found += [inner for _, _, inner in self._parts(each, _SAME) if isinstance(inner, Mapping)]
                if isinstance(each.get("$ref"), str) and isinstance(target := self._referred(each["$ref"]), Mapping):
                    found.append(target)
                if len(found) > _MOST_TOGETHER:
                    raise self._in_too_many_ways(each, f"{_MOST_TOGETHER:,} parts see one value")
            self._together[id(part)] = (sum(map(self._own, found)), found)
        own, found = self._together[id(part)]
        self._spend(len(found))
        return own, found

    def _below(self, together: Sequence[Mapping[str, Any]], ways: Sequence[str], levels: int) -> int:
        """The steps of the most expensive property, or item."""
        named: Counter[str | int] = Counter()
        every = 0  # of a property or item that no part names
        for part in together:
            beside = other = 0
            here: Counter[str | int] = Counter()
            for name, key, inner in self._parts(part, ways):
                steps = self._most(inner, levels)
                if name in _BESIDE:
                    beside += steps
                elif key is None:
                    other += steps
                else:
                    here[key] += steps
            every += beside + other
            for key, steps in here.items():
                named[key] += steps - other
        return every + max(0, *named.values()) if named else every

    def _parts(self, part: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, str | int | None, Any]]:
        """The schemas behind these keywords; where there are several, with their names or numbers."""
        for name in names:
            given = part.get(name)
            inner: Iterable[tuple[str | int | None, Any]] = [(None, given)]
            if isinstance(given, list):
                inner = enumerate(given)
            elif isinstance(given, Mapping) and name in _MANY:
                inner = given.items()
            for key, each in inner:
                if each is not None:
                    self._spend(1)
                    place = f"{self._places[id(part)]}/{name}" + ("" if key is None else f"/{key}")
                    self._places.setdefault(id(each), place)
                    yield name, key, each

    def _referred(self, reference: str) -> Any:  # noqa: ANN401
        """What a reference leads to; its characters may be escaped, as RFC 6901 (section 6) says."""
        found: Any = self._schema
        for step in unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            try:
                found = found[int(name) if isinstance(found, list) else name]
            except (KeyError, IndexError, TypeError, ValueError):
                raise ValueError(f"it refers to {clipped(reference)!r}, which it does not have") from None
        self._places.setdefault(id(found), reference)
        return found

    def _in_too_many_ways(self, part: Mapping[str, Any], more_than: str) -> ValueError:
        return ValueError(
            f"its part {clipped(self._places[id(part)])!r} is reached in too many ways: more than {more_than}"
        )

    def _spend(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            raise ValueError("its parts lead to each other in too many ways to be counted")


def _values(value: object) -> int:
    if isinstance(value, Mapping):
        return 1 + sum(map(_values, value.values()))
    return 1 + sum(map(_values, value)) if isinstance(value, list) else 1
