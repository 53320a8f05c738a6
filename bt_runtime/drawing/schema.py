"""The JSON Schema of tree files, for completion and validation in editors.

It describes shapes only: kinds, settings, children, shorthands. Expressions, blackboard keys, names among siblings and
subtrees are checked by the reader; the schema accepts whatever the reader accepts.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bt_runtime.language.kind import KEY_TYPES, Kind, Slot, argument_meanings
from bt_runtime.language.reading.declared_rules import MOST_RULES, MOST_TIMES
from bt_runtime.language.reading.header import TREE_NAME
from bt_runtime.language.registry import NAME, Registry
from bt_runtime.language.rule import COUNTED, ENFORCEMENTS, SYMMETRIC, TEMPLATES, UNARY, EventType, Template

Schema = dict[str, Any]

_NODE: Schema = {"$ref": "#/$defs/node"}
_EVENT: Schema = {"$ref": "#/$defs/event"}
_COUNTED_EVENT: Schema = {"$ref": "#/$defs/event.counted"}
_PLACEHOLDER: Schema = {"type": "string", "pattern": r"\$\{"}
_OF_KEYS: Schema = {
    "from": {"const": "delivery", "description": "Its value comes from outside while the tree runs."},
    "private": {"type": "boolean", "description": "Each inclusion of this tree has a copy of its own."},
}
_NESTED = ("items", "additionalProperties", "contains", "not")
_NESTED_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


def tree_schema(registry: Registry) -> Schema:
    """The schema (2020-12) of the tree files that may use these kinds."""
    definitions: Schema = {"node": _node_schema(registry), "rule": _rule_schema(), **_event_schemas(registry)}
    for kind in registry.kinds.values():
        definitions |= _kind_schemas(kind)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Behavior tree",
        "type": "object",
        "properties": {
            "tree": {
                "type": "string",
                "pattern": f"^{TREE_NAME.pattern}$",
                "description": "Its name, equal to that of the file.",
            },
            "description": {"type": ["string", "null"], "description": "One sentence about it."},
            "internal": {"type": "boolean", "description": "A part of other trees, not run by itself."},
            "blackboard": _declarations("Keys that its nodes read and write.", _OF_KEYS),
            "parameters": _declarations("Values that a tree which includes this one may set."),
            "rules": {
                "type": ["array", "null"],
                "description": "Sentences that hold for every run: verified, judged on recordings, enforced.",
                "items": {"$ref": "#/$defs/rule"},
                "maxItems": MOST_RULES,
            },
            "root": {**_NODE, "description": "The topmost node."},
        },
        "required": ["tree", "root"],
        "additionalProperties": False,
        "$defs": definitions,
    }


def _declarations(description: str, more: Schema | None = None) -> Schema:
    key_type = {"enum": list(KEY_TYPES)}
    whole = {
        "type": "object",
        "properties": {"type": key_type, "default": {}, "description": {"type": "string"}, **(more or {})},
        "required": ["type"],
        "additionalProperties": False,
    }
    return {
        "type": ["object", "null"],
        "description": description,
        "propertyNames": {"pattern": f"^{NAME.pattern}$"},
        "additionalProperties": {"anyOf": [key_type, whole]},
    }


def _rule_schema() -> Schema:
    """A rule: a name, a sentence, and one of the templates."""
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": f"^{NAME.pattern}$", "description": "Unique in a tree."},
            "text": {"type": "string", "minLength": 1, "description": "The sentence, for people."},
            "after": {**_EVENT, "description": "The rule holds for what comes after the first of these events."},
            "enforce": {"enum": list(ENFORCEMENTS), "description": "What happens if a run breaks the rule."},
            **{template: _template_schema(template) for template in TEMPLATES},
        },
        "required": ["name", "text"],
        "oneOf": [{"required": [template]} for template in TEMPLATES],
        "additionalProperties": False,
    }


def _template_schema(template: Template) -> Schema:
    if template in COUNTED:
        return _COUNTED_EVENT if template == "at_most" else {"anyOf": [_EVENT, _COUNTED_EVENT]}
    if template in UNARY:
        return _EVENT
    if template in SYMMETRIC:
        return {"type": "array", "items": _EVENT, "minItems": 2, "maxItems": 2}
    return {
        "type": "object",
        "properties": {"first": _EVENT, "then": _EVENT},
        "required": ["first", "then"],
        "additionalProperties": False,
    }


def _event_schemas(registry: Registry) -> Schema:
    """An event, and one with the number of times that it happens."""
    times = {"times": {"type": "integer", "minimum": 1, "maximum": MOST_TIMES}}
    types = registry.events.values()
    bare = {"enum": [event.name for event in types]}
    return {
        "event": {
            "description": "A type of events with a name, a list of names, or 'any'.",
            "anyOf": [bare, *(_event_schema(event, {}) for event in types)],
        },
        "event.counted": {"anyOf": [_event_schema(event, times) for event in types]},
    }


def _event_schema(event: EventType, extra: Schema) -> Schema:
    name: Schema = {"type": "string"} if event.names is None else {"enum": [*event.names, "any"]}
    names = {"anyOf": [name, {"type": "array", "items": name, "minItems": 1}], "description": event.description}
    choices = {field: {"enum": list(values)} for field, values in event.choices.items()}
    return {
        "type": "object",
        "properties": {event.name: names, **choices, "where": {"type": "string"}, **extra},
        "required": [event.name],
        "additionalProperties": False,
    }


def _node_schema(registry: Registry) -> Schema:
    bare = [
        {"const": kind.name, "description": kind.summary} for kind in registry.kinds.values() if _needs_nothing(kind)
    ]
    mappings = [
        {
            "type": "object",
            "properties": {kind.name: {"$ref": f"#/$defs/kind.{kind.name}"}},
            "required": [kind.name],
            "additionalProperties": False,
        }
        for kind in registry.kinds.values()
    ]
    return {"description": "A kind with its settings, or a bare kind.", "anyOf": [*bare, *mappings]}


def _needs_nothing(kind: Kind) -> bool:
    required = any(field.is_required() for field in kind.settings.model_fields.values())
    return not required and not any(slot.required for slot in kind.slots)


def _kind_schemas(kind: Kind) -> Schema:
    """The definition of a kind's value, and those that its settings refer to."""
    prefix = f"kind.{kind.name}"
    settings = kind.settings.model_json_schema(by_alias=True, ref_template=f"#/$defs/{prefix}.{{model}}")
    nested = settings.pop("$defs", {})
    said = argument_meanings(kind.settings)
    fields = kind.settings.model_fields.items()
    meanings = {field.alias or name: {"description": said[name]} for name, field in fields if name in said}
    properties = {
        name: {**_or_placeholder(each), **meanings.get(name, {})}
        for name, each in settings.get("properties", {}).items()
    }
    slots = {slot.name: _slot_schema(slot) for slot in kind.slots}
    whole = {
        "type": "object",
        "properties": {"name": _NAME, **properties, **slots},
        "required": [*settings.get("required", []), *(slot.name for slot in kind.slots if slot.required)],
        "additionalProperties": False,
    }
    forms = [whole, *_short_forms(kind, {**properties, **slots})]
    if _needs_nothing(kind):
        forms.append({"type": "null"})
    return {
        prefix: {"description": kind.doc.strip() or kind.name, "anyOf": forms},
        **{f"{prefix}.{name}": _with_placeholders(each) for name, each in nested.items()},
    }


