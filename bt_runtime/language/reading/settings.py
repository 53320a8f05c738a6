"""The settings of a node: validated by the kind's pydantic model, with mistakes in an author's words.

pydantic reports "Input should be a valid integer [type=int_type]" with a location of its own; authors get "'attempts'
must be a whole number, not 'three'" at the value in their file.

Where the value of a node does not name settings it has a shorthand form; the editor's completion asks the same
functions.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, get_origin

from pydantic import PydanticUserError, ValidationError

from bt_runtime.language.kind import ExpressionText, KeyType, Kind, Location, NodeSettings, Slot, Value, in_words
from bt_runtime.language.registry import setting_names
from bt_runtime.text import Mistake, Place, Suggestion, brief, closest, did_you_mean, listing
from bt_runtime.text.yaml_reader import Entry, YamlNode


def slot_named(kind: Kind, name: str | None) -> Slot | None:
    """The kind's slot of that name."""
    return next((slot for slot in kind.slots if slot.name == name), None)


def own_names(kind: Kind) -> frozenset[str]:
    """Every key that a mapping of the kind's settings may have."""
    return frozenset({"name", *setting_names(kind), *(slot.name for slot in kind.slots)})


def mapping_target(kind: Kind, keys: Collection[str], kinds: Collection[str]) -> str | None:
    """The setting or slot that a whole mapping sets; `None` if its keys are settings.

    Args:
        kind: the kind of the node whose value is a mapping.
        keys: the keys of the mapping, in the order of the file.
        kinds: the names of all kinds.
    """
    own = own_names(kind)
    if not keys or not own.isdisjoint(keys):
        return None
    if takes_mapping(kind, kind.shorthand):
        return kind.shorthand
    slots = [slot.name for slot in kind.slots if not slot.many]
    child = kind.shorthand if slot_named(kind, kind.shorthand) else (slots[0] if len(slots) == 1 else None)
    first = next(iter(keys))
    is_kind = first in kinds or (closest(first, own) is None and closest(first, kinds))
    return child if len(keys) == 1 and is_kind else None


def takes_mapping(kind: Kind, setting: str | None) -> bool:
    """Whether the value of a setting is a mapping."""
    for name, info in kind.settings.model_fields.items():
        if setting is not None and setting == (info.alias or name):
            origin = get_origin(info.annotation) or info.annotation
            return isinstance(origin, type) and issubclass(origin, Mapping)
    return False


Fill = Callable[[YamlNode], Value]
"""Gives the plain value of a setting."""
_TYPES: Mapping[object, KeyType] = {
    int: "int",
    float: "float",
    bool: "bool",
    str: "str",
    ExpressionText: "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "string": "str",
    "list": "list",
    "tuple": "list",
    "set": "list",
    "frozen_set": "list",
    "dict": "map",
    "model": "map",
    "mapping": "map",
    "dataclass": "map",
}
"""The types of settings and of pydantic's errors."""
_IN_WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than": lambda ctx: f"greater than {_number(ctx['gt'])}",
    "greater_than_equal": lambda ctx: f"at least {_number(ctx['ge'])}",
    "less_than": lambda ctx: f"less than {_number(ctx['lt'])}",
    "less_than_equal": lambda ctx: f"at most {_number(ctx['le'])}",
    "multiple_of": lambda ctx: f"a multiple of {_number(ctx['multiple_of'])}",
    "finite_number": lambda _ctx: "a finite number",
    "literal_error": lambda ctx: str(ctx["expected"]),
    "enum": lambda ctx: str(ctx["expected"]),
    "string_too_short": lambda ctx: f"text of at least {_count(ctx['min_length'], 'character')}",
    "string_too_long": lambda ctx: f"text of at most {_count(ctx['max_length'], 'character')}",
    "string_pattern_mismatch": lambda ctx: f"text that matches {ctx['pattern']}",
    "too_short": lambda ctx: f"something with at least {_count(ctx['min_length'], 'item')}",
    "too_long": lambda ctx: f"something with at most {_count(ctx['max_length'], 'item')}",
}
_OF_THE_RIGHT_TYPE = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite_number", "value_error"}
)
_UNKNOWN = frozenset({"extra_forbidden", "unexpected_keyword_argument"})
_SAMPLES: Mapping[KeyType, str] = {
    "int": "1",
    "float": "1.0",
    "bool": "true",
    "str": '""',
    "list": "[]",
    "map": "{}",
    "any": "null",
}
"""What is inserted for a setting that is missing."""
_LONGEST_FAULT = 500
_YAML_1_1_BOOLEANS = frozenset({"on", "off", "yes", "no", "y", "n"})


