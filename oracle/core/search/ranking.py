"""Ranks documents for a question: BM25 over a body and some short fields, from an inverted index in memory.

Rules:

- The score of a term is its rarity times the sum of two parts: its saturating frequency in the body, relative to
  the body's length; and the weights of the short fields (a title, a path) that contain it.
- The score of a document is the sum over the terms, times a factor that grows with the share of terms it contains.
- A posting is one integer: the document, the fields, and the occurrences in the body. Postings are kept by tokens as
  written; each key of a token (`words.keys`) maps to it. The index keeps no text.
"""

import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from oracle.core.search.query import IDENTIFIER, Term, keys, tokens

MAX_SIZE = 32_000_000
"""In units of eight bytes: 250 MB. A project of a thousand source files takes about 15 MB."""
_TOKEN_SIZE = 50
_COUNT_BITS = 20
_COUNT_MASK = (1 << _COUNT_BITS) - 1
_MAX_FIELDS = 4
_FIELD_MASK = (1 << _MAX_FIELDS) - 1
_SHIFT = _COUNT_BITS + _MAX_FIELDS
_MAX_COUNTED = 50.0
"""The maximum count of a term in a document; the score saturates far below."""
_SATURATION = 1.2
_LENGTH_SHARE = 0.3
_LEAST_COVERAGE = 0.25
_MIN_DEAD = 1_000
_MOST_NUMBERS = 1 << 32
"""Of documents that were kept; a posting has room for more."""
_PIECE_CHARS = 32_768


class SearchDocument(NamedTuple):
    """A unit of search.

    Args:
        body: its text.
        fields: its short fields, in the order of the weights given to `Ranking`.
        line: its first line in the file, from 1.
        end: the line after its last one.
        title: the heading under which a result is shown.
    """

    body: str
    fields: tuple[str, ...] = ()
    line: int = 1
    end: int = 0
    title: str = ""