_NAME: Schema = {
    "type": "string",
    "minLength": 1,
    "description": "The name of the node, unique among its siblings; a part of its path.",
}


def _slot_schema(slot: Slot) -> Schema:
    if not slot.many:
        return _NODE
    if slot.keyed:
        return {"type": "object", "additionalProperties": _NODE, "minProperties": 1}
    if slot.required:
        return {"type": "array", "items": _NODE, "minItems": 1}
    return {"type": ["array", "null"], "items": _NODE}


def _short_forms(kind: Kind, properties: Mapping[str, Schema]) -> Iterator[Schema]:
    """The forms of a value that does not name settings."""
    if kind.shorthand is not None:
        yield properties[kind.shorthand]
    single = [slot.name for slot in kind.slots if not slot.many]
    required = any(field.is_required() for field in kind.settings.model_fields.values())
    if kind.shorthand not in single and len(single) == 1 and not required:
        yield _NODE


def _or_placeholder(schema: Schema) -> Schema:
    """The schema, or a parameter in its place."""
    inner = _with_placeholders(schema)
    if not inner or inner == {"type": "string"}:
        return inner
    described = {"description": inner.pop("description")} if "description" in inner else {}
    return {"anyOf": [inner, _PLACEHOLDER], **described}


def _with_placeholders(schema: Schema) -> Schema:
    """The schema with a parameter allowed everywhere; titles, which only repeat names, are left out."""
    changed = {key: value for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    if "properties" in changed:
        changed["properties"] = {name: _or_placeholder(each) for name, each in changed["properties"].items()}
    for key in _NESTED:
        if isinstance(changed.get(key), dict):
            changed[key] = _or_placeholder(changed[key])
    for key in _NESTED_LISTS:
        if key in changed:
            changed[key] = [_with_placeholders(each) for each in changed[key]]
    return changed
