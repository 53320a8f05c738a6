"""Ranking: which files of a project answer a query best, and which of their lines to show.

A file's score is BM25 over the query's words (rare words count more, long files less), with the words in its path
counted too, times the share of the query that it covers. The best files are then read line by line: a line scores by
the words in it and around it, more if it defines something of that name, most if the query stands in it as it is.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from oracle.tools.code_extract import DEFINITION, passing_mentions
from oracle.tools.code_files import ProjectFile
from oracle.tools.code_kinds import kind_factor, kind_of
from oracle.tools.code_query import ARTICLES, Query, Term, lower, occurrences
from oracle.tools.code_scan import FileCounts, phrase_at

READ_FILES = 40
"""Files that are looked at line by line."""
_SATURATION = 1.2
_LENGTH_SHARE = 0.5
_PATH_WEIGHT = 1.8
_HEAD_WEIGHT = 0.8
_MENTION_WEIGHT = 4.0
_PAIR_BONUS = 0.5
_PASSING_SHARE = 0.3
_PRIVATE_SHARE = 0.7
_SUMMARY_SHARE = 0.6
"""Of a one-line summary at the top of a file: it is counted for the file already, and says little when it is quoted."""
_NEAR_LINES = 6
_HITS_PER_FILE = 2
_SECOND_HIT = 0.6
_LINE_CHARS = 500
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_][\w.-]{2,})\s*(?::[^=]{0,80})?(?:=(?!=)|:=|:$|:\s)")
_ONE_LINE_SUMMARY = re.compile(r'r?"""[^"]{1,200}"""\s*$')
_WORDS_FIRST = re.compile(r"\s{0,3}(?:[*_`>]{0,3}\s?)?\w[^|]*\s\w")
_HEADING = re.compile(r"^#{1,6}\s+(?P<name>.+)$")


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file with its score so far, greater is better; and the line that the query names, if it does."""

    file: ProjectFile
    score: float
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a file: the line from 1, its score, and the line itself."""

    path: str
    line: int
    score: float
    text: str


def rarities(matches: Sequence[FileCounts], query: Query, *, files: int) -> tuple[float, ...]:
    """How much each term tells, by the share of all files that have it; 0 for one that stands nowhere."""
    found = []
    for index, term in enumerate(query.terms):
        having = sum(1 for match in matches if match.by_term[index] or match.in_path[index])
        rarity = math.log(1 + (files - having + 0.5) / (having + 0.5)) if having else 0.0
        found.append(term.weight * rarity)
    return tuple(found)


def rank_files(
    matches: Sequence[FileCounts], query: Query, *, rarity: Sequence[float], mean_bytes: float
) -> list[RankedFile]:
    """The files by their words and paths, best first; at most `READ_FILES`."""
    total = sum(rarity) or 1.0
    ranked = []
    for match in matches:
        length = 1 - _LENGTH_SHARE + _LENGTH_SHARE * match.file.size / max(mean_bytes, 1.0)
        score = covered = 0.0
        for weight, count, fit, head in zip(rarity, match.by_term, match.in_path, match.in_head, strict=True):
            in_text = count * (_SATURATION + 1) / (count + _SATURATION * length)
            score += weight * (in_text + _PATH_WEIGHT * fit + _HEAD_WEIGHT * head)
            covered += weight * min(count + fit, 1.0)
        score *= 0.25 + 0.75 * covered / total
        if match.has_phrase:
            score += total + 1.0
        score *= kind_factor(match.file.path, wish=query.wish)
        score += match.mentioned * (total * _MENTION_WEIGHT + 10.0)
        ranked.append(RankedFile(match.file, score, match.mentioned_line))
    ranked.sort(key=lambda ranked_file: (-ranked_file.score, ranked_file.file.path))
    return ranked[:READ_FILES]


def best_lines(ranked: RankedFile, lines: Sequence[str], query: Query, *, rarity: Sequence[float]) -> list[Hit]:
    """The places of a file to show, best first; a file that matches by its path alone shows its beginning."""
    if ranked.line is not None and ranked.line <= len(lines):
        return [Hit(ranked.file.path, ranked.line, ranked.score, lines[ranked.line - 1])]
    if query.wish == "overview" and kind_of(ranked.file.path) in ("guide", "prose"):
        return [_introduction(ranked, lines)]
    rarity = _without_mentions(ranked, query, rarity)
    own: dict[int, tuple[float, frozenset[int]]] = {}
    needle = re.compile("|".join(re.escape(text) for text in query.needles))  # one look at each of very many lines
    passing = passing_mentions(lines)
    for number, line in enumerate(lines):
        lowered = line[:_LINE_CHARS].lower()
        if not needle.search(lowered) or _repeats(query, lowered):
            continue
        scored = _line_score(line[:_LINE_CHARS], query, rarity)
        if scored is not None and scored[0] > 0:
            share = _PASSING_SHARE if number in passing else _SUMMARY_SHARE if _ONE_LINE_SUMMARY.match(line) else 1.0
            own[number] = (share * scored[0], scored[1])
    if not own:
        first = next((number for number, line in enumerate(lines) if line.strip()), 0)
        return [Hit(ranked.file.path, first + 1, ranked.score, lines[first] if lines else "")]
    scores = {number: _with_surroundings(number, own, rarity) for number in own}
    factor = kind_factor(ranked.file.path, wish=query.wish)
    hits: list[Hit] = []
    for number in sorted(scores, key=lambda number: (-scores[number], number)):
        if len(hits) == _HITS_PER_FILE:
            break
        if all(abs(number + 1 - hit.line) > 2 * _NEAR_LINES for hit in hits):
            share = 1.0 if not hits else _SECOND_HIT
            score = share * (ranked.score + factor * scores[number])
            hits.append(Hit(ranked.file.path, number + 1, score, lines[number]))
    return hits


def _introduction(ranked: RankedFile, lines: Sequence[str]) -> Hit:
    """The first paragraph of a page, past its title, pictures and badges."""
    number = next((number for number, line in enumerate(lines) if _WORDS_FIRST.match(line)), 0)
    return Hit(ranked.file.path, number + 1, ranked.score, lines[number] if lines else "")


def _repeats(query: Query, lowered: str) -> bool:
    """Whether a line has the question word for word, and is not the heading of its answer."""
    return bool(query.question) and query.question in lowered and not _HEADING.match(lowered)


def _without_mentions(ranked: RankedFile, query: Query, rarity: Sequence[float]) -> Sequence[float]:
    """In a file that the query names, the words of that name tell no line from another."""
    named = " ".join(mention.path for mention in query.mentions if mention.fit(ranked.file.path) > 0)
    if not named:
        return rarity
    return [0.0 if term.word in named else weight for term, weight in zip(query.terms, rarity, strict=True)]


def _line_score(line: str, query: Query, rarity: Sequence[float]) -> tuple[float, frozenset[int]] | None:
    """A line's own score and the terms in it; `None` if nothing of the query stands there."""
    original, lowered = lower(line)
    fits: dict[int, float] = {}
    for index, term in enumerate(query.terms):
        if term.stem in lowered:
            fit = max((fit for _, fit in occurrences(original, lowered, term)), default=0.0)
            if fit:
                fits[index] = fit
    has_phrase = any(phrase_at(lowered, phrase) >= 0 for phrase in query.phrases)
    if not fits and not has_phrase:
        return None
    score = sum(rarity[index] * fit for index, fit in fits.items())
    score += _definition_bonus(original, query.terms, rarity)
    for (one, two), pattern in zip(query.pairs, _pair_patterns(query), strict=True):
        if one in fits and two in fits and pattern.search(lowered):
            score += _PAIR_BONUS * (rarity[one] + rarity[two])
    if has_phrase:
        score += sum(rarity) + 1.0
    return score, frozenset(fits)


@lru_cache(maxsize=64)
def _pair_patterns(query: Query) -> tuple[re.Pattern[str], ...]:
    """For each pair of the query what finds it side by side: `node kinds`, `NodeKind`, `run the tests`."""
    between = rf"[^\W_]{{0,12}}[\W_]{{0,3}}(?:(?:{'|'.join(sorted(ARTICLES))})\s)?"
    stems = [(query.terms[one].stem, query.terms[two].stem) for one, two in query.pairs]
    return tuple(re.compile(re.escape(one) + between + re.escape(two)) for one, two in stems)


def _definition_bonus(line: str, terms: Sequence[Term], rarity: Sequence[float]) -> float:
    """More for a line that defines a name with the query's words in it, most if it is just that name."""
    found = DEFINITION.match(line)
    factor = 1.5
    if found is None:
        found, factor = _ASSIGNMENT.match(line) or _HEADING.match(line), 0.7
    if found is None:
        return 0.0
    name = found["name"]
    if name.startswith("_"):
        factor *= _PRIVATE_SHARE
    original, lowered = lower(name)
    bonus = 0.0
    total = sum(rarity) or 1.0
    for term, weight in zip(terms, rarity, strict=True):
        fit = max((fit for _, fit in occurrences(original, lowered, term)), default=0.0)
        bonus += factor * weight * fit
        if lowered == term.word:
            # `def write` is what "write" asks for, and a small part of "how do I write a tool".
            bonus += 2 * factor * weight * weight / total
    return bonus


def _with_surroundings(number: int, own: dict[int, tuple[float, frozenset[int]]], rarity: Sequence[float]) -> float:
    """A line's score, and half of what the lines around it add in terms that it has not itself."""
    score, terms = own[number]
    around: set[int] = set()
    for other in range(number - _NEAR_LINES, number + _NEAR_LINES + 1):
        if other in own:
            around |= own[other][1]
    return score + 0.5 * sum(rarity[index] for index in around - terms)
