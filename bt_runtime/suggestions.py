"""The nearest known name to a mistyped one."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_NAME = 80
"""Longer text is no typing slip, and difflib takes quadratic time."""


def closest(name: object, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, `None` if nothing is near."""
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    names = list(known)
    folded = name.strip().lower().replace("-", "_").replace(" ", "_")
    if folded in names and folded != name:
        return folded
    matches = get_close_matches(folded, names, n=1, cutoff=0.6)
    if matches:
        return matches[0]
    extended = [other for other in names if len(folded) >= 3 and other.startswith(folded)]
    return min(extended, key=len) if extended else None


def did_you_mean(name: object, known: Iterable[str]) -> str | None:
    """The hint for a mistyped name, `None` if nothing is near."""
    match = closest(name, known)
    return f"did you mean {match!r}?" if match is not None else None


def listing(names: Iterable[str], *, most: int = 12) -> str:
    """Names for a hint, the first of them if there are many: `a, b, c, … (7 more)`."""
    known = sorted(names)
    shown = ", ".join(known[:most])
    return shown if len(known) <= most else f"{shown}, … ({len(known) - most} more)"
