"""Known names near a mistyped one."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Self

CUT_OFF = 0.75
"""The least similarity of a suggestion, as difflib counts it: one slip in a name of four letters is enough."""

_LONGEST_NAME = 80
"""Longer text is not a typing slip, and difflib takes quadratic time."""
_MOST_COMPARED = 5_000
"""difflib compares letter by letter; this many names take about 50 ms."""
_SHORTEST_ABBREVIATION = 3


class Suggestion(str):
    """A hint that says what to write instead of what is written; an editor can do it.

    Args:
        text: the hint.
        written: what stands at the place of the mistake.
    """

    __slots__ = ("instead", "written")

    written: str
    instead: str

    def __new__(cls, text: str, *, written: str, instead: str) -> Self:  # noqa: D102  described above
        made = super().__new__(cls, text)
        made.written, made.instead = written, instead
        return made

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (str(self),), {"written": self.written, "instead": self.instead}


def near(name: object, known: Iterable[str], *, most: int = 3) -> tuple[str, ...]:
    """The known names that `name` was probably meant to be, best first.

    Case, `-` and `_` make no difference. Where no name is similar, those that begin with `name` count as near, and
    those that `name` continues with another word (`log` for `log_level`).
    """
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return ()
    by_folded = {_folded(other): other for other in islice(known, _MOST_COMPARED)}
    folded = _folded(name)
    matches = get_close_matches(folded, by_folded, n=most, cutoff=CUT_OFF)
    if not matches and len(folded) >= _SHORTEST_ABBREVIATION:
        related = (other for other in by_folded if other.startswith(folded) or folded.startswith(f"{other}_"))
        matches = sorted(related, key=len)[:most]
    return tuple(by_folded[match] for match in matches)


def closest(name: object, known: Iterable[str]) -> str | None:
    """The known name that `name` was probably meant to be, `None` if nothing is near."""
    return next(iter(near(name, known, most=1)), None)


def did_you_mean(name: object, known: Iterable[str]) -> Suggestion | None:
    """The hint for a mistyped name, `None` if nothing is near."""
    match = closest(name, known)
    return Suggestion(f"did you mean {match!r}?", written=str(name), instead=match) if match is not None else None


def listing(names: Iterable[str], *, most: int = 12) -> str:
    """Names for a hint, the first of them if there are many: `a, b, c, … (7 more)`."""
    known = sorted(names)
    shown = ", ".join(known[:most])
    return shown if len(known) <= most else f"{shown}, … ({len(known) - most} more)"


def _folded(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")
