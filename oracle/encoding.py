"""JSON for the wire and the store: fast, compact, and safe for texts that are not quite Unicode."""

from collections.abc import Mapping
from typing import Any

import orjson

_SURROGATES = {code: "\ufffd" for code in range(0xD800, 0xE000)}


def to_json(value: Any) -> bytes:  # noqa: ANN401  JSON data
    """`value` as compact UTF-8 JSON.

    A lone surrogate (a model or a tool may bring one) becomes U+FFFD, character by character, so that texts that were
    equal when joined stay equal.

    Raises:
        TypeError: it is no JSON data.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return orjson.dumps(_scrubbed(value))


def from_json(data: bytes | str) -> Any:  # noqa: ANN401  JSON data
    """The value behind JSON text.

    Raises:
        ValueError: it is no JSON.
    """
    return orjson.loads(data)


def scrub(text: str) -> str:
    """The text with U+FFFD in the place of each lone surrogate."""
    return text if text.isascii() else text.translate(_SURROGATES)


def _scrubbed(value: Any) -> Any:  # noqa: ANN401  JSON data
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {_scrubbed(key): _scrubbed(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_scrubbed(each) for each in value]
    return value
