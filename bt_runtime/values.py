"""The JSON values that tree files, blackboards and expressions deal in: their types, and how messages show them.

Rules:

- `int` is no `float`, but a whole number may stand where a `float` is wanted; `bool` is neither.
- Lists may be tuples and maps any `Mapping`, because values are frozen where they are shared.
- `None` has every type: it means "nothing yet".
"""

import math
from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from bt_runtime.kind import KeyType

Value: TypeAlias = Any
"""JSON data: null, true, false, a number, text, a list, or a map with text keys."""

KEY_TYPES: tuple[KeyType, ...] = get_args(KeyType)

_WORDS: Mapping[KeyType, str] = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "list": "a list",
    "map": "a mapping",
    "any": "a value",
}


def in_words(key_type: KeyType) -> str:
    """The type as an author would say it: `a whole number`."""
    return _WORDS[key_type]


def has_type(value: object, key_type: KeyType) -> bool:
    """Whether a blackboard key of this type may hold the value."""
    if value is None or key_type == "any":
        return True
    if key_type == "int":
        return isinstance(value, int) and not isinstance(value, bool)
    if key_type == "float":
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if key_type == "str":
        return isinstance(value, str)
    if key_type == "bool":
        return isinstance(value, bool)
    return isinstance(value, list | tuple) if key_type == "list" else isinstance(value, Mapping)
