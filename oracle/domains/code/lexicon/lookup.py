"""Finding the known phrases of a token list: longest first, each token used once, misspellings forgiven."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache

from bt_runtime.text.data import dataclass
from oracle.classify.tokens import fold, split_tokens
from oracle.domains.code.lexicon import project, requests, talk, world

MAX_PHRASE_TOKENS = 8
MIN_FUZZY_CHARS = 6
"""Shorter words are one letter from too many others ("note", "vote", "node")."""
MIN_PREFIX_CHARS = 3
_FIRST_UNSPACED = "\u0e00"
MAX_WORD_CHARS = 24
"""Longer tokens are no words that a person has misspelt."""


@dataclass(frozen=True, slots=True)
class Match:
    """A known phrase in a token list.

    Args:
        phrase: the entry's words in the spelling of the lexicon.
        tags: the meanings that the lexicon gives the phrase, at least one.
        start: index of its first token.
        end: index after its last token.
    """

    phrase: str
    tags: frozenset[str]
    start: int
    end: int


@dataclass(slots=True)
class Lexicon:
    """Phrases with their tags; filled once, then only read."""

    phrases: dict[str, frozenset[str]] = field(default_factory=dict)
    prefixes: dict[str, frozenset[str]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    sizes: dict[str, list[int]] = field(default_factory=dict)
    """The lengths of the prefixes by their first letters, longest first."""
    longest_by_first: dict[str, int] = field(default_factory=dict)
    deletions: dict[str, str] = field(default_factory=dict)
    unspaced: re.Pattern[str] | None = None

    def add(self, entry: str, tag: str) -> None:
        """Take up one entry, `*` at its end standing for any ending."""
        tokens = split_tokens(fold(entry.rstrip("*")))
        if not tokens:
            return
        phrase = " ".join(tokens)
        table = self.prefixes if entry.endswith("*") else self.phrases
        for spelling in {phrase, phrase.replace("'", "")}:
            table[spelling] = table.get(spelling, frozenset()) | {tag}
        self._index(tokens)
        self._index([token.replace("'", "") for token in tokens])

    def _index(self, tokens: Sequence[str]) -> None:
        first = tokens[0]
        self.words.update(tokens)
        self.longest_by_first[first] = max(len(tokens), self.longest_by_first.get(first, 1))

    def close(self) -> None:
        """Index prefixes and misspellings; to be called once, after the last `add`."""
        for word in sorted(self.words):
            if len(word) >= MIN_FUZZY_CHARS and word.isalpha():
                for shorter in _deletions(word):
                    self.deletions.setdefault(shorter, word)
        for size, start in sorted({(len(prefix), prefix[:MIN_PREFIX_CHARS]) for prefix in self.prefixes}, reverse=True):
            self.sizes.setdefault(start, []).append(size)
        inside = sorted((word for word in self.words if is_unspaced(word)), key=lambda word: (-len(word), word))
        self.unspaced = re.compile("|".join(map(re.escape, inside))) if inside else None

    def words_inside(self, token: str) -> list[str]:
        """The known words in a run of a script without spaces, and what is left of the run; else the token."""
        if self.unspaced is None or not is_unspaced(token):
            return [token]
        found = self.unspaced.findall(token)
        return [*found, rest] if (rest := self.unspaced.sub("", token)) else found

    def is_product(self, word: str) -> bool:
        """Whether a folded word is the name of a public product."""
        return "product" in self.phrases.get(word, ())

    def corrected(self, token: str) -> str:
        """The known word that is one slip away (a letter missing, doubled, wrong or swapped), else the token."""
        if not MIN_FUZZY_CHARS - 1 <= len(token) <= MAX_WORD_CHARS or token in self.words or not token.isalpha():
            return token
        if self._prefix(token) is not None:
            return token
        if token in self.deletions and len(token) >= MIN_FUZZY_CHARS - 1:
            return self.deletions[token]
        for shorter in _deletions(token):
            if shorter in self.words and len(shorter) >= MIN_FUZZY_CHARS - 1:
                return shorter
            word = self.deletions.get(shorter)
            if word is not None and len(word) == len(token) and _is_swap(word, token):
                return word
        return token

    def matches(self, tokens: Sequence[str]) -> list[Match]:
        """All known phrases, left to right, none overlapping another."""
        found: list[Match] = []
        at = 0
        while at < len(tokens):
            match = self.match_at(tokens, at)
            if match is None:
                at += 1
            else:
                found.append(match)
                at = match.end
        return found

    def match_at(self, tokens: Sequence[str], at: int) -> Match | None:
        """The longest known phrase that begins at a token."""
        first = tokens[at]
        longest = min(self.longest_by_first.get(first, 1), MAX_PHRASE_TOKENS, len(tokens) - at)
        for size in range(longest, 0, -1):
            phrase = first if size == 1 else " ".join(tokens[at : at + size])
            tags = self.phrases.get(phrase)
            if tags is None and (size > 1 or len(first) <= MAX_WORD_CHARS):
                tags = self._prefix(phrase)
            elif tags is not None and size == 1:
                tags |= self._prefix(phrase) or frozenset()
            if tags is not None:
                return Match(phrase, tags, at, at + size)
        return None

    def _prefix(self, phrase: str) -> frozenset[str] | None:
        for size in self.sizes.get(phrase[:MIN_PREFIX_CHARS], ()):
            tags = self.prefixes.get(phrase[:size])
            if tags is not None:
                return tags
        return None


def is_unspaced(word: str) -> bool:
    """Whether a word is written in a script without spaces, or folded Korean."""
    return not word.isascii() and any(char >= _FIRST_UNSPACED for char in word)


def _deletions(word: str) -> list[str]:
    """The word with one letter left out, each way but the first letter, which people rarely get wrong."""
    return [word[:at] + word[at + 1 :] for at in range(1, len(word))]


def _is_swap(word: str, token: str) -> bool:
    """Whether two words of one length differ by two neighbouring letters changing places."""
    differing = [at for at in range(len(word)) if word[at] != token[at]]
    if len(differing) != 2:
        return False
    one, two = differing
    return two == one + 1 and word[one] == token[two] and word[two] == token[one]


def _filled(tables: Sequence[Mapping[str, str]]) -> Lexicon:
    lexicon = Lexicon()
    for table in tables:
        for tag, entries in table.items():
            for entry in entries.split(","):
                lexicon.add(entry.strip(), tag)
    lexicon.close()
    return lexicon


@cache
def load_lexicon() -> Lexicon:
    """What the words of a message are about."""
    return _filled([project.WORDS, world.WORDS, talk.WORDS])


@cache
def load_heads() -> Lexicon:
    """Verbs that begin a request."""
    return _filled([requests.HEADS])


@cache
def load_courtesies() -> Lexicon:
    """What may stand in front of a request."""
    return _filled([{"courtesy": requests.COURTESY}])


@cache
def load_question_words() -> Lexicon:
    """Words that begin a question."""
    return _filled([requests.QUESTION_WORDS])
