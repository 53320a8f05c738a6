"""Parses a code search query into a literal phrase, terms and file names.

The query may be a phrase, identifiers, or look like a regular expression; of that only the words count here.

A question is not searched literally: only its words count. Paths in the query, as in a stack trace, refer to files.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from bt_runtime.text.data import dataclass
from oracle.core.search.query import ARTICLES, MAX_QUERY_CHARS, STOP_WORDS, Term, fold, stem, terms_of, tokens
from oracle.tools.code_kinds import Intent, intent_of, is_tree

_LOOKS_LIKE_REGEX = re.compile(r"\\[swdbSWDB.()\[\]{}|]|\.[*+]|\[[^\]]*\][*+?]|\(\?|^\^|\w\$$|\w\|\w|\)\|")
_MENTION = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[\w.~@+/\\-]{0,200}\w\.[A-Za-z]\w{0,9})(?:\"?,\s+line\s+|:|#L|\(|,\s?)?(?P<line>(?<=\D)\d{1,7})?"
)
_TREE_MENTION = re.compile(r"\b(?P<name>[A-Za-z]\w{0,60})[\"'`]?\s(?:sub)?tree\b", re.IGNORECASE)
"""A tree is named by its file; a word that names no tree names no file either."""
_MAX_MENTIONS = 20
_QUESTION = re.compile(
    r"(?:how|what|which|where|when|why|who|whose|is|are|does|do|did|can|could|should|explain|describe|list|show|wie|was"
    r"|welche[rs]?|wo|wann|warum|wer)\s+\w+\s+\w|.*\w\s+\w+.*\?$",
    re.IGNORECASE,
)
_REGEX_SYNTAX = re.compile(r"\\[a-zA-Z]|\[[^\]]*\]|\{\d*,?\d*\}|\(\?[a-zA-Z:!=<]*|[\\^$.*+?()\[\]{}]")

_KEYWORD = r"\b(?:class|def|func|function|fn|method|interface|struct|trait|enum)\b"
_ALONE = re.compile(rf"(?:{_KEYWORD}\s+)?(?:\w{{1,64}}\.){{0,8}}(?P<name>[^\W\d]\w*)(?:\(\))?")
_IS_NAME = re.compile(r"[A-Z]|[^\W_]_+[^\W_]")
"""Characters of a word that plain words of a query do not have."""
_DOING = dict.fromkeys(
    fold(
        """add adding create creating write writing make making build change changing define defining configure
        configuring register registering extend extending set put get enable disable turn replace start run use
        hinzufügen anlegen schreiben ändern erstellen"""
    ).split(),
    0.3,
)
"""Weights of verbs in a question about usage: in "how do I add a tool?" the noun determines the page, which may say
"register" or "write"."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that a query names: its path in lower case with `/`, possibly of another machine.

    Args:
        path: the path, or its end.
        line: the line named with it, from 1.
        is_whole_path: `path` is the complete path relative to the root.
        is_tree: `path` is the name of a tree's file.
    """

    path: str
    line: int | None
    is_whole_path: bool = False
    is_tree: bool = False

    def fit(self, path: str) -> float:
        """The share of the mention that a file's path matches: 1 for all of it, less if folders differ."""
        if self.is_whole_path:
            return float(path.lower() == self.path)
        if self.is_tree:
            return float(path.lower().rpartition("/")[2] == self.path and is_tree(path))
        ours, theirs = path.lower().split("/"), self.path.split("/")
        same = 0
        for one, other in zip(reversed(ours), reversed(theirs), strict=False):
            if one != other:
                break
            same += 1
        return same / min(len(ours), len(theirs))


@dataclass(frozen=True, slots=True)
class CodeQuery:
    """A parsed query.

    Args:
        text: the query on one line, without quotes around it.
        phrase: `text` in lower case; empty if it is not searched literally.
        terms: the words, the most important first.
        mentions: the files that it names, the most relevant first.
        intent: what kind of answer it asks for.
        pairs: indices of adjacent terms, as in "node kinds" or "run the tests".
        qualified: indices of terms directly behind another one: the `loop` of a "tick loop" is not any loop.
        names: folded names whose definitions come first.
        is_regex: it looks like a regular expression.
    """

    text: str
    phrase: str
    terms: tuple[Term, ...]
    mentions: tuple[Mention, ...] = ()
    intent: Intent = "any"
    pairs: tuple[tuple[int, int], ...] = ()
    qualified: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    is_regex: bool = False


