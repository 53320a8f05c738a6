"""Tool results as the token budget can pay for them."""

from collections.abc import Sequence
from dataclasses import replace

from oracle.agent.outcomes import CallResult

_LEAST = 400
"""Characters of a result that are never cut off."""


def fitted(results: Sequence[CallResult], *, characters: int) -> tuple[CallResult, ...]:
    """The results with the longest ones cut, so that together they have about so many characters.

    A cut result says so, and how to get the rest of it.
    """
    left, most = characters, 0
    for waiting, size in zip(range(len(results), 0, -1), sorted(len(each.text) for each in results), strict=True):
        most = max(_LEAST, left // waiting)  # what shorter results leave is for the longer ones
        left -= min(size, most)
    return tuple(replace(each, text=_cut(each.text, most)) if len(each.text) > most else each for each in results)


def _cut(text: str, most: int) -> str:
    kept = text[:most].rpartition("\n")[0] or text[:most]
    return (
        f"{kept}\n\n[Cut: the first {len(kept):,} of {len(text):,} characters; the token budget pays for no more. "
        "For the rest, read a range of lines, or search with narrower words.]"
    )
