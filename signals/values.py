"""Converts the text of a field to its type: lenient where the meaning is clear, a `FieldError` where it is not.

Lists are JSON arrays or comma-separated text. Models also write a bracketed list without quotes, one
bullet a line, repeated elements, or an element for each item; these are accepted too.
"""

import json
import re
from collections.abc import Iterable, Sequence

from .errors import FieldError
from .markup import WHITE, read_body

DEFAULT_CONFIDENCE = 0.5
"""The confidence of a signal that has no readable one."""

_MAX_DIGITS = 15  # a JSON reader keeps that many exactly, and no count of sources, turns or tokens has more
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_ENTITY = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_INTEGER = re.compile(r"([+-]?)([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(?:\.0+)?")
_NUMBER = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)[ ]*(%?)")
_BULLET = re.compile(r"[ \t]*(?:[-*•]|[0-9]{1,3}[.)])[ \t]+")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with NUL and lone surrogates, which databases or UTF-8 do not accept, as U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def decode(text: str) -> str:
    """The character data of an element or attribute: entities decoded once, CDATA sections unchanged."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<![CDATA[", at)) >= 0:
        end = text.find("]]>", start + 9)
        if end < 0:
            break
        pieces += (_ENTITY.sub(_character, text[at:start]), text[start + 9 : end])
        at = end + 3
    pieces.append(_ENTITY.sub(_character, text[at:]))
    return storable("".join(pieces))


def read_words(texts: Sequence[str]) -> str:
    """Text, without the white space around it.

    Raises:
        FieldError: it is empty.
    """
    words = decode(texts[0]).strip()
    if not words:
        raise FieldError("is empty; text is wanted")
    return words


def read_integer(texts: Sequence[str]) -> int:
    """An integer: `3`, `+3`, `3.0`, `1,200`.

    Raises:
        FieldError: it is not an integer, or has more than 15 digits.
    """
    text = decode(texts[0]).strip()
    match = _INTEGER.fullmatch(text)
    if match is None or len(match[2]) > _MAX_DIGITS:
        raise FieldError(f"is {text!r}; a whole number of at most {_MAX_DIGITS} digits is wanted")
    return int(match[1] + match[2].replace(",", ""))


def read_list(texts: Sequence[str]) -> list[str]:
    """A list of non-empty texts; several elements are one list.

    Raises:
        FieldError: a JSON array that contains anything but strings, or has no end.
    """
    return [item for text in texts for item in _items(text)]


def read_confidence(text: str | None) -> tuple[float, str | None]:
    """A confidence in 0.0-1.0, and a warning if it was assumed or corrected."""
    given = "" if text is None else decode(text).strip()
    if not given:
        return DEFAULT_CONFIDENCE, f"no confidence; {DEFAULT_CONFIDENCE} is assumed"
    match = _NUMBER.fullmatch(given)
    if match is None:
        return (
            DEFAULT_CONFIDENCE,
            f"confidence is {given!r}, not a number from 0.0 to 1.0; {DEFAULT_CONFIDENCE} is assumed",
        )
    value = float(match[1]) / (100 if match[2] else 1)
    clamped = min(1.0, max(0.0, value))
    return clamped, None if clamped == value else f"confidence is {given!r}, outside 0.0 to 1.0; {clamped} is taken"


def _character(match: re.Match[str]) -> str:
    """The character of an entity; an entity of no valid character is returned unchanged."""
    name, decimal, hexadecimal = match.groups()
    if name:
        return _ENTITIES[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    if not 0 < code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return match[0]
    return chr(code)


def _items(raw: str) -> list[str]:
    """The items of one element's text."""
    body = read_body(raw, 0, len(raw))
    if body.children and not body.stray and body.nested_at is None:
        return _without_blanks(decode(child.text) for child in body.children)
    text = decode(raw).strip()
    if text.startswith("["):
        return _bracketed(text)
    lines = [line for line in text.splitlines() if line.strip(WHITE)]
    unmarked = [line[bullet.end() :] for line in lines if (bullet := _BULLET.match(line))]
    return _without_blanks(unmarked) if 1 < len(unmarked) == len(lines) else _separated(text)


def _bracketed(text: str) -> list[str]:
    """The items of a text that begins with `[`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if text.endswith("]"):
            return _separated(text[1:-1])
        if text[1:].lstrip().startswith(('"', "'")):
            raise FieldError(f"is {text!r}; a JSON array ends with ']'") from None
        return _separated(text)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise FieldError(f"is {text!r}; an array of strings is wanted")
    return _without_blanks(storable(item) for item in value)


def _separated(text: str) -> list[str]:
    """The items of a comma-separated text, without quotation marks around them."""
    items = (item.strip() for item in text.split(","))
    return _without_blanks(
        item[1:-1] if len(item) > 1 and item[0] == item[-1] and item[0] in "\"'" else item for item in items
    )


def _without_blanks(items: Iterable[str]) -> list[str]:
    return [item.strip() for item in items if item.strip()]
