"""Splits an answer into sentences, and hides what is no statement of its author: code blocks and quotations.

What is hidden is replaced by as many other characters, so that places stay the same. Every pattern here and in the
modules beside it takes a time that grows with the length of the text alone.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

LONGEST: Final = 200_000
"""Characters of an answer that are read."""
LONGEST_SENTENCE: Final = 1_000
_TIDY: Final = str.maketrans({0x2018: "'", 0x2019: "'", 0x2013: "-", 0x2014: "-", 0x201C: '"', 0x201D: '"', 0xA0: " "})
_FENCE: Final = re.compile(r"^[ \t]{0,6}(?:[-*+]\s+)?(`{3,}|~{3,})", re.MULTILINE)
_HIDDEN: Final = re.compile(
    r'"[^"\n]{1,1000}"|«[^«»\n]{1,1000}»|^[ \t]{0,6}>[^\n]*|\b[a-z][a-z0-9+.-]{1,9}://[^\s)>\]]+|\b(?:www\.|mailto:)[^\s)>\]]+',
    re.IGNORECASE | re.MULTILINE,
)
_QUOTED: Final = re.compile(r'"([^"\n]{1,1000})"|«([^«»\n]{1,1000})»')
_END: Final = re.compile(r"(?<![.!?…])[.!?…]+[\"')\]*_]{0,4}(?=\s)|\n")
_SHORTENED: Final = re.compile(
    r"\b(?:e\.g|i\.e|etc|vs|cf|approx|fig|resp|incl|Mr|Ms|Dr|St)\.$|(?:^|\n)[ \t]{0,20}\d{1,3}\.$", re.IGNORECASE
)


class Sentence(NamedTuple):
    """A sentence, a list item or a heading.

    Args:
        text: with plain quotation marks and dashes.
        plain: the same, with quotations and addresses hidden.
        start: its place in the answer.
        above: the sentence before it.
    """

    text: str
    plain: str
    start: int
    above: str


def tidied(answer: str) -> str:
    """The beginning of an answer, with plain quotation marks and dashes, and its code blocks hidden."""
    text = answer[:LONGEST].translate(_TIDY)
    parts, at, opened = [], 0, None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
            parts.append(text[at : fence.start()])
        elif fence[1].startswith(opened[1]):
            end = (text.find("\n", fence.end()) + 1 or len(text) + 1) - 1
            parts.append(re.sub(r"[^\n]", " ", text[opened.start() : end]))
            at, opened = end, None
    return "".join([*parts, re.sub(r"[^\n]", " ", text[opened.start() :]) if opened else text[at:]])


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a tidied text, in order."""
    plain, start, above = _HIDDEN.sub(lambda found: "~" * len(found[0]), text), 0, ""
    for end in [*(found.end() for found in _END.finditer(plain)), len(text)]:
        part = text[start:end]
        if end < len(text) and end - start < LONGEST_SENTENCE and _SHORTENED.search(part):
            continue
        if stripped := part.strip():
            at = start + len(part) - len(part.lstrip())
            stop = at + min(len(stripped), LONGEST_SENTENCE)
            yield Sentence(text[at:stop], plain[at:stop], at, above)
            above = text[at:stop]
        start = end


def quotations(text: str) -> Iterator[tuple[int, str]]:
    """What stands in quotation marks in a text, with its place."""
    for found in _QUOTED.finditer(text):
        yield found.start(), found[1] or found[2]


def block_quotes(text: str) -> Iterator[tuple[int, str, str]]:
    """The block quotes of a text: place, words, and the last line above that is not empty."""
    at, start, above, quoted = 0, 0, "", list[str]()
    for line in [*text.split("\n"), ""]:
        if line.lstrip().startswith(">"):
            start = start if quoted else at
            quoted.append(line.lstrip(" \t>"))
        else:
            if quoted:
                yield start, " ".join(quoted), above
            quoted, above = [], line if line.strip() else above
        at += len(line) + 1
