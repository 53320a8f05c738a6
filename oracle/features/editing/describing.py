"""Descriptions of kinds, settings, names, tools and trees in Markdown, from the same sources as the palette.

`hover` finds what a position of a tree file means.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bt_runtime.drawing.grammar import Part
from bt_runtime.drawing.palette import code, type_words
from bt_runtime.language.expressions.operations import FUNCTIONS
from bt_runtime.language.kind import Key, Kind, argument_meanings
from bt_runtime.language.reading.header import Header
from bt_runtime.language.reading.settings import slot_named
from bt_runtime.language.registry import setting_names
from oracle.features.editing.desk import Context, Desk, context_of_word
from oracle.features.editing.grammar import KindValue, NodeValue, SettingValue, setting_value, shorthand_value
from oracle.features.editing.lines import Lines
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


_WORD = re.compile(r"(?<![\w-])[\w-]+$")


def hover(desk: Desk, text: str, file: Path, *, line: int, column: int) -> str | None:
    """The description of the word at a position; `None` if there is nothing to say about it.

    Args:
        desk: the trees around the file.
        text: the text, which may be incomplete.
        file: its file.
        line: the line of the word, counted from 1.
        column: a character of the word, counted from 1.
    """
    context = context_of_word(desk, Lines(text, file=str(file)), file, line, column)
    word = _WORD.search(context.spot.text)
    if word is None or context.spot.at in {"comment", "nowhere"}:
        return None
    return _meaning(context, word[0])


def _meaning(context: Context, word: str) -> str | None:
    expected, spot = context.expected, context.spot
    if isinstance(expected, Part):
        if expected.declares == "key":
            return _name(context, word)
        return _parameter(context, word) if expected.declares else expected.meaning(word)
    if isinstance(expected, NodeValue):
        return _kind(context, word)
    if isinstance(expected, KindValue):
        named = _own_setting(expected, word) if spot.at != "value" else None
        if named:
            return named
        short = shorthand_value(expected.kind)
        return _in_setting(context, short, word) if isinstance(short, SettingValue) else _kind(context, word)
    if isinstance(expected, SettingValue):
        return _in_setting(context, expected, word)
    return None


def _own_setting(expected: KindValue, word: str) -> str | None:
    kind = expected.kind
    if setting_value(kind, word) is not None or any(slot.name == word for slot in kind.slots) or word == "name":
        return setting_text(kind, word)
    return None


def _kind(context: Context, word: str) -> str | None:
    kind = context.desk.registry.kinds.get(word)
    return kind_text(kind) if kind is not None else None


def _in_setting(context: Context, setting: SettingValue, word: str) -> str | None:
    roles = setting.key_roles if context.spot.at == "key" or setting.key_roles else setting.roles
    if "tree" in roles:
        header = context.desk.header(word, beside=context.file)
        return tree_text(header) if header is not None else None
    if "action" in roles:
        tool = context.desk.tools.get(word)
        return tool_text(tool) if tool is not None else None
    if roles & {"expression", "template", "read-key", "write-key", "delivery-key"}:
        found = _name(context, word)
        if found is not None or "expression" not in roles:
            return found
        return function_text(word) if word in FUNCTIONS else None
    if not roles and len(setting.at) == 1:
        return _parameter(context, word) or setting_text(setting.kind, str(setting.at[0]))
    return None


def _name(context: Context, word: str) -> str | None:
    key = context.names.keys.get(word)
    return key_text(key) if key is not None else _parameter(context, word)


def _parameter(context: Context, word: str) -> str | None:
    parameter = context.names.parameters.get(word)
    return key_text(parameter, of="parameter") if parameter is not None else None
