"""What a question asks for, as the words to search with, and how well a text has them.

No language is assumed: words are what Unicode calls words, the stop words are those of a few languages, and forms of a
word are told by their common beginning.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from oracle.search import IDENTIFIER, STOP_WORDS, fold, keys, stem, tokens

MAX_TERMS = 12
MAX_QUERY_CHARS = 1_000

_TOKEN = re.compile(r"[^\W\d_]\w*(?:[./][^\W_]\w*)*|\d[\w.]*\d|_\w+")
_IDENTIFIER = re.compile(r"[_./\d]|[a-z][A-Z]|^[A-Z]{2,}")
_STOP_WORDS = STOP_WORDS | {"file", "files", "get", "gets", "go", "going", "make"}


def key_terms(text: str) -> tuple[str, ...]:
    """The words of `text` that tell what it is about, as written, each once, at most `MAX_TERMS`.

    Names of code (`get_user`, `utils/slugify.py`, `CacheManager`) count before plain words when there are too many.
    """
    found: dict[str, str] = {}
    for token in _TOKEN.findall(text):
        word = token.strip("./")
        folded = fold(word)
        if folded not in _STOP_WORDS and (len(folded) > 1 or not folded.isascii()):
            found.setdefault(folded, word)
    words = list(found.values())
    if len(words) > MAX_TERMS:
        chosen = sorted(words, key=lambda word: (_IDENTIFIER.search(word) is None, -len(word)))[:MAX_TERMS]
        words = [word for word in words if word in chosen]
    return tuple(words)


def search_words(question: str) -> str:
    """What to search code with: the question itself, for the search knows best which of its words tell."""
    return " ".join(question[:MAX_QUERY_CHARS].split()) if key_terms(question) else ""


def stems(terms: Iterable[str]) -> tuple[str, ...]:
    """For each term what its forms begin with, folded; identifiers and paths as they are."""
    return tuple(fold(term) if _IDENTIFIER.search(term) else stem(fold(term)) for term in terms)


def matched(text: str, wanted: Sequence[str]) -> frozenset[str]:
    """Which of the stems stand in `text`, at the beginning of a word or of a part of an identifier.

    A short stem is a word, not the beginning of one: `id` is not in `idea`.
    """
    folded = fold(text)
    found = [each for each in wanted if each in folded]
    words = {key.lstrip(IDENTIFIER) for token in tokens(text) for key in keys(token)} if found else set[str]()
    return frozenset(each for each in found if not each.isalpha() or _begins_word(each, words))


def _begins_word(stem: str, words: Collection[str]) -> bool:
    return stem in words or (len(stem) > 3 and any(word.startswith(stem) for word in words))
