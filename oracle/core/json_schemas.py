"""Untrusted JSON schemas: checking values against them, within a bounded amount of work.

The steps of an evaluation are counted before anything evaluates a schema. A part of a schema that is reached in two
ways is evaluated twice, and work that doubles at every reference or level of a value never ends in practice. So the
steps are counted along references, for a value that goes as deep as it can:

- Parts that see the same value (`allOf`, `anyOf`, `if`, `$ref`, ...) are added up.
- A property or an item is one way down, and only the most expensive way is counted: a schema that refers to itself once
  for each property of a value takes as many steps as the value has parts.

They come with tools of clients and servers, and with what trees ask people.

Rules:

- A schema is read by `checked_schema` before anything else reads it: its size first, then its depth, its keywords, and
  the steps that its evaluation takes. Patterns are compiled only where a value is checked.
- A value is checked if size and steps allow; the patterns that it is matched against are bounded too.
- Nothing that a schema refers to is fetched.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from bt_runtime.text.phrases import clipped
from oracle.core.encoding import from_json, to_json

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


LARGEST_SCHEMA: Final = 16_000
"""Bytes, as JSON."""
DEEPEST_SCHEMA: Final = 16
DEEPEST: Final = 64
"""Levels of a value that is checked; the checker's own stack has no bound."""

_LARGEST_KEPT: Final = 200_000  # bytes of a schema that was accepted, or made of the options of a tree
_DYNAMIC: Final = ("$dynamicRef", "$recursiveRef")
_DRAFTS: Final = (
    *(f"http://json-schema.org/draft-0{n}/schema" for n in (4, 6, 7)),
    *(f"https://json-schema.org/draft/{each}/schema" for each in ("2019-09", "2020-12")),
)
_MOST_WORK: Final = 400_000  # steps of a schema, for each part of a value; half a second with a long enum in errors
_MOST_MATCHED: Final = 40_000  # characters of a value, for each pattern that they are held against
_MOST_PATTERN_STEPS: Final = 100_000
_PATTERN_STEPS: Final = 2_000  # a millisecond: what the compilation of any pattern takes, within `_REGEX_BYTES`
_REGEX_BYTES: Final = 400_000
_MOST_TRIES: Final = 1_000  # of a pattern that looks around or back, at one text
_MOST_MISTAKES: Final = 20
_LONGEST: Final = 300  # characters of a problem


class Misfit(NamedTuple):
    """A part of a value that a schema refuses.

    Args:
        place: keys and indexes that lead to it.
        problem: one sentence without a full stop: what the schema wants there.
    """

    place: Sequence[str | int]
    problem: str


def checked_schema(given: object, *, most_bytes: int = LARGEST_SCHEMA) -> dict[str, Any]:
    """The schema as plain JSON data.

    Args:
        given: not checked yet.
        most_bytes: the largest size of the schema as JSON.

    Raises:
        ValueError: it is not a JSON schema, is too large, or its evaluation may take too many steps.
    """
    try:
        data = to_json(given)
    except (TypeError, RecursionError) as error:
        raise ValueError(f"its schema is no JSON data: {error}") from None
    if len(data) > most_bytes:
        raise ValueError(f"its schema has {len(data):,} bytes as JSON; at most {most_bytes:,} are read")
    if not isinstance(given, Mapping) or is_deeper(given, DEEPEST_SCHEMA):
        raise ValueError(f"its schema is a JSON object of at most {DEEPEST_SCHEMA} levels")
    schema: dict[str, Any] = from_json(data)
    _check_keywords(schema)
    import jsonschema_rs  # noqa: PLC0415  15 MB, for who brings a schema

    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(f"this is no JSON schema: {clipped(error.message, _LONGEST)}") from None
    _check_patterns(schema)
    Steps(schema, own_steps).most(DEEPEST_SCHEMA)
    return schema


