"""The terms of a question, and how well a text matches them."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from oracle.core.search.words import IDENTIFIER, STOP_WORDS, fold, keys, stem, tokens

MAX_QUERY_CHARS = 1_000
_MAX_TERMS = 24
_IDENTIFIER_WEIGHT = 2.0
_PART_WEIGHT = 0.5
_OTHER_FORM, _LONGER_WORD = 0.8, 0.4
_MOST_KNOWN = 20_000
"""Tokens whose fits are kept; hostile texts have no word twice."""
_PREFIX_CHARS = 4
"""Shorter stems do not match the beginning of longer words: `id` is not in `idea`."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question.

    Args:
        word: folded.
        stem: the prefix of its forms; the word itself for identifiers and numbers.
        weight: its importance relative to the other terms, before its rarity is known.
        is_identifier: a whole identifier of several parts.
    """

    word: str
    stem: str
    weight: float = 1.0
    is_identifier: bool = False

    def fit(self, key: str) -> float:
        """How well a key of the index (`words.keys`) matches.

        It is 1 for the word itself, 0.8 for another form of it, 0.4 for a longer word that begins with it (or ends with
        it, if it is an identifier), else 0.
        """
        is_whole = key.startswith(IDENTIFIER)
        name = key[is_whole:]
        if name == self.word:
            return 1.0
        if self.is_identifier:
            return _LONGER_WORD if is_whole and (name.startswith(self.word) or name.endswith(self.word)) else 0.0
        if is_whole or not name.startswith(self.stem):
            return 0.0
        if stem(name) == self.stem:
            return _OTHER_FORM
        return _LONGER_WORD if len(self.stem) >= _PREFIX_CHARS else 0.0


def terms_of(
    text: str, *, stop_words: Collection[str] = STOP_WORDS, weights: Mapping[str, float] | None = None
) -> tuple[Term, ...]:
    """The terms of a question, each once, the most important first.

    Args:
        text: the question; only its first `MAX_QUERY_CHARS` are read.
        stop_words: folded words to ignore, unless there are no others.
        weights: of single words, folded; 1 by default.
    """
    written = dict.fromkeys(tokens(text[:MAX_QUERY_CHARS]))
    telling = [token for token in written if fold(token) not in stop_words]
    found: dict[tuple[str, bool], Term] = {}
    for token in telling or written:
        *words, last = keys(token) or ("",)
        is_identifier = last.startswith(IDENTIFIER)
        if is_identifier:
            name = last.removeprefix(IDENTIFIER)
            found.setdefault((name, True), Term(name, name, _IDENTIFIER_WEIGHT, is_identifier=True))
        for word in words if is_identifier else (*words, last):
            weight = _PART_WEIGHT if is_identifier else (weights or {}).get(word, 1.0)
            if len(word) > 1 or (word and not word.isascii()):
                found.setdefault((stem(word), False), Term(word, stem(word), weight))
    return tuple(sorted(found.values(), key=lambda term: -term.weight)[:_MAX_TERMS])


class TermMatcher:
    """Finds the terms of a question in texts."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        self._needle = re.compile("|".join(re.escape(term.stem) for term in terms)) if terms else None
        self._known: dict[str, tuple[tuple[int, float], ...]] = {}

    def fits(self, text: str) -> dict[int, float]:
        """Find the terms in a text: their indices, with the best `Term.fit` of each."""
        found: dict[int, float] = {}
        if self._needle is None or not self._needle.search(fold(text)):  # most lines contain no term
            return found
        for token in tokens(text):
            known = self._known.get(token)
            for index, fit in self._fits_of(token) if known is None else known:
                if fit > found.get(index, 0.0):
                    found[index] = fit
        return found

    def _fits_of(self, token: str) -> tuple[tuple[int, float], ...]:
        found = keys(token)
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        best = ((index, max(map(term.fit, found), default=0.0)) for index, term in enumerate(self._terms))
        known = self._known[token] = tuple((index, fit) for index, fit in best if fit)
        return known
