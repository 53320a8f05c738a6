"""Ranks documents for a question, and keeps an index of files up to date.

The ranking is BM25 over a body and some short fields, from an inverted index in memory.

Rules:

- The score of a term is its rarity times the sum of two parts: its saturating frequency in the body, relative to
  the body's length; and the weights of the short fields (a title, a path) that contain it.
- The score of a document is the sum over the terms, times a factor that grows with the share of terms it contains.
- A posting is one integer: the document, the fields, and the occurrences in the body. Postings are kept by tokens as
  written; each key of a token (`words.keys`) maps to it. The index keeps no text.

The index of a folder is updated before each search. A file whose times, size and inode are unchanged is not read again,
unless it was changed within the last 50 ms: a second change within the resolution of file times would go unnoticed.
When a file is read again, only its new documents are indexed, because a thread grows by single entries.
"""

import math
import os
import threading
import time
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from heapq import nsmallest
from typing import NamedTuple

from bt_runtime.text.data import dataclass
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


Stamp = tuple[int, int, int, int]
"""Identifies a version of a file: modification and status change times in nanoseconds, size in bytes, inode."""
_LOCK_TIMEOUT_S = 20.0
_FRESH_NS = 50_000_000
"""The kernel's clock for file times advances in steps of up to 10 ms."""
_FRESH_COARSE_NS = 2_000_000_000
"""For file systems that keep whole seconds (FAT: every other second)."""


class DocumentPosition(NamedTuple):
    """The position of a document: its file, its lines (from 1, `end` excluded), and its title."""

    path: str
    line: int
    end: int
    title: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """The documents that match, best first, with their scores; and the weights of the terms (`Ranking.rank`)."""

    places: Sequence[tuple[DocumentPosition, float]]
    weights: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FileReading:
    """What was read of a file.

    Args:
        title: the file's title, shown with what is found in it.
        documents: the units of search that the file contains, in any order.
        unchanged: how many documents of the previous reading remain; `documents` are those that follow them.
        memo: passed to the reader when the file has changed.
    """

    title: str
    documents: Sequence[SearchDocument]
    unchanged: int = 0
    memo: object = None


@dataclass(slots=True)
class _File:
    """A file that was read under a stamp (`None`: it must be read again), and its documents by digest and number."""

    title: str | None = None
    memo: object = None
    stamp: Stamp | None = None
    documents: list[tuple[int, int]] = field(default_factory=list)


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class KeptFile(NamedTuple):
    """A file of an index as plain values: each document is its number, first line, end and title."""

    path: str
    title: str | None
    stamp: Stamp
    documents: list[tuple[int, int, int, str]]


