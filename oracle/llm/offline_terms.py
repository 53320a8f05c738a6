"""The words of a question, and which of them a text contains; their forms are those of `oracle.core.search`."""

import re
from collections.abc import Sequence
from functools import lru_cache

from oracle.core.search.words import IDENTIFIER, STOP_WORDS, fold, keys, stem, tokens

MAX_TERMS = 12

_TOKEN = re.compile(r"[^\W\d_]\w*(?:[./][^\W_]\w*)*|\d[\w.]*\d|_\w+")
_CODE_NAME = re.compile(r"[_./\d]|[a-z][A-Z]|^[A-Z]{2,}")
_EMPTY_WORDS = STOP_WORDS | {"file", "files", "get", "gets", "go", "going", "make"}
_MIN_PREFIX_CHARS = 4
"""A shorter stem matches whole words only: `id` is not in `idea`."""


def key_terms(text: str) -> tuple[str, ...]:
    """The significant words of a question as written, each once, at most `MAX_TERMS`.

    If there are too many, names of code (`get_user`, `utils/slugify.py`, `CacheManager`) are kept before plain words.
    """
    found: dict[str, str] = {}
    for token in _TOKEN.findall(text):
        word = token.strip("./")
        folded = fold(word)
        if folded not in _EMPTY_WORDS and (len(folded) > 1 or not folded.isascii()):
            found.setdefault(folded, word)
    words = list(found.values())
    if len(words) > MAX_TERMS:
        chosen = sorted(words, key=lambda word: (_CODE_NAME.search(word) is None, -len(word)))[:MAX_TERMS]
        words = [word for word in words if word in chosen]
    return tuple(words)


def matched(text: str, terms: Sequence[str]) -> frozenset[str]:
    """The terms that occur in a text, in any form and as a part of an identifier."""
    whole, stems, prefixes = _indexed(text)
    return frozenset(term for term in terms if all(_occurs(key, whole, stems, prefixes) for key in _parts(term)))


def _occurs(key: str, whole: frozenset[str], stems: frozenset[str], prefixes: str) -> bool:
    root = stem(key)
    return key in whole or root in stems or (len(root) >= _MIN_PREFIX_CHARS and f"\n{root}" in prefixes)


@lru_cache(maxsize=1_000)
def _parts(text: str) -> tuple[str, ...]:
    return tuple(key for token in tokens(text) for key in keys(token) if not key.startswith(IDENTIFIER))


@lru_cache(maxsize=1_000)
def _indexed(text: str) -> tuple[frozenset[str], frozenset[str], str]:
    words = frozenset(_parts(text))
    return words, frozenset(map(stem, words)), "\n" + "\n".join(words)
