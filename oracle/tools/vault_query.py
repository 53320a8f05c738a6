"""A question as a query of SQLite's full-text index.

FTS5 has a query language of its own, in which `"`, `-`, `:` or `NEAR` in a user's text are errors or operators. So only
the words of the text are used, each in quotes.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from oracle.search import STOP_WORDS, stem

_MAX_TERMS = 16
_MAX_QUERY_CHARS = 1_000
_WORD = re.compile(r"[^\W_]+")
_PREFIX_CHARS = 3
_ABOUT_NOTES = frozenset(
    {"list", "note", "notes", "tagged", "tag", "vault", "thread", "threads", "page", "pages", "written", "wrote"}
)
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class VaultQuery:
    """The words of a question; empty if it has none."""

    words: tuple[str, ...]

    @property
    def all_words(self) -> str:
        """Matches what has every word."""
        return " AND ".join(f'"{word}"' for word in self.words)

    @property
    def any_word(self) -> str:
        """Matches what has a word, or a longer one that begins with it."""
        return " OR ".join(self.word(word) for word in self.words)

    @property
    def fragments(self) -> tuple[str, ...]:
        """Pairs of letters of words in scripts that put no spaces between words, where no word can be looked up."""
        runs = [word for word in self.words if _WITHOUT_SPACES.search(word)]
        pairs = [run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))]
        return tuple(dict.fromkeys(pairs))[: 2 * _MAX_TERMS]

    @staticmethod
    def word(word: str) -> str:
        """Matches one word, and longer ones that begin with it."""
        return f'"{word}"*' if len(word) >= _PREFIX_CHARS else f'"{word}"'


def parse_vault_query(text: str) -> VaultQuery:
    """The words of a question, without those that say nothing if there are others."""
    words = list(dict.fromkeys(_WORD.findall(unicodedata.normalize("NFC", text[:_MAX_QUERY_CHARS]).lower())))
    for dull in (STOP_WORDS | _ABOUT_NOTES, STOP_WORDS):
        telling = [word for word in words if word not in dull]
        if telling:
            return VaultQuery(tuple(telling[:_MAX_TERMS]))
    return VaultQuery(tuple(words[:_MAX_TERMS]))


def best_line(lines: Sequence[str], query: VaultQuery) -> int:
    """The index of the line with the most words of the query; headings win ties, then the first.

    Where no line has any (the title or a tag matched), it is the first that is not blank.
    """
    needles = [_folded(stem(word)) for word in query.words] + [_folded(pair) for pair in query.fragments]
    best = next((number for number, line in enumerate(lines) if line.strip()), 0)
    best_score = 0.0
    for number, line in enumerate(lines):
        folded = _folded(line[:2_000])
        words = _WORD.findall(folded)
        score = float(sum(1 for needle in needles if _has(needle, folded, words)))
        if score and line.startswith("#"):
            score += 0.5
        if score > best_score:
            best, best_score = number, score
    return best


def _has(needle: str, folded: str, words: Sequence[str]) -> bool:
    if needle not in folded:
        return False
    return bool(_WITHOUT_SPACES.search(needle)) or any(word.startswith(needle) for word in words)


def _folded(text: str) -> str:
    """Without case and diacritics, as the index folds them."""
    if text.isascii():
        return text.lower()
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.lower()) if not unicodedata.combining(letter)
    )