class FileIndex:
    """An index over files; safe to use from several threads.

    Args:
        field_weights: the weight of each short field of a document, relative to its body's 1.0.
        read: reads a file, by its path and the memo of the previous reading; returns `None` if it cannot be read.
        wall_clock_ns: the clock that file times are compared with, in nanoseconds.
    """

    def __init__(
        self,
        field_weights: Sequence[float],
        *,
        read: Callable[[str, object], FileReading | None],
        wall_clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._read = read
        self._wall_clock_ns = wall_clock_ns
        self._lock = threading.Lock()
        self._field_weights = field_weights
        self._ranking = Ranking(field_weights)
        self._files: dict[str, _File] = {}
        self._places: dict[int, DocumentPosition] = {}
        self._files_read = 0

    @property
    def is_full(self) -> bool:
        """Whether new files are not indexed any more."""
        return self._ranking.is_full

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the index for the calling thread; all other methods are called under the lock.

        Raises:
            TimeoutError: the lock was not released within 20 s.
        """
        if not self._lock.acquire(timeout=_LOCK_TIMEOUT_S):
            raise TimeoutError("the index is busy; try again")
        try:
            yield
        finally:
            self._lock.release()

    def update(self, files: Iterable[tuple[str, Stamp]], *, has_time: Callable[[], bool] = lambda: True) -> int:
        """Read the files that have changed, and forget those that are gone.

        Args:
            files: all files. An exception in the iterable ends the update; files read until then stay indexed.
            has_time: once it returns false, no further file is read.

        Returns:
            The number of files whose current version is indexed.
        """
        now_ns = self._wall_clock_ns()
        gone = dict.fromkeys(self._files)
        current = 0
        for path, stamp in files:
            gone.pop(path, None)
            file = self._files.get(path)
            if file is None or file.stamp != stamp:
                if not has_time() or (file is None and self.is_full):
                    continue
                file = self._files.setdefault(path, _File())
                self._replace(path, file, self._read(path, file.memo))
                self._files_read += 1
                file.stamp = None if _is_fresh(stamp, now_ns) else stamp
            current += 1
        for path in gone:
            self._replace(path, self._files.pop(path), None)
        return current

    def rank(
        self, terms: Sequence[Term], *, limit: int | None = None, only: Callable[[str], bool] | None = None
    ) -> Ranked:
        """The documents that contain a term, best first; equal ones in the order of their paths.

        Args:
            terms: the words that are looked for, with their weights.
            limit: the maximum number of documents; by default all, unsorted.
            only: the paths to look at; all by default.
        """
        among = None if only is None else {number for number, place in self._places.items() if only(place.path)}
        scores, weights = self._ranking.rank(terms, among=among)
        places = [(-score, self._places[number]) for number, score in scores.items()]
        places = places if limit is None else nsmallest(limit, places)
        return Ranked([(place, -score) for score, place in places], weights)

    @property
    def files_read(self) -> int:
        """How often a file was read, over all updates."""
        return self._files_read

    def kept(self) -> tuple[list["KeptFile"], KeptRanking]:
        """The data from which `restore` makes this index; without files that have a memo, or no stamp."""
        files = [
            KeptFile(path, file.title, file.stamp, [(at, *self._places[at][1:]) for _, at in file.documents])
            for path, file in self._files.items()
            if file.memo is None and file.stamp is not None
        ]
        return files, self._ranking.kept()

    def restore(self, files: Sequence["KeptFile"], kept: KeptRanking) -> None:
        """Have this index contain what was kept, and nothing else. An update then reads what has changed since.

        Raises:
            ValueError: it is inconsistent; the index is as it was.
        """
        ranking = Ranking(self._field_weights)
        ranking.restore(kept)
        places = {
            number: DocumentPosition(each.path, line, end, title)
            for each in files
            for number, line, end, title in each.documents
        }
        orphans = kept.lengths.keys() - places.keys()  # of files that were not kept
        if len({each.path for each in files}) < len(files) or len(places) < sum(len(each.documents) for each in files):
            raise ValueError("a kept index has a file or a document twice")
        if not places.keys() <= kept.lengths.keys():
            raise ValueError("a kept index has a document without a length")
        for number in orphans:
            ranking.remove(number)
        self._ranking, self._places = ranking, places
        self._files = {  # digests of texts are not the same in two processes
            each.path: _File(each.title, None, each.stamp, [(-1 - number, number) for number, *_ in each.documents])
            for each in files
        }

    def titles(self) -> list[tuple[str, str]]:
        """The paths of all files that can be read, in order, with their titles."""
        return sorted((path, file.title) for path, file in self._files.items() if file.title is not None)

    def _replace(self, path: str, file: _File, reading: FileReading | None) -> None:
        """Make these the documents of a file; those that are indexed already are kept."""
        unchanged = reading.unchanged if reading else 0
        known = dict(file.documents[unchanged:])
        del file.documents[unchanged:]
        digests = {digest for digest, _ in file.documents}
        free: dict[int, int] = {}  # where to go on, for texts that occur many times
        for document in reading.documents if reading else ():
            first = hash((document.title, document.fields, document.body))
            digest = free.get(first, first)
            while digest in digests:  # another one of the same text
                digest += 1
            digests.add(digest)
            free[first] = digest + 1
            number = known.pop(digest, None)
            number = self._ranking.add(document) if number is None else number
            self._places[number] = DocumentPosition(path, document.line, document.end, document.title)
            file.documents.append((digest, number))
        for number in known.values():
            self._ranking.remove(number)
            del self._places[number]
        file.title, file.memo = (reading.title, reading.memo) if reading else (None, None)


def _is_fresh(stamp: Stamp, now_ns: int) -> bool:
    changed_ns = max(stamp[:2])
    return changed_ns >= now_ns - (_FRESH_NS if changed_ns % 1_000_000_000 else _FRESH_COARSE_NS)
