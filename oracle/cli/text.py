"""Makes text from models, tools and files safe for a terminal.

A terminal acts on control sequences: they set titles and colours, write the clipboard, overwrite lines. So every
control character is shown as an escape. Works on each piece of a stream by itself.
"""

import json
from collections.abc import Mapping
from typing import Any

from bt_runtime.text.phrases import truncated

_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CONTROLS = [*map(chr, (*range(0x20), *range(0x7F, 0xA0))), "\u2028", "\u2029", *_BIDI]
_ESCAPES = {
    ord(character): character.encode("unicode_escape").decode() for character in _CONTROLS if character not in "\n\t"
} | {ord("\r"): ""}
"""A carriage return is removed: it is part of a line break, or would hide the text before it."""

_LONGEST_VALUE = 60


def clean(text: str) -> str:
    """The text with control characters shown as escapes, except line breaks and tabs."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def one_line(text: str, *, longest: int = 200) -> str:
    """The cleaned text on one line of at most `longest` characters."""
    return truncated(clean(" ".join(text[: 4 * longest].split())), longest)


def call_label(name: str, arguments: Mapping[str, Any]) -> str:
    """A tool call on one line: `search_code(query="auth", limit=3)`."""
    listed = ", ".join(f"{one_line(str(key), longest=40)}={_value(value)}" for key, value in arguments.items())
    return one_line(f"{name}({listed})", longest=400)


def _value(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = "…"
    return one_line(text, longest=_LONGEST_VALUE)
