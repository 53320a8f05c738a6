"""What a search has found, for the offline model: passages parsed from a tool's result, chosen, and quoted.

The search tools write text for a model: a hit begins with `path:line (score 3.20)` or `path — title (score 1.10)`, and
the lines of the file follow with their numbers (`> 12 | text`). Notes in square brackets and other text are skipped.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from oracle.core.chunks import SourceType
from oracle.core.search.words import STOP_WORDS, fold, keys, stem, tokens

_MAX_TERMS = 12
_MAX_PASSAGES = 4
_MAX_LINE_CHARS = 240
_NUMBERED = re.compile(r"[> ] *\d{1,9} \| ?(?P<text>.*)")
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a file, a note or a thread.

    Args:
        place: `path:line`, or the path alone.
        source_type: what the tool that found it searches.
        text: its lines, without their numbers.
    """

    place: str
    source_type: SourceType
    text: str


def key_terms(question: str) -> tuple[str, ...]:
    """The significant words of a question as written, each once."""
    words: dict[str, str] = {}
    for word in tokens(question):
        if (len(word) > 1 or not word.isascii()) and fold(word) not in STOP_WORDS:
            words.setdefault(fold(word), word)
    return tuple(words.values())[:_MAX_TERMS]


def matching(passages: Iterable[Passage], terms: Sequence[str]) -> tuple[str, ...]:
    """The terms that occur in the passages or their paths, in any form and as a part of an identifier."""
    there = {part for passage in passages for part in _stems(f"{passage.place}\n{passage.text}")}
    return tuple(term for term in terms if there.issuperset(_stems(term)))


def read_passages(result: str, source_type: SourceType) -> list[Passage]:
    """The passages in a tool's result, in its order; empty if the text has another format."""
    found: list[tuple[str, list[str]]] = []
    for line in result.split("\n"):
        heading, is_hit, _ = line.rpartition(" (score ")
        if is_hit and line[0] not in " >[|" and line.endswith(")"):
            found.append((heading.partition(" — ")[0], []))
        elif found and not line.startswith("["):
            numbered = _NUMBERED.fullmatch(line)
            found[-1][1].append(numbered["text"] if numbered else line.strip())
    texts = ((place, textwrap.dedent("\n".join(lines)).strip("\n")) for place, lines in found)
    return [Passage(place, source_type, text) for place, text in texts if text.strip()]


def best_passages(searches: Iterable[Sequence[Passage]], terms: Sequence[str]) -> list[Passage]:
    """The passages to quote: of the search that has matched most terms, then of those that have at least half as many.

    Args:
        searches: the passages of each tool, in its order, which stays: a search knows how rare each word is.
        terms: the question's.
    """
    counted = [(len(matching(found[:_MAX_PASSAGES], terms)), found) for found in searches if found]
    counted.sort(key=lambda search: -search[0])
    return [passage for count, found in counted if 2 * count >= counted[0][0] for passage in found][:_MAX_PASSAGES]


def quotation(passage: Passage, *, max_chars: int) -> str:
    """The passage below its place, in a fence that nothing in it can close."""
    body: list[str] = []
    for line in passage.text.split("\n"):
        max_chars -= len(line) + 1
        if body and max_chars < 0:
            body.append("…")
            break
        body.append(line[:_MAX_LINE_CHARS] + ("…" if len(line) > _MAX_LINE_CHARS else ""))
    longest = max(map(len, _BACKTICKS.findall("\n".join(body))), default=0)
    fence = "`" * max(3, longest + 1)
    extension = re.search(r"\.([a-z]{1,10})(?::\d+)?$", passage.place)
    place = passage.place.replace("`", "")
    return "\n".join([f"**`{place}`**", fence + (extension[1] if extension else "text"), *body, fence])


def _stems(text: str) -> set[str]:
    return {stem(key) for token in tokens(text) for key in keys(token)}