def read_settings(
    kind: Kind,
    entries: Mapping[str, Entry],
    *,
    fill: Fill,
    place: Place,
    path: str,
    mistakes: list[Mistake],
    subject: str = "",
) -> NodeSettings | None:
    """Validate settings as written; `None` if there are mistakes, which are added to `mistakes`.

    Args:
        kind: says what its settings are.
        entries: the settings.
        fill: may add mistakes.
        place: the place in the file for mistakes that concern all settings.
        path: the path of the node in the tree, for mistakes.
        mistakes: the list that gets new mistakes.
        subject: names something with such fields that is no node, with its article: `a scenario`.
    """
    before = len(mistakes)
    values = {name: fill(entry.node) for name, entry in entries.items()}
    if len(mistakes) > before:
        return None
    try:
        # As JSON, because that is what a file holds: there lists become tuples, and nothing else is coerced.
        return kind.settings.model_validate_json(json.dumps(values))
    except ValidationError as error:
        mistakes += _Reporter(kind, entries, place, path, subject).report(error)
    except Exception as error:  # noqa: BLE001  a kind of another package may raise anything
        mistakes.append(broken_kind(kind, error, place, path))
    return None


def broken_kind(kind: Kind, error: Exception, place: Place, path: str) -> Mistake:
    """A fault in the code of a kind, where a tree uses it."""
    message = f"the settings of {kind.name!r} cannot be read: {type(error).__name__}: {error}"
    return Mistake(place, message[:_LONGEST_FAULT], "the kind has a fault: correct its code, or do not use it", path)


def locate(entries: Mapping[str, Entry], at: Location) -> tuple[Entry | None, YamlNode | None]:
    """The entry at a location within the settings, and its value.

    `None` and the item for an item of a list; `None` for both if the author did not write it.
    """
    entry: Entry | None = None
    node: YamlNode | None = None
    for depth, part in enumerate(at):
        data = entries if depth == 0 else (node.data if node else None)
        if isinstance(data, Mapping) and isinstance(part, str) and part in data:
            entry = data[part]
            node = entry.node
        elif isinstance(data, tuple) and isinstance(part, int) and part < len(data):
            entry, node = None, data[part]
        else:
            return None, None
    return entry, node


class _Reporter:
    """Converts a validation error to mistakes with places."""

    def __init__(self, kind: Kind, entries: Mapping[str, Entry], place: Place, path: str, subject: str) -> None:
        self._kind = kind
        self._is_node = not subject
        self._whole = subject or repr(kind.name)
        self._entries = entries
        self._place = place
        self._path = path
        self._names = (*setting_names(kind), *(slot.name for slot in kind.slots))

    def report(self, error: ValidationError) -> list[Mistake]:
        wrong: dict[tuple[Place, str], list[Any]] = {}
        details = _of_the_shape_meant(error.errors(include_url=False), self._written)
        unknown = [self._unknown(each["loc"]) for each in details if each["type"] in _UNKNOWN]
        misspelt = {each.hint.instead for each in unknown if isinstance(each.hint, Suggestion)}
        mistakes = [*unknown]
        for detail in details:
            at = self._written(detail["loc"])
            if detail["type"] in _UNKNOWN:
                continue
            if detail["type"] == "missing":
                if at or detail["loc"][-1] not in misspelt:  # the one mistake is not reported twice
                    mistakes.append(self._missing(at, str(detail["loc"][-1])))
            else:
                place, subject = self._subject(at)
                wrong.setdefault((place, subject), []).append(detail)
        mistakes += [self._wrong(place, subject, details) for (place, subject), details in wrong.items()]
        return mistakes

    def _written(self, loc: Sequence[str | int]) -> Location:
        """The part of pydantic's location that is in the file: without union members and missing settings."""
        at: Location = ()
        for part in loc:
            if locate(self._entries, (*at, part))[1] is not None:
                at = (*at, part)
        return at

    def _subject(self, at: Location) -> tuple[Place, str]:
        """The place of a value, and its name in messages: `'with.limit'`, or the kind."""
        _, node = locate(self._entries, at)
        if node is None:
            return self._place, self._whole
        return node.place, brief("".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in at)[1:])

    def _unknown(self, loc: Location) -> Mistake:
        at = self._written(loc)
        entry, _ = locate(self._entries, at)
        name = str(at[-1]) if at else ""
        place = entry.place if entry else self._place
        if len(at) > 1:
            known = _names_at(self._kind.settings, loc[:-1])
            near = did_you_mean(name, known) or (f"it has: {listing(known)}" if known else None)
            return Mistake(
                place, f"{self._subject(at[:-1])[1]} has no {brief(name)}", near, self._path, "unknown-setting"
            )
        if name in {"child", "children"} and not self._kind.slots:
            message = f"{self._kind.name!r} has no children"
            return Mistake(
                place, message, "it is a leaf; put it into a sequence instead", self._path, "unknown-setting"
            )
        hint: str | None = did_you_mean(name, self._names)
        if hint is None:
            hint = f"it has: {listing(self._names)}" if self._names else "it has no settings"
        part = "setting" if self._is_node else "field"
        return Mistake(place, f"{self._whole} has no {part} {brief(name)}", hint, self._path, "unknown-setting")

    def _missing(self, at: Location, name: str) -> Mistake:
        place, subject = self._subject(at)
        field = self._kind.settings.model_fields.get(name) if self._is_node and not at else None
        key_type = _TYPES.get(field.annotation) if field is not None else None
        hint = None
        if key_type:
            # In braces it can be inserted; below each other it would need the indentation of the others.
            begin = f"{self._kind.name}: {{"
            hint = Suggestion(
                f"it is {in_words(key_type)}", written=begin, instead=f"{begin} {name}: {_SAMPLES[key_type]},"
            )
        return Mistake(place, f"{subject} needs {name!r}", hint, self._path, "missing-setting")

    def _wrong(self, place: Place, subject: str, details: list[Any]) -> Mistake:
        value = details[0]["input"]
        # A number out of bounds is judged as that number, although another type were allowed as well.
        details = [detail for detail in details if detail["type"] in _OF_THE_RIGHT_TYPE] or details
        wanted = list(dict.fromkeys(filter(None, map(_wanted, details))))
        if len(wanted) < len(details) and not wanted:
            said = "; ".join(dict.fromkeys(_message(detail) for detail in details))
            return Mistake(place, f"{subject}: {said}", None, self._path, "wrong-value")
        message = f"{subject} must be {' or '.join(wanted)}, not {brief(value)}"
        return Mistake(place, message, _hint(value, wanted, details), self._path, "wrong-value")


