"""What can be typed at a position of a tree file, however incomplete the file is."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, Literal

from bt_runtime.drawing.grammar import DEFAULT, FLAG, NAME_OF_TREE, TYPES, Part
from bt_runtime.language.kind import Kind, Slot
from bt_runtime.language.reading.settings import slot_named
from bt_runtime.language.registry import setting_names
from bt_runtime.text import Place
from bt_runtime.text.data import dataclass
from bt_runtime.text.mistakes import span
from oracle.features.editing import describing
from oracle.features.editing.desk import Context, Desk, context_at
from oracle.features.editing.expressions import expression_items, placeholder_items
from oracle.features.editing.grammar import (
    Item,
    KindValue,
    NodesValue,
    NodeValue,
    Role,
    SettingValue,
    choices,
    items_of,
    only_child,
    setting_value,
    shorthand_value,
)
from oracle.features.editing.lines import Lines

_TAIL = re.compile(r"[\w-]*")
_COLON = re.compile(r"\s*:(?=\s|$)")
_SILENCE = re.compile(r"\s*silence\s+([\w-]*)$")
_GUARDING: Final = frozenset({"guard", "condition"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Item):
    """One thing that can be typed, at its place.

    Args:
        start: the text from here ...
        end: ... to here is replaced.
    """

    start: Place
    end: Place

    def to_json(self) -> dict[str, Any]:
        """The wire form; the text replaced is `line, column` to `end_line, end_column`."""
        fields = {name: getattr(self, name) for name in ("label", "kind", "detail", "doc", "insert", "snippet")}
        return {**fields, **span(self.start, self.end)}


def complete(desk: Desk, text: str, file: Path, *, line: int, column: int) -> tuple[Completion, ...]:
    """What can be typed at a position, the likeliest first; editors filter by what is typed.

    Args:
        desk: the trees around the file.
        text: the text, which may be incomplete.
        file: its file, which need not exist.
        line: the line of the cursor, counted from 1.
        column: of the cursor, in characters from 1.
    """
    lines = Lines(text, file=str(file))
    context = context_at(desk, lines, file, line, column)
    here = lines.place(line, min(column, len(lines[line]) + 1))
    items = {item.label: item for item in reversed(list(_items(context)))}
    made = [_completion(item, context, here) for item in items.values()]
    return tuple(sorted(made, key=lambda each: (each.order, each.label)))


def _completion(item: Item, context: Context, here: Place) -> Completion:
    start = context.spot.begin
    if item.typed is not None:
        start = Place(here.file, here.line, here.column - len(item.typed))
    line = context.lines[here.line]
    tail = _TAIL.match(line, here.column - 1)
    end = Place(here.file, here.line, (tail.end() if tail else here.column - 1) + 1)
    insert, snippet = item.insert or item.label, item.snippet
    if item.is_key and _COLON.match(line, end.column - 1):
        insert, snippet = item.label, None  # the key is there: only its name changes
    made = replace(item, insert=insert, snippet=None if snippet == insert else snippet)
    return Completion(**asdict(made), start=start, end=end)


def _items(context: Context) -> Iterator[Item]:
    spot, expected = context.spot, context.expected
    if spot.at == "comment":
        typed = _SILENCE.match(context.spot.text)
        if typed is not None:
            for code, meaning in context.desk.codes.items():
                yield Item(code, "code", doc=meaning, insert=f"{code}: ", typed=typed[1])
        return
    if spot.at == "nowhere":
        return
    placeholder = list(placeholder_items(context))
    if placeholder:
        yield from placeholder
    elif isinstance(expected, NodeValue):
        yield from _kinds(context)
    elif isinstance(expected, KindValue):
        yield from _of_kind(context, expected.kind)
    elif isinstance(expected, SettingValue):
        yield from _setting_keys(context, expected) if spot.at == "key" else _setting_values(context, expected)
    elif isinstance(expected, Part):
        yield from _in_part(context, expected)


def _in_part(context: Context, part: Part) -> Iterator[Item]:
    spot = context.spot
    if part.declares:
        yield from _declared(context, part)
    elif part is NAME_OF_TREE:
        yield Item(context.file.stem, "value")
    elif part is DEFAULT and spot.scalars and spot.scalars[-1].get("type") == "bool":
        yield from items_of(FLAG, (), is_key=False, is_value=True)
    else:
        yield from items_of(part, _present(context), is_key=spot.at == "key", is_value=spot.at == "value")


def _present(context: Context) -> Mapping[str, str]:
    """The keys of the mapping whose key is typed."""
    return context.spot.scalars[-1] if context.spot.at == "key" and context.spot.scalars else {}


def _declared(context: Context, part: Part) -> Iterator[Item]:
    if context.spot.at == "value":
        return
    types = ",".join(TYPES)
    snippet = f"${{1:name}}: {{ type: ${{2|{types}|}}, default: $3 }}"
    yield Item("name: { type, default }", "field", detail="a new one", insert="name: { type: int }", snippet=snippet)
    if part.declares == "key":
        for key in context.desk.registry.keys.values():
            if key.name not in _present(context):
                insert = f"{key.name}: {{ type: {key.type}, default: "
                doc = f"{describing.key_text(key)}\n\nHere: another default for it."
                yield Item(
                    key.name, "key", detail=key.type, doc=doc, insert=f"{insert} }}", snippet=f"{insert}$1 }}", order=5
                )


def _kinds(context: Context) -> Iterator[Item]:
    spot = context.spot
    is_guard = isinstance(context.expected, NodeValue) and context.expected.is_guard
    for kind in context.desk.registry.kinds.values():
        if is_guard and kind.category not in _GUARDING:
            continue  # guards neither act nor wait
        column = max(spot.begin.column - 1 - spot.indent, 0)
        if spot.at == "key":
            snippet: str | None = f"{kind.name}: "
        else:
            is_inline = spot.at == "value"
            snippet = kind_snippet(kind, column=column, is_inline=is_inline, in_brackets=spot.is_flow)
        yield Item(
            kind.name,
            "node",
            detail=kind.category,
            doc=describing.kind_text(kind),
            insert=kind.name,
            snippet=snippet,
            is_key=True,
        )


def _of_kind(context: Context, kind: Kind) -> Iterator[Item]:
    """Behind a kind: its settings, or what its shorthand takes."""
    spot = context.spot
    short = shorthand_value(kind)
    if spot.at != "value":
        yield from _settings(context, kind)
        mapping_keys = isinstance(short, SettingValue) and bool(short.key_roles)
        if (
            isinstance(short, SettingValue)
            and mapping_keys
            and _present(context).keys().isdisjoint(setting_names(kind))
        ):
            yield from _setting_keys(context, short)
    if spot.at == "key":
        return
    if isinstance(short, SettingValue):
        yield from _setting_values(context, short)
    elif isinstance(short, NodesValue):
        if spot.at == "start":
            yield Item("- ", "value", detail="a list of nodes", insert="- ")
    elif only_child(kind):
        yield from (replace(item, order=5) for item in _kinds(context))


def _settings(context: Context, kind: Kind) -> Iterator[Item]:
    required = required_of(kind)
    present = _present(context)
    spot = context.spot
    column = max(spot.begin.column - 1 - spot.indent, 0)
    for name in [*setting_names(kind), *(slot.name for slot in kind.slots), "name"]:
        if name in present and name != context.spot.text:
            continue
        is_slot = slot_named(kind, name) is not None
        detail = describing.setting_facts(kind, name)
        snippet = setting_snippet(kind, name, column=column, in_brackets=spot.is_flow)
        order = 0 if name in required else (2 if name == "name" else 1)
        yield Item(
            name,
            "slot" if is_slot else "setting",
            detail=detail,
            doc=describing.setting_text(kind, name),
            insert=f"{name}: ",
            snippet=snippet,
            order=order,
            is_key=True,
        )


def _setting_keys(context: Context, setting: SettingValue) -> Iterator[Item]:
    """The keys of a mapping that is the value of a setting."""
    roles, present = setting.key_roles, _present(context)
    if roles & {"write-key", "read-key"}:
        names = (name for name in _usable(context, roles) if name not in present)
        yield from (_key_item(context, name, insert=f"{name}: ") for name in names)
    if "tree-arguments" in roles:
        yield from _tree_arguments(context, present)
    if "tree-outputs" in roles:
        yield from _tree_outputs(context, present)
    if "action-arguments" in roles:
        yield from _action_arguments(context, present)


def _beside(context: Context, setting_role: Literal["tree", "action"]) -> str:
    """The scalar of the setting with that role in the node around the spot."""
    kind = context.expected.kind if isinstance(context.expected, SettingValue) else None
    if kind is None:
        return ""
    for name in (field.alias or each for each, field in kind.settings.model_fields.items()):
        setting = setting_value(kind, name)
        if setting is not None and setting_role in setting.roles:
            for scalars in reversed(context.spot.scalars):
                if scalars.get(name):
                    return scalars[name]
    return ""


def _tree_arguments(context: Context, present: Mapping[str, str]) -> Iterator[Item]:
    header = context.desk.header(_beside(context, "tree"), beside=context.file)
    for name, parameter in header.parameters.items() if header is not None else ():
        if name not in present:
            doc = describing.key_text(parameter.key, of=f"parameter of {header.name}" if header else "parameter")
            order = 0 if parameter.required else 1
            yield Item(
                name, "parameter", detail=parameter.key.type, doc=doc, insert=f"{name}: ", order=order, is_key=True
            )


def _tree_outputs(context: Context, present: Mapping[str, str]) -> Iterator[Item]:
    header = context.desk.header(_beside(context, "tree"), beside=context.file)
    for name in sorted(header.declared) if header is not None else ():
        key = header.keys[name] if header is not None else None
        if key is not None and key.private and name not in present:
            yield Item(name, "key", key.type, describing.key_text(key), insert=f"{name}: ", is_key=True)


def _action_arguments(context: Context, present: Mapping[str, str]) -> Iterator[Item]:
    tool = context.desk.tools.get(_beside(context, "action"))
    schema = tool.input_schema if tool is not None else {}
    required = set(schema.get("required", ()))
    for name, facts in schema.get("properties", {}).items():
        if name not in present:
            order = 0 if name in required else 1
            doc = describing.argument_facts(facts)
            detail = "required" if name in required else ""
            yield Item(name, "argument", detail=detail, doc=doc, insert=f"{name}: ", order=order, is_key=True)


def _setting_values(context: Context, setting: SettingValue) -> Iterator[Item]:
    roles = setting.roles
    if setting.key_roles and context.spot.at == "start":
        yield from _setting_keys(context, setting)
    if "expression" in roles:
        yield from expression_items(context)
    elif context.spot.text[-1:].isspace() and not context.spot.quote:
        return  # behind a complete value
    if roles & {"read-key", "write-key", "delivery-key"} and "template" not in roles:
        yield from (_key_item(context, name) for name in _usable(context, roles))
    if "tree" in roles:
        yield from _trees(context)
    if "action" in roles:
        yield from _tools(context.desk)
    for value in choices(setting.annotation):
        yield Item(spelt(value), "value")


def _usable(context: Context, roles: frozenset[Role]) -> Iterator[str]:
    """The keys that may stand where a key is read or written."""
    for key in context.names.keys.values():
        if not (key.read_only and "write-key" in roles) and (key.deliverable or "delivery-key" not in roles):
            yield key.name


def _key_item(context: Context, name: str, insert: str = "") -> Item:
    key = context.names.keys[name]
    doc = describing.key_text(key)
    order = 0 if name in context.names.declared else 1
    return Item(name, "key", detail=key.type, doc=doc, insert=insert, order=order, is_key=bool(insert))


def _tools(desk: Desk) -> Iterator[Item]:
    for tool in desk.tools.values():
        doc = describing.tool_text(tool)
        yield Item(tool.name, "tool", detail=describing.first_paragraph(tool.description)[:80], doc=doc)
    yield from (Item(name, "tool") for name in set(desk.registry.actions or ()).difference(desk.tools))


def _trees(context: Context) -> Iterator[Item]:
    library = context.desk.beside(context.file)
    for name in library.names():
        if name == context.file.stem:
            continue
        header = context.desk.header(name, beside=context.file)
        if header is not None and header.name == name:  # other YAML files may lie in the folder
            order = 0 if header.internal else 1
            yield Item(name, "tree", detail=header.description[:80], doc=describing.tree_text(header), order=order)


_MOST_CHOICES = 20


def required_of(kind: Kind) -> list[str]:
    """The settings and slots that a node must have."""
    settings = [field.alias or name for name, field in kind.settings.model_fields.items() if field.is_required()]
    return [*settings, *(slot.name for slot in kind.slots if slot.required)]


def kind_snippet(kind: Kind, *, column: int, is_inline: bool, in_brackets: bool) -> str:
    """A node of the kind with what it must have.

    Args:
        kind: the kind of the node that is inserted.
        column: how far its first line is indented beyond the line that it is inserted into.
        is_inline: it stands behind a key, where only a mapping in braces can stand.
        in_brackets: it is an item of a list in brackets.
    """
    required = required_of(kind)
    if not required:
        return kind.name
    if is_inline or in_brackets:
        return f"{{ {kind.name}: {_flow_value(kind, required)} }}"
    if required == [kind.shorthand]:
        return f"{kind.name}:{_block(kind, required[0], 1, ' ' * (column + 2), is_last=True)}"
    pad = " " * (column + 2)
    lines = [
        f"{pad}{name}:{_block(kind, name, number, pad + '  ', is_last=number == len(required))}"
        for number, name in enumerate(required, 1)
    ]
    return "\n".join([f"{kind.name}:", *lines])


def setting_snippet(kind: Kind, name: str, *, column: int, in_brackets: bool) -> str:
    """A setting or slot with a place for its value."""
    if in_brackets:
        return f"{name}: {_flow_part(kind, name, 1)}"
    return f"{name}:{_block(kind, name, 1, ' ' * (column + 2), is_last=True)}"


def _block(kind: Kind, name: str, number: int, pad: str, *, is_last: bool) -> str:
    """The value behind `name:`, on lines of its own where that is needed."""
    slot = slot_named(kind, name)
    stop = "$0" if is_last else f"${number}"
    if slot is not None:
        return f"\n{pad}{'- ' if slot.many and not slot.keyed else ''}{stop}"
    setting = setting_value(kind, name)
    if setting is not None and _is_mapping(setting):
        return f"\n{pad}{stop}"
    return f" {_scalar(setting, number, is_last=is_last)}"


def _flow_value(kind: Kind, required: list[str]) -> str:
    if required == [kind.shorthand]:
        return _flow_part(kind, required[0], 1)
    return f"{{ {', '.join(f'{name}: {_flow_part(kind, name, n)}' for n, name in enumerate(required, 1))} }}"


def _flow_part(kind: Kind, name: str, number: int) -> str:
    slot: Slot | None = slot_named(kind, name)
    if slot is not None:
        if slot.keyed:
            return f"{{ ${number} }}"
        return f"[${number}]" if slot.many else f"${number}"
    setting = setting_value(kind, name)
    if setting is not None and _is_mapping(setting):
        return f"{{ ${number} }}"
    text = _scalar(setting, number, is_last=False)
    return f'"{text}"' if setting is not None and setting.roles & {"expression", "template"} else text


def _scalar(setting: SettingValue | None, number: int, *, is_last: bool) -> str:
    values: tuple[Any, ...] = choices(setting.annotation) if setting is not None else ()
    if 0 < len(values) <= _MOST_CHOICES:
        return f"${{{number}|{','.join(map(spelt, values))}|}}"
    if setting is not None and "template" in setting.roles:
        return f'"${number}"'
    return "$0" if is_last else f"${number}"


def _is_mapping(setting: SettingValue) -> bool:
    return bool(setting.key_roles)


def spelt(value: object) -> str:
    """A value as YAML spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
