r"""What a search for code asks for: the text as it stands, and its words.

The query may be a phrase, identifiers, or look like a regular expression. It is never run as one: a hostile pattern
would hold the interpreter for hours, and none is needed to find a file. Of `class\s+\w+Error|raise .*Error` the literal
pieces are kept (`class` then `Error` in a line, or `raise` then `Error`).

A question is no text to be found as it stands: only its words count. Paths that it names, as in a stack trace, are
files that it means.

A word is looked for by its stem at the beginnings of words, where a word also begins at a hump of `camelCase` and after
an underscore; an identifier also as a whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from oracle.tools.code_kinds import Wish, wish_of

_MAX_QUERY_CHARS = 1_000
_MAX_TERMS = 24
_MAX_TRIES = 20_000
"""Places of one term looked at in one text; more are in texts made to be slow."""
_TOKEN = re.compile(r"[^\W\d]\w*|\d{2,}")
_HUMP = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LOOKS_LIKE_REGEX = re.compile(r"\\[swdbSWDB.()\[\]{}|]|\.[*+]|\[[^\]]*\][*+?]|\(\?|^\^|\w\$$|\w\|\w|\)\|")
_MENTION = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[\w.~@+/\\-]{0,200}\w\.[A-Za-z]\w{0,9})(?:\"?,\s+line\s+|:|#L|\(|,\s?)?(?P<line>(?<=\D)\d{1,7})?"
)
_MAX_MENTIONS = 20
_QUESTION = re.compile(
    r"(?:how|what|which|where|when|why|who|whose|is|are|does|do|did|can|could|should|explain|describe|list|show|wie|was"
    r"|welche[rs]?|wo|wann|warum|wer)\s+\w+\s+\w|.*\w\s+\w+.*\?$",
    re.IGNORECASE,
)
_REGEX_SYNTAX = re.compile(r"\\[a-zA-Z]|\[[^\]]*\]|\{\d*,?\d*\}|\(\?[a-zA-Z:!=<]*|[\\^$.*+?()\[\]{}]")

STOP_WORDS = frozenset(  # a text is easier to read and to change than two hundred quoted words
    """a an the and or but if then of in on at by to for from with without into onto over under about as is are was were
    be been being do does did done has have had having can could should would will shall may might must how what where
    which who whom whose why when there here it its this that these those i we you they me us our your their my he she
    his her
    not no any all some each every please show tell find explain give list look looking search locate describe want need
    know see happen happens happening work works working exactly actually currently let lets s t m re ve
    own use used using does doing done whether while still just only also am
    aber als am auch auf aus bei bin bis da das dass dem den der des die dies diese dieser doch du ein eine einem einen
    einer eines es funktioniert für gibt hat habe haben ich ihr im in ist kann können man mein mich mit nach nicht noch
    nur ob oder sich sie sind um und uns unser unsere unter vom von vor war warum wann welche welcher welches wenn wer
    werden wie wieso wir wird wo wurde zeige zu zum zur über
    au aux avec ce ces cette comment dans du elle en est et être il je la le les nous ou où par pas pour pourquoi quel
    quelle quelles quels qui quoi sont sur un une vous
    al como con cómo cuál cuándo del donde dónde el ella esta este está la las los más muy para pero por porque qué que
    se son su sus un una y""".split()  # noqa: SIM905
)
ARTICLES = frozenset({"the", "a", "an", "der", "die", "das", "den", "le", "la", "les", "el", "los", "las"})
_DOING = frozenset(
    """add adding create creating write writing make making build change changing define defining configure configuring
    register registering extend extending set put get enable disable turn replace start run use
    hinzufügen anlegen schreiben ändern erstellen""".split()  # noqa: SIM905
)
_DOING_WEIGHT = 0.3
"""In "how do I add a tool?" the tool tells which page answers: it may well say "register" or "write"."""
_SUFFIXES = (
    *(
        "ications",
        "ication",
        "ations",
        "ation",
        "ements",
        "ement",
        "ifiers",
        "iers",
        "ier",
        "ings",
        "ing",
        "ied",
        "ies",
    ),
    *("ers", "er", "ed", "es", "e", "y"),
)


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the query.

    Args:
        word: in lower case.
        stem: what its forms begin with; the word itself for identifiers and numbers.
        weight: its share beside the rarity.
        is_identifier: it must stand as a whole between characters that are no part of an identifier.
    """

    word: str
    stem: str
    weight: float = 1.0
    is_identifier: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that a query names: its path in lower case with `/`, possibly of another machine.

    Args:
        path: the path, or its end.
        line: the line named with it, from 1.
        is_whole_path: it is the whole path below the root, not its end.
    """

    path: str
    line: int | None
    is_whole_path: bool = False

    def fit(self, path: str) -> float:
        """How much of the mention a file's path bears out: 1 for all of it, less where folders differ."""
        if self.is_whole_path:
            return float(path.lower() == self.path)
        ours, theirs = path.lower().split("/"), self.path.split("/")
        same = 0
        for one, other in zip(reversed(ours), reversed(theirs), strict=False):
            if one != other:
                break
            same += 1
        return same / min(len(ours), len(theirs))


