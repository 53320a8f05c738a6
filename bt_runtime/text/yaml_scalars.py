"""The values of plain scalars by the core schema of YAML 1.2, not PyYAML's YAML 1.1.

So `on`, `yes` and `NO` are text, `12:30:00` is text and not 45 000 seconds, `2024-01-01` is text, and octal is `0o17`.
"""

import math
import re

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_CONSTANTS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_LARGEST_INT = 2**63 - 1
_LONGEST_NUMBER = 60

Scalar = str | int | float | bool | None


def resolve(text: str) -> Scalar:
    """The value of a plain scalar.

    Raises:
        ValueError: for a number that other readers of JSON cannot represent: beyond 64 bits, infinite, not a number.
    """
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in "+-.0123456789":
        return text
    if _INT.fullmatch(text):
        return _int(text, 10)
    if _OCTAL.fullmatch(text):
        return _int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return _int(text[2:], 16)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if not math.isfinite(value):
            raise ValueError("the number is too large")
        return value
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("only finite numbers can be used")
    return text


def _int(digits: str, base: int) -> int:
    value = int(digits, base) if len(digits) <= _LONGEST_NUMBER else _LARGEST_INT + 1
    if not -_LARGEST_INT <= value <= _LARGEST_INT:
        raise ValueError("the number is too large for 64 bits")
    return value
