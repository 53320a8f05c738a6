"""Descriptions for completion and hover, in Markdown, from the same sources as the palette."""

import re
from collections.abc import Mapping
from typing import Any

from bt_runtime.drawing.palette import code, type_words
from bt_runtime.language.expressions.operations import FUNCTIONS
from bt_runtime.language.kind import Key, Kind, argument_meanings
from bt_runtime.language.reading.header import Header
from bt_runtime.language.reading.shorthand import slot_named
from bt_runtime.language.registry import setting_names
from oracle.llm.protocol import ToolDefinition

_LONGEST = 4_000
_PARAGRAPH = re.compile(r"\n\s*\n")


def kind_text(kind: Kind) -> str:
    """The contract of a kind, with its settings."""
    names = [*setting_names(kind), *(slot.name for slot in kind.slots)]
    listed = "\n".join(f"- `{name}`: {setting_facts(kind, name)}" for name in names)
    return _bounded(f"**{kind.name}** ({kind.category})\n\n{kind.doc.strip()}" + (f"\n\n{listed}" if listed else ""))


def setting_facts(kind: Kind, name: str) -> str:
    """Type, default and bounds of a setting or slot, on one line."""
    slot = slot_named(kind, name)
    if slot is not None:
        return f"{'nodes' if slot.many else 'a node'}{', required' if slot.required else ''}"
    for field_name, field in kind.settings.model_fields.items():
        if name == (field.alias or field_name):
            if field.is_required():
                return f"{type_words(field)}, required"
            return f"{type_words(field)}, default {code(field.get_default(call_default_factory=True))}"
    return "the name of the node, unique among its siblings" if name == "name" else ""


def setting_text(kind: Kind, name: str) -> str:
    """What a setting means, with type, default and bounds."""
    fields = kind.settings.model_fields
    field_name = next((each for each, field in fields.items() if name == (field.alias or each)), name)
    meaning = argument_meanings(kind.settings).get(field_name, "")
    return "\n\n".join(filter(None, (f"**{kind.name}.{name}**: {setting_facts(kind, name)}", meaning)))


def key_text(key: Key, *, of: str = "blackboard key") -> str:
    """Type, default, meaning and values of a key or parameter."""
    facts = [key.type] if key.default is None else [key.type, f"default {code(key.default)}"]
    facts += ["written by the host alone"] if key.read_only else []
    facts += ["private"] if key.private else []
    facts += ["from outside"] if key.deliverable else []
    values = ", ".join(f"`{value}`" for value in key.values or () if value != "")
    return "\n\n".join(
        filter(None, (f"**{key.name}** ({of}: {', '.join(facts)})", key.description, values and f"Values: {values}"))
    )


def function_text(name: str) -> str:
    """How a function of expressions is called."""
    return f"**{name}** (function)\n\n`{FUNCTIONS[name].usage}`"


def tree_text(header: Header) -> str:
    """Description, parameters and file of a tree."""
    parameters = [
        f"- `{name}`: {parameter.key.type}{', required' if parameter.required else ''}. {parameter.key.description}"
        for name, parameter in header.parameters.items()
    ]
    head = f"**{header.name}** ({'a part of other trees' if header.internal else 'tree'})"
    parts = (head, header.description, "\n".join(parameters), f"`{header.document.file}`")
    return _bounded("\n\n".join(filter(None, parts)))


def tool_text(tool: ToolDefinition) -> str:
    """Description and arguments of a tool."""
    required = set(tool.input_schema.get("required", ()))
    arguments = [
        f"- `{name}`{' (required)' if name in required else ''}: {argument_facts(schema)}"
        for name, schema in tool.input_schema.get("properties", {}).items()
    ]
    return _bounded("\n\n".join(filter(None, (f"**{tool.name}** (tool)", tool.description, "\n".join(arguments)))))


def argument_facts(schema: Mapping[str, Any]) -> str:
    """Type and meaning of a tool's argument."""
    return ". ".join(filter(None, (str(schema.get("type", "")), str(schema.get("description", "")))))


def first_paragraph(text: str) -> str:
    """The first paragraph, on one line."""
    return " ".join(_PARAGRAPH.split(text.strip(), 1)[0].split())


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
