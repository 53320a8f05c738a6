"""What tools read and where they write, as their authors and operators say it: `{"reads": "private"}`."""

from collections.abc import Mapping, Sequence
from typing import Final

from bt_runtime.text import brief, did_you_mean
from oracle.tools.protocol import READS, WRITES, Tool

Labels = Mapping[str, str | Sequence[str]]
"""`reads` and `writes`, each with one word or several of `READS` or `WRITES` and their opposites."""

STORED: Final[Labels] = {"reads": ["private", "untrusted"]}
"""Of tools that read files of the user: others can have written what is in them."""

_VERBS: Final = {"reads": READS, "writes": WRITES}


def labels_of(given: Labels) -> frozenset[str]:
    """The labels as a tool has them; an empty mapping says that it has none.

    Raises:
        ValueError: a word is unknown, or two contradict each other; the message says what would be right.
    """
    found: list[str] = []
    for verb, words in given.items():
        if verb not in _VERBS:
            raise ValueError(
                f"labels have no {brief(verb)}; {did_you_mean(verb, _VERBS) or 'there are: reads, writes'}"
            )
        opposites = _VERBS[verb]
        known = (*opposites, *opposites.values())
        for word in (words,) if isinstance(words, str) else words:
            if word not in known:
                hint = did_you_mean(word, known) or f"one of: {', '.join(known)}"
                raise ValueError(f"{brief(word)} is no label of what a tool {verb}; {hint}")
            found.append(word)
    labels = frozenset(found)
    if clash := contradiction(labels):
        raise ValueError(f"{clash[0]!r} and {clash[1]!r} contradict each other; keep one of them")
    return labels


def contradiction(labels: frozenset[str]) -> tuple[str, str] | None:
    """A label and its opposite that are both given; `None` if there are none."""
    return next(((label, no) for label, no in {**READS, **WRITES}.items() if {label, no} <= labels), None)


def shown_labels(tool: Tool) -> str:
    """The labels of a tool in a line: `reads private; writes outward`."""
    if tool.labels is None:
        return "not labelled: counts as private, untrusted and outward"
    parts = []
    for verb, opposites in _VERBS.items():
        if words := [word for pair in opposites.items() for word in pair if word in tool.labels]:
            parts.append(f"{verb} {', '.join(words)}")
    return "; ".join(parts) or "reads and writes nothing of these"
