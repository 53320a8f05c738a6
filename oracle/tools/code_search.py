"""Ranks the files of a project for a query, and chooses the lines to show.

A file's score is that of its words (`oracle.core.search.ranking.Ranking`) times the weight of its kind, and higher if
the query names it. The best files are then scored line by line: by the words in a line and around it, with a bonus for
a definition, and the largest bonus if the line contains the query literally.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from heapq import nsmallest

from bt_runtime.text.data import dataclass
from oracle.core.search.file_index import FileReading, Ranked
from oracle.core.search.query import ARTICLES, TermMatcher, fold
from oracle.core.search.ranking import SearchDocument
from oracle.tools.code_extract import DEFINITION, body, passing_mentions
from oracle.tools.code_kinds import kind_factor, kind_of
from oracle.tools.code_query import CodeQuery, Mention
from oracle.tools.text import FAR_BELOW, Decoded

READ_FILES = 40
"""Files that are read line by line."""
FIELD_WEIGHTS = (1.8, 0.72, 0.8, 0.2)
"""Of a file's name, its folders, its first 600 characters, which usually describe it, and the names that it defines."""
_HEAD_CHARS = 600
_MENTION_WEIGHT = 4.0
_LEAST_MENTION = 0.5
"""Of a path's parts, from its end; if only the name matches, it is probably a different file of that name."""
_PAIR_BONUS = 0.5
_PASSING_SHARE = 0.3
_NEAR_LINES = 6
_HITS_PER_FILE = 2
_SECOND_HIT = 0.6
_LINE_CHARS = 500
_IMPORT = re.compile(r"^[ \t]*(?:import|from|#include|using|use|require|package)\b[^\n]*", re.MULTILINE)
_PAGES = ("guide", "prose")
_CODE = frozenset(("implementation", "test", "example"))
_DEFINED = re.compile(r"(?:def|class|function|func|fn|interface|struct|trait|enum) +(\w{1,64})")
_ASSIGNMENT = re.compile(r"^(?P<name>[A-Za-z_][\w.-]{2,})\s*(?::[^=]{0,80})?(?:=(?!=)|:=|:$|:\s)")
_WORDS_FIRST = re.compile(r"\s{0,3}(?:[*_`>]{0,3}\s?)?\w[^|]*\s\w")
_HEADING = re.compile(r"^#{1,6}\s+(?P<name>.+)$")


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file with its score so far (greater is better), and the line that the query names, if any."""

    path: str
    score: float
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A place in a file.

    Args:
        line: its number, from 1.
        text: the line itself.
        n_terms: the number of the query's terms in the line and those around it.
        inner: the best line further inside the definition that begins here, with a term that is not around `line`.
    """

    path: str
    line: int
    score: float
    text: str
    n_terms: int = 0
    inner: int | None = None


FoundHit = tuple[CodeHit, list[str]]
"""A place with all lines of its file."""


def code_reading(path: str, text: str) -> FileReading:
    """A source file for the index: one document, with the fields of `FIELD_WEIGHTS`."""
    folders, _, last = path.rpartition("/")
    head = _IMPORT.sub("", text[:_HEAD_CHARS])  # imports describe other files
    names = " ".join(_DEFINED.findall(text)) if kind_of(path) in _CODE else ""
    return FileReading("", (SearchDocument(text, (last.partition(".")[0] or last, folders, head, names)),))


def rank_files(found: Ranked, query: CodeQuery, *, paths: Iterable[str]) -> list[RankedFile]:
    """Rank files by their words (`found`), kinds and mentions, best first; at most `READ_FILES` of `paths`."""
    scores = {place.path: score * kind_factor(place.path, intent=query.intent) for place, score in found.places}
    lines: dict[str, int | None] = {}
    for path in paths if query.mentions else ():
        share, lines[path] = _mentioned(path, query.mentions)
        if share:
            scores[path] = scores.get(path, 0.0) + share * (sum(found.weights) * _MENTION_WEIGHT + 10.0)
    best = nsmallest(READ_FILES, scores, key=lambda path: (-scores[path], path))
    return [RankedFile(path, scores[path], lines.get(path)) for path in best]


def best_lines(
    ranked: RankedFile, decoded: Decoded, query: CodeQuery, found: Ranked, matcher: TermMatcher
) -> list[CodeHit]:
    """The places of a file to show, best first; for a file that matches only by its path, its beginning."""
    lines = decoded.lines
    factor = kind_factor(ranked.path, intent=query.intent)
    if query.phrase and query.phrase in decoded.text.lower():
        ranked = replace(ranked, score=ranked.score + factor * (sum(found.weights) + 1.0))
    if ranked.line is not None and ranked.line <= len(lines):
        return [CodeHit(ranked.path, ranked.line, ranked.score, lines[ranked.line - 1])]
    if query.intent == "overview" and kind_of(ranked.path) in _PAGES:
        return [_introduction(ranked, lines)]
    scores = _LineScores(lines, query, found.weights, matcher).all()
    if not scores:
        first = next((number for number, line in enumerate(lines) if line.strip()), 0)
        return [CodeHit(ranked.path, first + 1, ranked.score, lines[first] if lines else "")]
    hits: list[CodeHit] = []
    inside: set[int] = set()
    for number in sorted(scores, key=lambda number: (-scores[number], number)):
        if len(hits) == _HITS_PER_FILE:
            break
        if number not in inside and all(abs(number + 1 - hit.line) > 2 * _NEAR_LINES for hit in hits):
            share = 1.0 if not hits else _SECOND_HIT
            score = share * (ranked.score + factor * scores[number])
            around = lines[max(number - _NEAR_LINES, 0) : number + _NEAR_LINES + 1]
            near = matcher.fits("\n".join(line[:_LINE_CHARS] for line in around)).keys()
            far = [at for at in body(lines, number) if at in scores and at - number > 2 * _NEAR_LINES]
            inside = inside or {at for at in far if matcher.fits(lines[at][:_LINE_CHARS]).keys() - near}
            inner = max(inside, key=lambda at: (scores[at], -at)) + 1 if inside and not hits else None
            hits.append(CodeHit(ranked.path, number + 1, score, lines[number], len(near), inner))
    return hits


