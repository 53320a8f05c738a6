"""What a position of a tree file means, in Markdown."""

import re
from pathlib import Path

from bt_runtime.language.expressions.operations import FUNCTIONS
from oracle.authoring.editing import describing
from oracle.authoring.editing.context import Context, context_of_word
from oracle.authoring.editing.desk import Desk
from oracle.authoring.editing.grammar import KindValue, NodeValue, SettingValue, setting_value, shorthand_value
from oracle.authoring.editing.header import Part
from oracle.authoring.editing.lines import Lines

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
        return named or _in_shorthand(context, expected, word)
    if isinstance(expected, SettingValue):
        return _in_setting(context, expected, word)
    return None


def _own_setting(expected: KindValue, word: str) -> str | None:
    kind = expected.kind
    if setting_value(kind, word) is not None or any(slot.name == word for slot in kind.slots) or word == "name":
        return describing.setting_text(kind, word)
    return None


def _in_shorthand(context: Context, expected: KindValue, word: str) -> str | None:
    short = shorthand_value(expected.kind)
    return _in_setting(context, short, word) if isinstance(short, SettingValue) else _kind(context, word)


def _kind(context: Context, word: str) -> str | None:
    kind = context.desk.registry.kinds.get(word)
    return describing.kind_text(kind) if kind is not None else None


def _in_setting(context: Context, setting: SettingValue, word: str) -> str | None:
    roles = setting.key_roles if context.spot.at == "key" or setting.key_roles else setting.roles
    if "tree" in roles:
        header = context.desk.header(word, beside=context.file)
        return describing.tree_text(header) if header is not None else None
    if "action" in roles:
        tool = context.desk.tools.get(word)
        return describing.tool_text(tool) if tool is not None else None
    if roles & {"expression", "template", "read-key", "write-key", "delivery-key"}:
        found = _name(context, word)
        if found is not None or "expression" not in roles:
            return found
        return describing.function_text(word) if word in FUNCTIONS else None
    if not roles and len(setting.at) == 1:
        return _parameter(context, word) or describing.setting_text(setting.kind, str(setting.at[0]))
    return None


def _name(context: Context, word: str) -> str | None:
    key = context.names.keys.get(word)
    return describing.key_text(key) if key is not None else _parameter(context, word)


def _parameter(context: Context, word: str) -> str | None:
    parameter = context.names.parameters.get(word)
    return describing.key_text(parameter, of="parameter") if parameter is not None else None