def misfits(schema: Mapping[str, Any], value: Any) -> list[Misfit]:  # noqa: ANN401  JSON data
    """The parts of the value that the schema refuses; only some if there are many.

    Raises:
        ValueError: the schema is wrong, or the value is too deep or too large to be checked.
    """
    if is_deeper(value, DEEPEST):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    schema = checked_schema(schema, most_bytes=_LARGEST_KEPT)
    levels, parts, characters = _sizes(value)
    work = parts * Steps(schema, own_steps).most(levels)
    matched = characters * Steps(schema, own_patterns).most(levels)
    for name, given, most in (("steps", work, _MOST_WORK), ("characters of patterns", matched, _MOST_MATCHED)):
        if given > most:
            raise ValueError(f"it is too large for its schema: {given:,} {name}; at most {most:,} are checked")
    import jsonschema_rs  # noqa: PLC0415

    options = jsonschema_rs.FancyRegexOptions(_MOST_TRIES, _REGEX_BYTES, _REGEX_BYTES)
    try:
        validator = jsonschema_rs.validator_for(schema, retriever=_fetch_nothing, pattern_options=options)
    except jsonschema_rs.ValidationError as error:
        raise ValueError(f"this is no JSON schema: {clipped(error.message, _LONGEST)}") from None
    found = islice(validator.iter_errors(value), _MOST_MISTAKES)
    return [Misfit(tuple(error.instance_path), clipped(error.message, _LONGEST)) for error in found]  # it has the value


def is_deeper(value: Any, levels: int) -> bool:  # noqa: ANN401  JSON data
    """Whether the value has more levels of arrays and objects."""
    if not isinstance(value, Mapping | list | tuple):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return levels <= 0 or any(is_deeper(each, levels - 1) for each in inner)


def _check_keywords(schema: Mapping[str, Any]) -> None:
    """Refuse what moves the place that references are read from, or leads elsewhere: steps could not be counted."""
    draft = schema.get("$schema", _DRAFTS[-1])
    if not isinstance(draft, str) or draft.removesuffix("#") not in _DRAFTS:
        raise ValueError(f"there is no JSON schema of the kind {clipped(str(draft))!r}; {_DRAFTS[-1]!r} is one")
    for part in objects_in(schema):
        if name := next((each for each in _DYNAMIC if isinstance(part.get(each), str)), None):
            raise ValueError(f"a schema refers to its parts by '$ref', not by {name!r}")
        moving = ("$id", "id", "$schema")
        if part is not schema and (name := next((each for each in moving if isinstance(part.get(each), str)), None)):
            raise ValueError(f"parts of a schema have no {name!r} of their own")
        reference = part.get("$ref", "#")
        if isinstance(reference, str) and reference != "#" and not reference.startswith("#/"):
            raise ValueError(
                f"a schema may refer to its own parts alone, as '#/$defs/name', not to {clipped(reference)!r}"
            )


def _check_patterns(schema: Mapping[str, Any]) -> None:
    steps = 0
    for part in objects_in(schema):
        named = part.get("patternProperties")
        for pattern in (part.get("pattern"), *(named if isinstance(named, Mapping) else ())):
            if isinstance(pattern, str):
                # The compiler begins anew at each `\w`, `\d`, `\s` (seen with jsonschema_rs 0.60).
                steps += _PATTERN_STEPS + len(pattern) * pattern.count("\\")
                if not _regex().is_valid(pattern):
                    raise ValueError(f"this is no JSON schema: {clipped(pattern)!r} is no regular expression")
    if steps > _MOST_PATTERN_STEPS:
        raise ValueError(
            f"its patterns take {steps:,} steps to read; at most {_MOST_PATTERN_STEPS:,} are taken: "
            f"{_PATTERN_STEPS:,} for each, and its length for each backslash in it"
        )


@cache
def _regex() -> Any:  # noqa: ANN401  a type of the library
    import jsonschema_rs  # noqa: PLC0415

    return jsonschema_rs.validator_for({"format": "regex"}, validate_formats=True)


def objects_in(value: Any) -> Iterator[Mapping[str, Any]]:  # noqa: ANN401
    """The value, if it is an object, and all objects in it."""
    if isinstance(value, Mapping):
        yield value
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from objects_in(each)


def _sizes(value: Any) -> tuple[int, int, int]:  # noqa: ANN401
    """The levels of a value, its parts, and the characters of its texts and names."""
    levels = parts = characters = 0
    layer = [value]
    while layer:
        levels, parts = levels + 1, parts + len(layer)
        characters += sum(len(each) for each in layer if isinstance(each, str))
        named = [each for each in layer if isinstance(each, Mapping)]
        characters += sum(len(name) for each in named for name in each)
        layer = [inner for each in named for inner in each.values()] + [
            inner for each in layer if isinstance(each, list | tuple) for inner in each
        ]
    return levels, parts, characters


def _fetch_nothing(address: str) -> Any:  # noqa: ANN401
    raise ValueError(f"a schema may refer to its own parts alone, not to {address}")
