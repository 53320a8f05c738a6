"""Completion inside of expressions, and of placeholders in texts."""

import re
from collections.abc import Iterator

from bt_runtime.language.expressions.operations import FUNCTIONS
from bt_runtime.language.expressions.syntax import LONGEST_EXPRESSION
from oracle.features.editing import describing
from oracle.features.editing.desk import Context
from oracle.features.editing.grammar import Item, KindValue, SettingValue, shorthand_value

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*$|(?<![\w.])$")
_TEXTS = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_COMPARED = re.compile(r"(?<!\w)([A-Za-z_]\w*+)\s*+(?:==\s*+|!=\s*+|(?:not\s++)?in\s*+\[[^\[\]]*+)$")
_PARAMETER = re.compile(r"(?<!\$)\$\{(\w*)$")
_KEY = re.compile(r"(?<!\$)\{(\w*)$")
_WORDS = ("and", "or", "not", "in", "is", "if", "else", "true", "false", "null")


def expression_items(context: Context) -> Iterator[Item]:
    """Keys, parameters, functions and words; inside of quotes behind a comparison the values of the key."""
    written = context.spot.text
    if len(written) > LONGEST_EXPRESSION:
        return
    if context.spot.quote == '"':
        written = written.replace('\\"', '"')
    elif context.spot.quote == "'":
        written = written.replace("''", "'")
    bare = _TEXTS.sub(lambda match: match[0][0] + "_" * (len(match[0]) - 2) + match[0][-1], written)
    # Where the text begins that is not closed yet; closed ones have no quotes inside of them.
    rest = _TEXTS.sub(lambda match: " " * len(match[0]), bare)
    found = re.search(r"['\"]", rest)
    opened = found.start() if found else None
    if opened is not None:
        compared = _COMPARED.search(bare[:opened])
        typed = written[opened + 1 :]
        yield from (
            Item(value, "value", typed=typed) for value in context.names.values(compared[1] if compared else "")
        )
        return
    word = _WORD.search(bare)
    if word is not None:
        yield from _names(context, word[0], bare[: word.start()])


def _names(context: Context, typed: str, before: str) -> Iterator[Item]:
    compared = _COMPARED.search(before)
    for value in context.names.values(compared[1]) if compared else ():
        mark = "'" if context.spot.quote == '"' else '"'
        quoted = f"{mark}{value}{mark}"
        yield Item(quoted, "value", typed=typed, order=0)
    for key in context.names.keys.values():
        order = 1 if key.name in context.names.declared else 2
        yield Item(key.name, "key", detail=key.type, doc=describing.key_text(key), typed=typed, order=order)
    yield from _parameters(context, typed)
    for name in FUNCTIONS:
        yield Item(
            name,
            "function",
            doc=describing.function_text(name),
            insert=f"{name}(",
            snippet=f"{name}($1)",
            typed=typed,
            order=3,
        )
    yield from (Item(word, "word", typed=typed, order=4) for word in _WORDS)


def _parameters(context: Context, typed: str, *, end: str = "") -> Iterator[Item]:
    for name, key in context.names.parameters.items():
        doc = describing.key_text(key, of="parameter")
        yield Item(name, "parameter", detail=key.type, doc=doc, insert=f"{name}{end}", typed=typed, order=0)


def placeholder_items(context: Context) -> Iterator[Item]:
    """Parameters behind `${` in any setting, and keys behind `{` in a text with placeholders."""
    expected = context.expected
    if isinstance(expected, KindValue):
        expected = shorthand_value(expected.kind)
    if not isinstance(expected, SettingValue) or context.spot.at == "key":
        return
    end = "" if _closed(context) else "}"
    parameter = _PARAMETER.search(context.spot.text)
    if parameter is not None:
        yield from _parameters(context, parameter[1], end=end)
        return
    key = _KEY.search(context.spot.text)
    if key is not None and "template" in expected.roles:
        for each in context.names.keys.values():
            doc = describing.key_text(each)
            order = 0 if each.name in context.names.declared else 1
            yield Item(
                each.name, "key", detail=each.type, doc=doc, insert=f"{each.name}{end}", typed=key[1], order=order
            )


def _closed(context: Context) -> bool:
    """Whether the brace behind the word is there."""
    line = context.lines[context.spot.begin.line]
    at = context.spot.begin.column - 1 + len(context.spot.text)
    return bool(re.match(r"\w*\}", line[at:]))
