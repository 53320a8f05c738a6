"""What a question asks for, as the words to search with, and how well a text has them.

No language is assumed: words are what Unicode calls words, the stop words are those of a few languages, and forms of a
word are told by their common beginning.
"""

import re
from collections.abc import Iterable, Sequence

MAX_TERMS = 12
MAX_QUERY_CHARS = 1_000

_TOKEN = re.compile(r"[^\W\d_]\w*(?:[./][^\W_]\w*)*|\d[\w.]*\d|_\w+")
_IDENTIFIER = re.compile(r"[_./\d]|[a-z][A-Z]|^[A-Z]{2,}")
_STOP_WORDS = frozenset(  # a text is easier to read and to change than two hundred quoted words
    """a about according all also am an and any anything are as at be been but by can could did do does done during else
    exactly explain file files find for from get gets give go going had happen happens has have how however i if in
    into is it its just know let like list look lot make may me might much my need no not of on one only or our out
    own over please really same say see shall should show so some tell than that the their them then there these they
    thing things this those through to too under up us use used using want was we were what what's whats when where
    which while who whom whose why will with without work works would you your yours aber alle als am an auch auf aus
    bei bin bis da dann das dass dem den der des die dies diese doch du ein eine einen einer es funktioniert gibt fur
    für hat habe haben ich ihr im ist ja kann können man mein mich mit nach nicht noch nur oder ob sich sie sind so um
    und uns unser unsere unserem unter vom von vor war warum was wann welche welcher wenn wer werden wie wir wird wo
    wurde zeige zu zum zur über au aux avec avons ce ces cette comment dans de del des dont du elle en es est et être
    faire fonctionne fait il ils je la le les leur mais ne nos notre nous on où ou par pas plus pour pourquoi qu quand
    que quel quelle quelles quels qui quoi sa sans se ses son sont sur tu un une vous à al como con cómo cuál cuándo
    cuáles cual de donde dónde el ella ellos en ese eso esta este esto están funciona la las lo los me mi muestra muy
    más nuestra nuestro o para pero por porque qué que quién se ser si sin sobre son su sus también te tiene un una y
    ya""".split()  # noqa: SIM905
)


def key_terms(text: str) -> tuple[str, ...]:
    """The words of `text` that tell what it is about, as written, each once, at most `MAX_TERMS`.

    Names of code (`get_user`, `utils/slugify.py`, `CacheManager`) count before plain words when there are too many.
    """
    found: dict[str, str] = {}
    for token in _TOKEN.findall(text):
        word = token.strip("./")
        folded = word.casefold()
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
    """For each term what its forms begin with, folded."""
    return tuple(_stem(term.casefold()) for term in terms)


def matched(text: str, wanted: Sequence[str]) -> frozenset[str]:
    """Which of the stems stand in `text`, at the beginning of a word or of a part of an identifier."""
    folded = text.casefold()
    return frozenset(stem for stem in wanted if stem in folded and _begins_word(text, folded, stem))


def _stem(word: str) -> str:
    if len(word) < 5 or _IDENTIFIER.search(word):
        return word
    return word[: max(4, len(word) - 1 - len(word) // 4)]


def _begins_word(text: str, folded: str, stem: str) -> bool:
    at = folded.find(stem)
    while at >= 0:
        before = folded[at - 1] if at else " "
        hump = len(text) == len(folded) and at > 0 and text[at].isupper() and text[at - 1].islower()
        if hump or not before.isalnum() or not stem[0].isascii():
            ends = at + len(stem)
            # A short stem is a word, not the beginning of one: `id` is not in `idea`.
            if len(stem) > 3 or ends >= len(folded) or not folded[ends].isalpha():
                return True
        at = folded.find(stem, at + 1)
    return False
