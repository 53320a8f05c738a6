"""The JSON Schema of tree files, for completion and validation in editors.

It describes shapes only: kinds, settings, children, shorthands. Expressions, blackboard keys, names among siblings and
subtrees are checked by the reader; the schema accepts whatever the reader accepts.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bt_runtime.drawing.grammar import Part, file_part
from bt_runtime.language.kind import Kind, Slot, argument_meanings
from bt_runtime.language.registry import Registry

Schema = dict[str, Any]

_NODE: Schema = {"$ref": "#/$defs/node"}
_PLACEHOLDER: Schema = {"type": "string", "pattern": r"\$\{"}
_NESTED = ("items", "additionalProperties", "contains", "not")
_NESTED_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


def tree_schema(registry: Registry) -> Schema:
    """The schema (2020-12) of the tree files that may use these kinds."""
    definitions: Schema = {"node": _node_schema(registry)}
    whole = _part_schema(file_part(registry), definitions)
    for kind in registry.kinds.values():
        definitions |= _kind_schemas(kind)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Behavior tree",
        **whole,
        "$defs": definitions,
    }


def _part_schema(part: Part, definitions: Schema) -> Schema:
    """A value above the nodes; one that stands in many places is added to the definitions."""
    if not part.shared:
        return _form_of(part, definitions)
    if part.shared not in definitions:
        definitions[part.shared] = _form_of(part, definitions)
    return {"$ref": f"#/$defs/{part.shared}"}


def _form_of(part: Part, definitions: Schema) -> Schema:
    forms: list[Schema] = []
    if part.is_open:
        forms.append({"type": "string"})
    elif part.words and (part.keys or part.item or not part.form):
        forms.append({"enum": list(part.words)})
    if part.item is not None:
        forms.append({"type": "array", "items": _part_schema(part.item, definitions)})
    if part.declaration is not None:
        forms.append({"type": "object", "additionalProperties": _part_schema(part.declaration, definitions)})
    variants = part.variants.values()
    is_one = all(each.keys.keys() <= part.keys.keys() for each in variants)
    forms += [_mapping_schema(each, definitions) for each in ([part] if is_one else variants) if each.keys]
    whole = forms[0] if len(forms) == 1 else {"anyOf": forms} if forms else {}
    return {**whole, **part.form}


def _mapping_schema(part: Part, definitions: Schema) -> Schema:
    properties = {}
    for name, word in part.keys.items():
        described = {"description": word.doc} if word.doc else {}
        properties[name] = {**_part_schema(word.below or Part(), definitions), **described}
    one_of = {"oneOf": [{"required": [name]} for name in part.variants]} if part.variants else {}
    required = list(part.required)
    return {"type": "object", "properties": properties, "required": required, **one_of, "additionalProperties": False}


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
