"""Texts to insert for kinds and settings, with tab stops as editors know them (`$1`, `${1:text}`, `$0`)."""

from typing import Any

from bt_runtime.language.kind import Kind, Slot
from bt_runtime.language.reading.shorthand import slot_named
from oracle.authoring.editing.grammar import SettingValue, setting_value
from oracle.authoring.editing.roles import choices

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
