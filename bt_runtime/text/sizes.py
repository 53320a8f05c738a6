"""How large a value is when it is written out, found in bounded time; and its size in its place."""

from collections.abc import Iterable, Mapping
from typing import Any

_SIZES = ({"characters"}, {"items"}, {"entries"})
_LONG = 64  # characters and items; what is shorter is hardly longer than its size

CHARACTERS_PER_TOKEN = 4
"""Where a provider reports no usage."""


def extent(value: object, *, most: int, with_texts: bool = True) -> int:
    """The number of items, entries and characters of a value, at all levels; beyond `most` it is not counted on.

    A value that is part of another several times counts each time, as it does in JSON: a list of two times itself,
    repeated fifty times, takes no memory and has 2^50 items.

    Args:
        value: JSON data.
        most: the greatest number of interest.
        with_texts: count the characters of texts.
    """
    found, rest = 0, [value]
    while rest and found <= most:
        each = rest.pop()
        if isinstance(each, str):
            found += len(each) if with_texts else 0
        elif isinstance(each, list | tuple):
            found += len(each)
            rest += each
        elif isinstance(each, Mapping):
            found += len(each)
            rest += each.values()
            rest += each if with_texts else ()
    return found


def size_of(value: Any) -> Any:  # noqa: ANN401  JSON data
    """A number, boolean, null, empty text or size as it is; the size of everything else."""
    if isinstance(value, str):
        return {"characters": len(value)} if value else value
    if isinstance(value, Mapping):
        return value if _is_size(value) else {"entries": len(value)}
    return {"items": len(value)} if isinstance(value, list | tuple) else value


def without_long(values: Iterable[tuple[str, Any]]) -> tuple[tuple[str, Any], ...]:
    """Keys and values, with sizes in the place of long values."""
    return tuple((key, size_of(value) if extent(value, most=_LONG) > _LONG else value) for key, value in values)


def _is_size(value: Mapping[str, Any]) -> bool:
    return set(value) in _SIZES and all(type(size) is int for size in value.values())


def estimate_tokens(characters: int) -> int:
    """The tokens of a text of that many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)