class Ranking:
    """An inverted index; not safe for use from several threads. There are at most four `field_weights`."""

    def __init__(self, field_weights: Sequence[float]) -> None:
        self._weights = [
            sum(weight for bit, weight in enumerate(field_weights) if mask >> bit & 1)
            for mask in range(1 << _MAX_FIELDS)
        ]
        self._postings: dict[str, array[int]] = {}
        self._tokens: dict[str, list[str]] = {}
        self._lengths: dict[int, int] = {}
        self._total_length = 0
        self._next_number = self._dead = 0
        self._size = 0
        self._vocabulary: str | None = None

    @property
    def is_full(self) -> bool:
        """Whether the size limit is reached."""
        return self._size >= MAX_SIZE

    def add(self, document: SearchDocument) -> int:
        """Index a document and return its number."""
        number, self._next_number = self._next_number, self._next_number + 1
        evidence = Counter[str]()
        for piece in _pieces(document.body[:_COUNT_MASK]):
            evidence.update(tokens(piece))
        for bit, text in enumerate(document.fields):
            for token in set(tokens(text)):
                evidence[token] += 1 << bit + _COUNT_BITS
        first, of_token = number << _SHIFT, self._postings.get
        for token, bits in evidence.items():
            if (postings := of_token(token) or self._new(token)) is not None:
                postings.append(first | bits)
        self._size += len(evidence)
        self._lengths[number] = len(document.body)
        self._total_length += len(document.body)
        return number

    def _new(self, token: str) -> "array[int] | None":
        """Add a token to the vocabulary and return its empty postings; `None` if it has no key."""
        found = keys(token)
        if not found:
            return None
        for key in found:
            self._tokens.setdefault(key, []).append(token)
        self._size += _TOKEN_SIZE
        self._vocabulary = None
        self._postings[token] = array("Q")
        return self._postings[token]

    def remove(self, number: int) -> None:
        """Remove a document. Its postings are dropped when most documents have been removed."""
        self._total_length -= self._lengths.pop(number)
        self._dead += 1
        if self._dead > max(_MIN_DEAD, len(self._lengths)):
            self._compact()

    def rank(
        self, terms: Sequence[Term], *, among: Collection[int] | None = None
    ) -> tuple[dict[int, float], tuple[float, ...]]:
        """Score the documents that contain a term.

        Args:
            terms: the words that are looked for, with their weights.
            among: the documents to score; all by default.

        Returns:
            The scores by document, greater is better; and the weight of each term, its rarity times its own weight: 0
            for one that does not occur.
        """
        allowed: Collection[int] = self._lengths.keys() if among is None else self._lengths.keys() & among
        evidence = [self._evidence(term, allowed) for term in terms]
        weights = tuple(
            term.weight * _rarity(len(counts), len(allowed)) for term, (counts, _) in zip(terms, evidence, strict=True)
        )
        total = sum(weights) or 1.0
        base, per_char = 1 - _LENGTH_SHARE, _LENGTH_SHARE * len(self._lengths) / max(self._total_length, 1)
        scores: dict[int, float] = {}
        covered: dict[int, float] = {}
        for weight, (counts, fields) in zip(weights, evidence, strict=True):
            share = weight / total
            for number, occurrences in counts.items():
                count = min(_MAX_COUNTED, occurrences)
                field = fields.get(number, 0.0)
                length = base + per_char * self._lengths[number]
                in_body = count * (_SATURATION + 1) / (count + _SATURATION * length)
                scores[number] = scores.get(number, 0.0) + weight * (in_body + field)
                covered[number] = covered.get(number, 0.0) + (share if count + field >= 1 else share * (count + field))
        for number, share in covered.items():
            scores[number] *= _LEAST_COVERAGE + (1 - _LEAST_COVERAGE) * share
        return scores, weights

    def _evidence(self, term: Term, allowed: Collection[int]) -> tuple[dict[int, float], dict[int, float]]:
        """For each document that contains a term: its count in the body, and the weight of its fields with it."""
        counts: dict[int, float] = {}
        fields: dict[int, float] = {}
        seen: dict[int, int] = {}
        for token, fit in sorted(self._matching(term).items(), key=lambda item: -item[1]):
            for posting in self._postings[token]:
                number = posting >> _SHIFT
                if number in allowed:
                    counts[number] = counts.get(number, 0.0) + fit * (posting & _COUNT_MASK)
                    if mask := posting >> _COUNT_BITS & _FIELD_MASK:
                        before = seen.get(number, 0)  # each field counts once, with its best match
                        fields[number] = fields.get(number, 0.0) + fit * self._weights[mask & ~before]
                        seen[number] = before | mask
        return counts, fields

    def _matching(self, term: Term) -> dict[str, float]:
        """The tokens that match a term, with their `Term.fit`."""
        if term.is_identifier:
            found = {term.word, *self._keys_with(f"\n{IDENTIFIER}{term.word}"), *self._keys_with(f"{term.word}\n")}
        else:
            found = {IDENTIFIER + term.word, *self._keys_with(f"\n{term.stem}")}
        fits: dict[str, float] = {}
        for key in found:
            fit = term.fit(key)
            for token in self._tokens.get(key, ()) if fit else ():
                fits[token] = max(fits.get(token, 0.0), fit)
        return fits

    def _keys_with(self, piece: str) -> Iterator[str]:
        """The keys that contain `piece`, in which a line break is the beginning or the end of a key."""
        if self._vocabulary is None:
            self._vocabulary = "\n".join(["", *self._tokens, ""])
        at = self._vocabulary.find(piece)
        while at >= 0:
            start = self._vocabulary.rfind("\n", 0, at + 1) + 1
            end = self._vocabulary.find("\n", start)
            yield self._vocabulary[start:end]
            at = self._vocabulary.find(piece, end)

    def kept(self) -> "KeptRanking":
        """The data from which `restore` makes this ranking in another process."""
        if self._dead:
            self._compact()
        keys_of: dict[str, list[str]] = {token: [] for token in self._postings}
        for key, found in self._tokens.items():
            for token in found:
                keys_of[token].append(key)
        postings = array("Q")
        for each in self._postings.values():
            postings.extend(each)
        counts = array("Q", map(len, self._postings.values()))
        return KeptRanking([*keys_of], ["\n".join(each) for each in keys_of.values()], counts, postings, self._lengths)

    def restore(self, kept: "KeptRanking") -> None:
        """Take what was kept, which may be anything, as the documents of this ranking, which is empty.

        Raises:
            ValueError: it is inconsistent, or more than a ranking takes.
        """
        tokens, keys, counts, postings, lengths = kept
        size = len(postings) + _TOKEN_SIZE * len(tokens)
        following = max(lengths, default=-1) + 1
        if not len(tokens) == len(set(tokens)) == len(keys) == len(counts) or sum(counts) != len(postings):
            raise ValueError("the lists of a kept index do not fit together")
        if size > MAX_SIZE or following > _MOST_NUMBERS or max(postings, default=0) >> _SHIFT >= max(following, 1):
            raise ValueError("a kept index is too large, or names documents that it does not have")
        at = 0
        for token, its_keys, count in zip(tokens, keys, counts, strict=True):
            self._postings[token] = postings[at : at + count]
            at += count
            for key in its_keys.split("\n"):
                self._tokens.setdefault(key, []).append(token)
        self._lengths = lengths
        self._total_length = sum(lengths.values())
        self._next_number, self._size = following, size

    def _compact(self) -> None:
        """Drop the postings of removed documents, and the tokens without postings."""
        alive, before = self._lengths.keys(), self._postings
        self._postings, self._tokens, self._size, self._dead, self._vocabulary = {}, {}, 0, 0, None
        for token, postings in before.items():
            kept = array("Q", (posting for posting in postings if posting >> _SHIFT in alive))
            if kept and (new := self._new(token)) is not None:
                new.extend(kept)
                self._size += len(kept)


class KeptRanking(NamedTuple):
    """A ranking as plain values.

    Args:
        tokens: as they are written in documents.
        keys: of each token, the words under which it is found, a line each.
        counts: of each token, how many of the postings are its.
        postings: those of all tokens, one after the other.
        lengths: of each document by its number, the characters of its body.
    """

    tokens: list[str]
    keys: list[str]
    counts: "array[int]"
    postings: "array[int]"
    lengths: dict[int, int]


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of some lines: tokenizing one blocks all other threads."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + _PIECE_CHARS, start + 2 * _PIECE_CHARS)
        end = start + 2 * _PIECE_CHARS if end < 0 else end
        yield text[start:end]
        start = end


def _rarity(having: int, documents: int) -> float:
    return math.log(1 + (documents - having + 0.5) / (having + 0.5)) if having else 0.0