_READMES = tuple(
    Mention(path, None, is_whole_path=True)
    for path in ("readme.md", "readme.rst", "readme.adoc", "readme.txt", "readme", "docs/readme.md", "docs/index.md")
)
"""The files that answer a question about the project as a whole, the best first."""


def parse_query(text: str) -> CodeQuery:
    """Parse a query; an empty one gives a query that finds nothing."""
    mentions = _mentions(text[:MAX_QUERY_CHARS])
    text = " ".join(text[:MAX_QUERY_CHARS].split())
    plain = _unquoted(text)
    intent = intent_of(plain, words=_subject(plain))
    if intent in ("overview", "start"):
        mentions = mentions or _READMES
    is_question = plain == text and _QUESTION.match(plain) is not None
    is_regex = not is_question and _LOOKS_LIKE_REGEX.search(plain) is not None
    words = _REGEX_SYNTAX.sub(" ", plain) if is_regex else plain
    terms = terms_of(words, weights=_DOING if is_question and intent == "usage" else None)
    phrase = "" if is_question or len(plain) < 2 else plain.lower()
    names = _names(words, is_question=is_question)
    return CodeQuery(plain, phrase, terms, mentions, intent, *_neighbours(words, terms), names, is_regex)


def _names(text: str, *, is_question: bool) -> frozenset[str]:
    """The `names` of a query: its words in the form of an identifier, or the one word that it has."""
    if alone := _ALONE.fullmatch(text):
        return frozenset((fold(alone["name"]),))
    are_asked_for = not is_question or re.search(_KEYWORD, text)
    return frozenset(map(fold, filter(_IS_NAME.search, tokens(text) if are_asked_for else ()))) - STOP_WORDS


def _subject(text: str) -> tuple[str, ...]:
    """The subject of a query; `this` for a question that consists of stop words."""
    words = [term.word for term in terms_of(text)]
    telling = tuple(word for word in words if word not in STOP_WORDS)
    return telling or (("this",) if words and _QUESTION.match(text) else ())


def _neighbours(text: str, terms: Sequence[Term]) -> tuple[tuple[tuple[int, int], ...], frozenset[int]]:
    """The `pairs` and the `qualified` terms of a query."""
    index_of = {term.stem: index for index, term in enumerate(terms) if not term.is_identifier}
    words = [fold(token) for token in tokens(text)]
    pairs = _adjacent([index_of.get(stem(word)) for word in words if word not in ARTICLES])
    directly = _adjacent([index_of.get(stem(word)) for word in words])
    return tuple(pairs), frozenset(two for _, two in directly)


def _adjacent(indices: Sequence[int | None]) -> dict[tuple[int, int], None]:
    pairs = ((one, two) for one, two in pairwise(indices) if one is not None and two is not None and one != two)
    return dict.fromkeys(pairs)


def _mentions(text: str) -> tuple[Mention, ...]:
    found: dict[Mention, None] = {}
    for match in _MENTION.finditer(text):
        path = re.sub(r"/(?:\./)+", "/", match["path"].replace("\\", "/").lower()).removeprefix("./").strip("/")
        found[Mention(path, int(match["line"]) if match["line"] else None)] = None
        if len(found) == _MAX_MENTIONS:
            break
    for match in _TREE_MENTION.finditer(text):
        found[Mention(f"{match['name'].lower()}.yaml", None, is_tree=True)] = None
    return tuple(reversed(found) if "most recent call last" in text else found)


def _unquoted(text: str) -> str:
    for quote in ('"', "'", "`"):
        if len(text) > 2 and text.startswith(quote) and text.endswith(quote) and quote not in text[1:-1]:
            return text[1:-1].strip()
    return text
