"""The palette: a page about all node kinds, for tree authors.

Everything comes from the registry: the contract and the snippet from a kind's docstring, the meaning of a setting from
the `Args` of its settings class. So the page describes only what exists.
"""

import inspect
import json
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from bt_runtime.language.kind import (
    Category,
    ExpressionText,
    Key,
    Kind,
    NodeSettings,
    Slot,
    argument_meanings,
    range_in_words,
)
from bt_runtime.language.registry import Registry

_HEADINGS: Mapping[Category, tuple[str, str]] = {
    "composite": ("Composites", "Have ordered children, and decide which of them are ticked."),
    "decorator": ("Decorators", "Have one child, and change when it is ticked or what its result means."),
    "condition": ("Conditions", "Decide at once, SUCCESS or FAILURE, and change nothing."),
    "guard": ("Guards", "SUCCESS while the run may continue; the first one that fails writes the reason to stop."),
    "action": ("Actions", "Do work."),
}
_INTRODUCTION = """\
# Palette

The node kinds and blackboard keys of a tree. This page is generated from the docstrings by `make docs`.

A node is its kind with its settings: `retry: {attempts: 3, child: ...}`. A kind without required settings can be
written alone. A bare value sets the shorthand, marked *. Every node may have a `name`.
"""
_SNIPPET = re.compile(r"^```yaml\n.*?^```$", re.DOTALL | re.MULTILINE)
_WORDS: Mapping[object, str] = {
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    type(None): "null",
    Any: "any value",
    ExpressionText: "expression",
}


def render_palette(registry: Registry) -> str:
    """The palette as Markdown: all kinds by category, in the order of the registry, then all blackboard keys."""
    parts = [_INTRODUCTION]
    for category, (heading, meaning) in _HEADINGS.items():
        kinds = [kind for kind in registry.kinds.values() if kind.category == category]
        if kinds:
            parts += [f"## {heading}\n\n{meaning}\n", *map(_kind_section, kinds)]
    if registry.keys:
        parts.append(_keys_section(registry.keys.values()))
    return "\n".join(parts)


def _kind_section(kind: Kind) -> str:
    snippet = _SNIPPET.search(kind.doc)
    contract = _SNIPPET.sub("", kind.doc).strip()
    blocks = [f"### `{kind.name}`", contract]
    rows = [*_setting_rows(kind), *(_slot_row(kind, slot) for slot in kind.slots)]
    if rows:
        blocks.append(_table(("setting", "value", "default", "meaning"), rows))
    if snippet is not None:
        blocks.append(snippet[0])
    return "\n\n".join(blocks) + "\n"


def _setting_rows(kind: Kind) -> Iterator[tuple[str, ...]]:
    meanings = argument_meanings(kind.settings)
    for name, field in kind.settings.model_fields.items():
        written = field.alias or name
        default = "required" if field.is_required() else code(field.get_default(call_default_factory=True))
        yield _marked(kind, written), type_words(field), default, meanings.get(name, "")


def _slot_row(kind: Kind, slot: Slot) -> tuple[str, ...]:
    return (
        _marked(kind, slot.name),
        "mapping of node" if slot.keyed else ("nodes" if slot.many else "node"),
        "required" if slot.required else "none",
        "Its children, in order." if slot.name == "children" else "",
    )


def _marked(kind: Kind, name: str) -> str:
    return f"`{name}`*" if name == kind.shorthand else f"`{name}`"


def type_words(field: FieldInfo) -> str:
    """The type of a setting with its bounds, in an author's words."""
    bounds = [
        f"{words} {getattr(limit, attribute)}"
        for limit in field.metadata
        for attribute, words in (("gt", "more than"), ("ge", "at least"), ("lt", "less than"), ("le", "at most"))
        if getattr(limit, attribute, None) is not None
    ]
    return ", ".join([_annotation_words(field.annotation), *bounds])


def _annotation_words(annotation: Any) -> str:  # noqa: ANN401  any annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _WORDS:
        return _WORDS[annotation]
    if origin is Literal:
        return " or ".join(map(code, arguments))
    if origin in {types.UnionType, Union}:
        return " or ".join(_annotation_words(part) for part in arguments if part is not type(None))
    if origin is not None and hasattr(annotation, "__metadata__"):
        return _annotation_words(arguments[0])
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return f"mapping of {_annotation_words(arguments[1])}"
    if inspect.isclass(origin) and issubclass(origin, Sequence):
        return f"list of {_annotation_words(arguments[0])}"
    if isinstance(annotation, TypeVar) or not inspect.isclass(annotation):
        return "value"
    return "mapping" if issubclass(annotation, NodeSettings | Mapping) else "value"


def _keys_section(keys: Iterable[Key]) -> str:
    rows = [
        (f"`{key.name}`", _key_words(key), code(key.default), "" if key.read_only else "yes", key.description)
        for key in keys
    ]
    table = _table(("key", "type", "default", "can be set", "meaning"), rows)
    introduction = "Expressions can read these keys; a tree declares more under `blackboard:`."
    return f"## Blackboard keys\n\n{introduction}\n\n{table}\n"


def _key_words(key: Key) -> str:
    """Its type, and what else is known about its values."""
    if key.values is not None:
        return f"{key.type}: {' or '.join(map(code, key.values))}"
    known = range_in_words(key)
    return f"{key.type}, {known}" if known else key.type


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(value: object) -> str:
    """A value as Markdown shows it."""
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`"
