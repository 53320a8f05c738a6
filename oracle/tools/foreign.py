"""Checks tool definitions from clients and MCP servers before anything else reads them."""

import re
from collections.abc import Mapping
from typing import Any, Final

from bt_runtime.text.phrases import clipped
from oracle.core.encoding import to_json
from oracle.core.json_schemas import checked_schema
from oracle.tools.text import clean
from signals import as_plain_text

LONGEST_DESCRIPTION: Final = 4_000

_ARGUMENT: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_NOT_ON_TOP: Final = ("oneOf", "anyOf", "allOf")
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def plain_description(text: str) -> str:
    """The description, neutralised so that no signal can begin in it, and without invalid characters."""
    return as_plain_text(clean(text))


def arguments_schema(given: object) -> Mapping[str, Any]:
    """The schema of a tool's arguments as plain JSON data.

    Raises:
        ValueError: a model's provider would refuse it.
    """
    whole = {"type": "object", "properties": {}, **given} if isinstance(given, Mapping) else given
    schema = checked_schema(whole)
    if _NUL.search(to_json(schema)):
        raise ValueError("its schema has a NUL character, which is no text")
    if schema["type"] != "object" or any(name in schema for name in _NOT_ON_TOP):
        raise ValueError(f"its schema is that of an object, without {', '.join(_NOT_ON_TOP)} at its top")
    for name in schema["properties"]:
        if not _ARGUMENT.fullmatch(name):
            shown = clipped(clean(name), 80)
            raise ValueError(f"{shown!r} is no name of an argument: letters, digits, '_', '.', '-'")
    return schema