@dataclass(frozen=True, slots=True)
class Query:
    """A search.

    Args:
        phrases: alternatives, each a sequence of literal pieces that stand in this order in one line, in lower case.
        terms: the words, most telling kinds first.
        mentions: the files that it names, the likeliest to matter first.
        wish: what it asks for.
        pairs: indices of terms that stand side by side in it, as in "node kinds" or "run the tests".
        question: the query in lower case, if it is a question: a line that only repeats it is no answer.
    """

    phrases: tuple[tuple[str, ...], ...]
    terms: tuple[Term, ...]
    mentions: tuple[Mention, ...] = ()
    wish: Wish = "any"
    pairs: tuple[tuple[int, int], ...] = ()
    question: str = ""

    @property
    def needles(self) -> tuple[str, ...]:
        """Texts in lower case of which every file that can match has at least one."""
        return tuple(dict.fromkeys([*(term.stem for term in self.terms), *(phrase[0] for phrase in self.phrases)]))


_READMES = tuple(
    Mention(path, None, is_whole_path=True)
    for path in ("readme.md", "readme.rst", "readme.adoc", "readme.txt", "readme", "docs/readme.md", "docs/index.md")
)
"""What answers a question about the project as a whole, the best first."""


def parse_query(text: str) -> Query:
    """Read a query; one without any word or sign gives a query that finds nothing."""
    mentions = _mentions(text[:_MAX_QUERY_CHARS])
    text = " ".join(text[:_MAX_QUERY_CHARS].split())
    plain = _unquoted(text)
    wish = wish_of(plain, words=_subject(plain))
    if wish in ("overview", "start"):
        mentions = mentions or _READMES
    if plain == text and _QUESTION.match(plain):
        terms = _terms(plain, doing_weight=_DOING_WEIGHT if wish == "usage" else 1.0)
        return Query((), terms, mentions, wish, _pairs(plain, terms), plain.lower().rstrip("?. "))
    if not _LOOKS_LIKE_REGEX.search(plain):
        terms = _terms(plain)
        return Query(((plain.lower(),),) if len(plain) >= 2 else (), terms, mentions, wish, _pairs(plain, terms))
    alternatives: list[tuple[str, ...]] = []
    for alternative in plain.split("|"):
        pieces = [piece.strip().lower() for piece in _REGEX_SYNTAX.split(alternative)]
        alternatives.append(tuple(piece for piece in pieces if len(piece) >= 2))
    phrases = ((plain.lower(),), *(pieces for pieces in alternatives if pieces))
    return Query(phrases, _terms(_REGEX_SYNTAX.sub(" ", plain)), mentions, wish)


def occurrences(text: str, lowered: str, term: Term) -> Iterator[tuple[int, float]]:
    """Where a term stands, with how well: 1 for the word itself, 0.8 for another form, 0.4 for a longer word.

    Args:
        text: as written, for the humps.
        lowered: the same in lower case, of the same length.
        term: what to look for.
    """
    at = -1
    for _ in range(_MAX_TRIES):
        at = lowered.find(term.stem, at + 1)
        if at < 0:
            return
        fit = _whole_fit(lowered, at, term) if term.is_identifier else _word_fit(text, lowered, at, term)
        if fit:
            yield at, fit


