"""A question as terms: its words without stop words.

The tokenizer splits text into the words that are indexed and searched. Rules:

- A token is a run of letters, digits and underscores that begins with a letter or an underscore, or a number of two or
  more digits.
- Words are compared without case and diacritics: `Café` is `cafe`.
- An identifier is indexed by its parts and as a whole: `parse_HTTPRequest2` gives `parse`, `http`, `request` and
  `=parse_httprequest2`.
- Scripts that put no spaces between words are indexed by overlapping pairs of characters.
- A stem is always a prefix of its word. An index holds words, and a query finds their forms by the stem.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

from bt_runtime.text.data import dataclass

IDENTIFIER = "="
"""The prefix of the key of a whole identifier."""
_MAX_TOKEN_CHARS = 64
"""Longer tokens are usually digests and encoded data."""
_TOKEN = re.compile(r"[^\W\d]\w*|\d{2,}")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_UNSPACED_RUN = re.compile(f"([{_UNSPACED}]+)")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ANY_PART = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DIACRITIC = re.compile("[\u0300-\u036f]")

_STOP_WORDS = """
    a about according actually all also am an and any anything are as at be been being but by can could currently
    describe did do does doing done during each else every exactly explain find for from give had
    happen happening happens has have having he her here his how however i if in into is it its just know let lets like
    list locate look looking lot m may me might much must my need no not of on one only onto or our out over own
    please plus re really s same say search see shall she should show so some still such t tell than that the their them
    then there these they thing things this those through to too under up us use used uses using ve want was we were
    what when where whether which while who whom whose why will with without work working works would you your yours
    aber alle als am an auch auf aus bei bin bis da dann das dass dem den der des die dies diese dieser doch du ein eine
    einem einen einer eines es funktioniert für gibt hat habe haben ich ihr im in ist ja kann können man mein mich mit
    nach nicht noch nur ob oder sich sie sind so um und uns unser unsere unserem unter vom von vor war warum wann was
    welche welcher welches wenn wer werden wie wieso wir wird wo wurde zeige zu zum zur über
    au aux avec avons ce ces cette comment dans de dont du elle en es est et faire fait fonctionne il ils je la le les
    leur mais ne nos notre nous on ou où par pas plus pour pourquoi qu quand que quel quelle quelles quels qui quoi sa
    sans se ses son sont sur tu un une vous à être
    al como con cuál cuáles cuándo cómo de del donde dónde el ella ellos en es ese eso esta este está están funciona la
    las lo los me mi muestra muy más nuestra nuestro o para pero por porque que quién qué se ser si sin sobre son su sus
    también te tiene un una y
"""
_SUFFIXES = (
    *("ications", "ication", "ations", "ation", "ements", "ement", "ifiers", "iers", "ier", "ings", "ing", "ied"),
    *("ies", "ers", "er", "ed", "es", "e", "y"),
)


def fold(text: str) -> str:
    """The text without case and Latin diacritics."""
    if text.isascii():
        return text.lower()
    plain = _DIACRITIC.sub("", unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()))
    return unicodedata.normalize("NFC", plain)


STOP_WORDS = frozenset(fold(_STOP_WORDS).split())
"""Words that do not describe the subject of a question, in English, German, French and Spanish, folded."""
ARTICLES = frozenset(("the", "a", "an", "der", "die", "das", "den", "le", "la", "les", "el", "los", "las"))


def tokens(text: str) -> list[str]:
    """The tokens of a text as written, in order."""
    return _TOKEN.findall(text)


def split_identifier(name: str) -> list[str]:
    """Split a name at underscores, digits and capitals: `parse_HTTPRequest2` is `parse`, `HTTP`, `Request`, `2`."""
    if name.isascii():
        return _PART.findall(name)
    return [part for run in _ANY_PART.findall(name) for part in _CAMEL.split(run)]


def keys(token: str) -> tuple[str, ...]:
    """The words under which a token is indexed, folded; the key of a whole identifier begins with `IDENTIFIER`."""
    if len(token) > _MAX_TOKEN_CHARS:
        return ()
    if token.islower() and token.isascii() and token.isalpha():
        return (token,)
    if not token.isascii() and len(runs := _UNSPACED_RUN.split(unicodedata.normalize("NFC", token))) > 1:
        parts = [part for at, run in enumerate(runs) for part in (_pairs(run) if at % 2 else split_identifier(run))]
        return tuple(dict.fromkeys(map(fold, parts)))
    parts = split_identifier(token)
    if len(parts) == 1 and len(parts[0]) == len(token):
        return (fold(token),)
    words = dict.fromkeys(fold(part) for part in parts if not part.isdigit())
    return (*words, IDENTIFIER + fold(token)) if parts else ()


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The prefix that the forms of a word share: `report` for `reported`, `cach` for `caching`."""
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ies")):
        without = word[:-1]
        word = without[:-1] if without.endswith(("sse", "xe", "che", "she")) else without
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(len(run) - 1, 1))]


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
