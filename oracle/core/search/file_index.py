"""An index of files for searches, kept up to date with them.

It is updated before each search. A file whose times, size and inode are unchanged is not read again, unless it was
changed within the last 50 ms: a second change within the resolution of file times would go unnoticed. When a file is
read again, only its new documents are indexed, because a thread grows by single entries.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from heapq import nsmallest
from typing import NamedTuple

from bt_runtime.text.data import dataclass
from oracle.core.search.query import Term
from oracle.core.search.ranking import KeptRanking, Ranking, SearchDocument

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