def lower(text: str) -> tuple[str, str]:
    """The text and its lower case, of the same length; where a letter grows in lower case, humps are given up."""
    lowered = text.lower()
    return (text, lowered) if len(lowered) == len(text) else (lowered, lowered)


def split_identifier(name: str) -> list[str]:
    """`parse_HTTPRequest2` is `parse`, `HTTP`, `Request`, `2`."""
    return [part for run in _HUMP.findall(name) for part in _CAMEL.split(run)]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """What the forms of a word begin with, always a prefix: `report` for `reported`, `cach` for `caching`."""
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


def _subject(text: str) -> tuple[str, ...]:
    """The words that tell what a query is about; those of a question without any are its stop words' place."""
    words = [term.word for term in _terms(text)]
    telling = tuple(word for word in words if word not in STOP_WORDS)
    return telling or (("this",) if words and _QUESTION.match(text) else ())


def _pairs(text: str, terms: Sequence[Term]) -> tuple[tuple[int, int], ...]:
    index_of = {term.stem: index for index, term in enumerate(terms) if not term.is_identifier}
    words = [token.lower() for token in _TOKEN.findall(text)]
    indices = [index_of.get(stem(word)) for word in words if word not in ARTICLES]
    pairs = [(one, two) for one, two in pairwise(indices) if one is not None and two is not None and one != two]
    return tuple(dict.fromkeys(pairs))


def _mentions(text: str) -> tuple[Mention, ...]:
    found: dict[Mention, None] = {}
    for match in _MENTION.finditer(text):
        path = re.sub(r"/(?:\./)+", "/", match["path"].replace("\\", "/").lower()).removeprefix("./").strip("/")
        found[Mention(path, int(match["line"]) if match["line"] else None)] = None
        if len(found) == _MAX_MENTIONS:
            break
    return tuple(reversed(found) if "most recent call last" in text else found)


def _unquoted(text: str) -> str:
    for quote in ('"', "'", "`"):
        if len(text) > 2 and text.startswith(quote) and text.endswith(quote) and quote not in text[1:-1]:
            return text[1:-1].strip()
    return text


def _terms(text: str, *, doing_weight: float = 1.0) -> tuple[Term, ...]:
    tokens = list(dict.fromkeys(_TOKEN.findall(text)))
    telling = [token for token in tokens if token.lower() not in STOP_WORDS]
    found: dict[str, Term] = {}
    for token in telling or tokens:
        parts = split_identifier(token)
        if len(parts) > 1 or "_" in token.strip("_") or any(letter.isdigit() for letter in token):
            word = token.lower()
            found.setdefault(word, Term(word, word, weight=2.0, is_identifier=True))
            words = [(part.lower(), 0.5) for part in parts if len(part) > 1 and not part.isdigit()]
        else:
            words = [(token.lower(), doing_weight if token.lower() in _DOING else 1.0)]
        for word, weight in words:
            key = f"~{stem(word)}"
            if key not in found and (len(word) > 1 or not word.isascii()):
                found[key] = Term(word, stem(word), weight)
    return tuple(sorted(found.values(), key=lambda term: -term.weight)[:_MAX_TERMS])


def _whole_fit(lowered: str, at: int, term: Term) -> float:
    end = at + len(term.stem)
    before = at == 0 or not _is_name(lowered[at - 1])
    after = end == len(lowered) or not _is_name(lowered[end])
    return 1.0 if before and after else 0.4 if before or after else 0.0


def _word_fit(text: str, lowered: str, at: int, term: Term) -> float:
    if at and lowered[at - 1].isalpha() and not _is_hump(text, at):
        return 0.0
    end, length = at + len(term.stem), len(lowered)
    while end < length and lowered[end].isalpha() and not _is_hump(text, end):
        end += 1
    word = lowered[at:end]
    if word == term.word:
        return 1.0
    if len(word) <= 40 and stem(word) == term.stem:
        return 0.8
    return 0.4 if len(term.stem) >= 4 else 0.0


def _is_hump(text: str, at: int) -> bool:
    """Whether a new word of a camelCase identifier begins here."""
    if not text[at].isupper():
        return False
    return text[at - 1].islower() or (at + 1 < len(text) and text[at + 1].islower())


def _is_name(letter: str) -> bool:
    return letter.isalnum() or letter == "_"
