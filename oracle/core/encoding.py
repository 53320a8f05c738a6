"""JSON text, and a fast dataclass for objects that a query creates often."""

import json
import re
from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass
from typing import Any, TypeVar, dataclass_transform

import orjson

from bt_runtime.text.data import dataclass

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def held_frozen(cls: type[_T]) -> type[_T]:
    """A dataclass with slots that is frozen only for type checkers, but compared and hashed as a frozen one.

    Frozen at run time too, each would set its fields through `object.__setattr__`, which takes three times as long.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


_HUGE = re.compile(r"[0-9]{309}")
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def to_json(value: Any) -> bytes:  # noqa: ANN401  JSON data
    """`value` as compact UTF-8 JSON; of a dataclass an object with its fields.

    A lone surrogate (a model or a tool may bring one) becomes U+FFFD, character by character, so that texts that were
    equal when joined stay equal. Numbers that JSON cannot express become `null`.

    Raises:
        TypeError: it is no JSON data.
        RecursionError: it is nested more deeply than Python's own JSON can be.
    """
    try:
        # Copied: what orjson returns keeps its whole buffer, 4 KB for a chunk of 100 bytes (seen with 3.13).
        return b"%b" % orjson.dumps(value)
    except TypeError:
        return _dumped(value)


def from_json(data: bytes | str) -> Any:  # noqa: ANN401  JSON data
    """The value behind JSON text.

    Raises:
        ValueError: it is no JSON.
    """
    return orjson.loads(data)


def scrub(text: str) -> str:
    """The text with U+FFFD in the place of each lone surrogate."""
    return text if text.isascii() else text.translate(_SURROGATES)


def _dumped(value: Any) -> bytes:  # noqa: ANN401
    """The same for what orjson refuses: lone surrogates, whole numbers of any size, and deep nests."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
    if "NaN" in text or "Infinity" in text or _HUGE.search(text):  # no reader has such numbers; texts stay as they are
        readable = json.loads(text, parse_constant=lambda _: None, parse_int=_readable)
        text = json.dumps(readable, ensure_ascii=False, separators=(",", ":"))
    return scrub(text).encode()


def _readable(digits: str) -> int | None:
    """A whole number, unless it is so large that `from_json` may refuse it."""
    return None if _HUGE.search(digits) else int(digits)


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    raise TypeError(f"a {type(value).__name__} is no JSON data")