def _of_the_shape_meant(details: list[Any], written: Callable[[Location], Location]) -> list[Any]:
    """The errors without those of another type that a value could have had whose own parts are wrong."""
    found = [written(each["loc"]) for each in details]
    return [
        each
        for each, at in zip(details, found, strict=True)
        if each["type"] == "missing" or each["type"] in _UNKNOWN or not any(o[: len(at)] == at != o for o in found)
    ]


def _names_at(model: type[NodeSettings], loc: Location) -> list[str]:
    """The names that can stand at a location of pydantic; none if the model has no JSON Schema."""
    try:
        whole = model.model_json_schema()
    except PydanticUserError:
        return []

    def forms(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        inner = [*schema.get("anyOf", ()), *([defs[schema["$ref"].rpartition("/")[2]]] if "$ref" in schema else ())]
        return [schema, *(form for each in inner for form in forms(each))]

    defs = whole.get("$defs", {})
    level = forms(whole)
    for part in loc:  # members of unions are no parts of the schema
        below = [each.get("properties", {}).get(part, each.get("additionalProperties")) for each in level]
        below += [each.get("items") for each in level if isinstance(part, int)]
        level = [form for each in below if isinstance(each, Mapping) for form in forms(each)] or level
    return [name for each in level for name in each.get("properties", ())]


def _wanted(detail: Mapping[str, Any]) -> str | None:
    """A valid value in an author's words; `None` to use pydantic's message."""
    error_type: str = detail["type"]
    said = _IN_WORDS.get(error_type)
    if said is not None:
        return said(detail.get("ctx", {}))
    for ending in ("_type", "_parsing", "_from_float", "_required", "_attributes_type", "_parsing_size"):
        wanted = error_type.removesuffix(ending) if error_type.endswith(ending) else None
        if wanted == "none" or wanted in _TYPES:
            return "null" if wanted == "none" else in_words(_TYPES[wanted])
    return None


def _message(detail: Mapping[str, Any]) -> str:
    """The message of a validator."""
    message = str(detail["msg"])
    for prefix in ("Value error, ", "Assertion failed, "):
        message = message.removeprefix(prefix)
    return f"{message}, not {brief(detail['input'])}" if message.startswith("Input should") else message


def _hint(value: Value, wanted: list[str], details: list[Any]) -> str | None:
    if "true or false" in wanted and isinstance(value, str) and value.lower() in _YAML_1_1_BOOLEANS:
        right = "true" if value.lower() in {"on", "yes", "y"} else "false"
        return Suggestion("write true or false", written=value, instead=right)
    if "text" in wanted and isinstance(value, int | float | bool):
        written = str(value).lower() if isinstance(value, bool) else str(value)
        return Suggestion("put quotes around it", written=written, instead=f'"{written}"')
    choices = [part for detail in details for part in str(detail.get("ctx", {}).get("expected", "")).split("'")[1::2]]
    return did_you_mean(value, choices)


def _number(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
