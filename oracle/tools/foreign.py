"""What others say of their tools, checked before anything else reads it: clients, and MCP servers."""

import re
from collections.abc import Mapping
from typing import Any, Final

from bt_runtime.text.phrases import clipped
from oracle.core.encoding import from_json, to_json
from oracle.core.json_schemas import is_deeper, misfits
from oracle.tools.text import clean
from signals import as_plain_text

LONGEST_DESCRIPTION: Final = 4_000
LARGEST_SCHEMA: Final = 16_000
DEEPEST_SCHEMA: Final = 16

_ARGUMENT: Final = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_NOT_ON_TOP: Final = ("oneOf", "anyOf", "allOf")
_NUL: Final = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


def plain_description(text: str) -> str:
    """A description in which no signal can begin, without what no text may have."""
    return as_plain_text(clean(text))


def checked_schema(given: object) -> Mapping[str, Any]:
    """The schema of a tool's arguments as plain JSON data.

    Raises:
        ValueError: it is none that a model's provider takes.
    """
    if not isinstance(given, Mapping) or is_deeper(given, DEEPEST_SCHEMA):
        raise ValueError(f"its schema is a JSON object of at most {DEEPEST_SCHEMA} levels")
    try:
        data = to_json({"type": "object", "properties": {}} | dict(given))
    except TypeError as error:
        raise ValueError(f"its schema is no JSON data: {error}") from None
    if len(data) > LARGEST_SCHEMA:
        raise ValueError(f"its schema has {len(data):,} bytes as JSON; at most {LARGEST_SCHEMA:,} are read")
    schema: Mapping[str, Any] = from_json(data)
    if _NUL.search(data):
        raise ValueError("its schema has a NUL character, which is no text")
    if schema["type"] != "object" or any(name in schema for name in _NOT_ON_TOP):
        raise ValueError(f"its schema is that of an object, without {', '.join(_NOT_ON_TOP)} at its top")
    try:
        misfits(schema, {})
    except ValueError as error:
        raise ValueError(clipped(str(error), 300)) from None
    for name in schema["properties"]:
        if not _ARGUMENT.fullmatch(name):
            shown = clipped(clean(name), 80)
            raise ValueError(f"{shown!r} is no name of an argument: letters, digits, '_', '.', '-'")
    return schema