def choose_hits(hits: Iterable[FoundHit], *, limit: int) -> list[FoundHit]:
    """The best hits, best first; those far below the best one are left out.

    The last one gives way to a page of documentation that has more of the query's terms than the best hit.
    """
    ranked = sorted(hits, key=lambda item: (-item[0].score, item[0].path, item[0].line))
    chosen = [item for item in ranked[:limit] if item[0].score >= FAR_BELOW * ranked[0][0].score]
    fuller = [each for each in ranked if each[0].n_terms > chosen[0][0].n_terms and kind_of(each[0].path) in _PAGES]
    if limit == 1 or not fuller or any(page in chosen for page in fuller):
        return chosen
    return [*chosen[: limit - 1], fuller[0]]


class _LineScores:
    """The scores of the lines of a file; `weights` and `matcher` are of the query's terms."""

    def __init__(self, lines: Sequence[str], query: CodeQuery, weights: Sequence[float], matcher: TermMatcher) -> None:
        self._lines = lines
        self._query = query
        self._fits = matcher.fits
        self._weights = weights

    def all(self) -> dict[int, float]:
        """The scores of the lines that match the query, by index."""
        own: dict[int, tuple[float, frozenset[int]]] = {}  # each line's own score, and the terms in it
        passing = passing_mentions(self._lines)
        for number, line in enumerate(line[:_LINE_CHARS] for line in self._lines):
            fits = self._fits(line)
            is_phrase = self._query.phrase != "" and self._query.phrase in line.lower()
            if fits or is_phrase:
                score = self._score(line, fits, is_phrase=is_phrase) * (_PASSING_SHARE if number in passing else 1)
                if score > 0:
                    own[number] = score, frozenset(fits)
        return {number: self._with_surroundings(number, own) for number in own}

    def _score(self, line: str, fits: Mapping[int, float], *, is_phrase: bool) -> float:
        weights = self._weights
        score = sum(weights[index] * fit for index, fit in fits.items()) + self._definition_bonus(line)
        for (one, two), pattern in zip(self._query.pairs, _pair_patterns(self._query), strict=True):
            if one in fits and two in fits and pattern.search(fold(line)):
                score += _PAIR_BONUS * (weights[one] + weights[two])
        return score + (2 * sum(weights) + 1.0 if is_phrase else 0.0)

    def _definition_bonus(self, line: str) -> float:
        """A bonus for a line that defines a name with words of the query, highest if the name is just that word."""
        found, factor = DEFINITION.match(line), 1.5
        if found is None:
            found, factor = _ASSIGNMENT.match(line) or _HEADING.match(line), 0.7
        if found is None:
            return 0.0
        name = found["name"]
        total = sum(self._weights) or 1.0
        bonus = 2 * factor * (total + 1.0) if fold(name) in self._query.names else 0.0
        for index, fit in self._fits(name).items():
            weight = factor * self._weights[index]
            # `def write` is the answer to "write", but only loosely related to "how do I write a tool".
            is_all = fold(name) == self._query.terms[index].word and index not in self._query.qualified
            bonus += weight * fit + (2 * weight * self._weights[index] / total if is_all else 0.0)
        return bonus

    def _with_surroundings(self, number: int, own: dict[int, tuple[float, frozenset[int]]]) -> float:
        """A line's score plus half the weights of further terms in the lines around it."""
        score, terms = own[number]
        around: set[int] = set()
        for other in range(number - _NEAR_LINES, number + _NEAR_LINES + 1):
            if other in own:
                around |= own[other][1]
        return score + 0.5 * sum(self._weights[index] for index in around - terms)


def _mentioned(path: str, mentions: Sequence[Mention]) -> tuple[float, int | None]:
    """How well a file matches a mention (less for later mentions), and the line of that mention."""
    best, line = 0.0, None
    for index, mention in enumerate(mentions):
        fit = mention.fit(path)
        if fit > _LEAST_MENTION and (fit := fit * (1 - 0.02 * index)) > best:
            best, line = fit, mention.line
    return best, line


def _introduction(ranked: RankedFile, lines: Sequence[str]) -> CodeHit:
    """The first paragraph of a page, after its title, images and badges."""
    number = next((number for number, line in enumerate(lines) if _WORDS_FIRST.match(line)), 0)
    return CodeHit(ranked.path, number + 1, ranked.score, lines[number] if lines else "")


@lru_cache(maxsize=64)
def _pair_patterns(query: CodeQuery) -> tuple[re.Pattern[str], ...]:
    """For each pair of the query an expression that finds adjacent terms: `node kinds`, `NodeKind`, `run the tests`."""
    between = rf"[^\W_]{{0,12}}[\W_]{{0,3}}(?:(?:{'|'.join(sorted(ARTICLES))})\s)?"
    stems = [(query.terms[one].stem, query.terms[two].stem) for one, two in query.pairs]
    return tuple(re.compile(re.escape(one) + between + re.escape(two)) for one, two in stems)
