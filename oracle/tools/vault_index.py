"""Searches a vault: notes and the entries of threads, each kind in its own index.

A note is one document, each entry of a thread is one. Only the first megabyte of a file is searched.
"""

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Literal

from bt_runtime.text.data import dataclass
from oracle.core.search.file_index import DocumentPosition, FileIndex, FileReading, Stamp
from oracle.core.search.query import STOP_WORDS, TermMatcher, terms_of
from oracle.core.search.ranking import SearchDocument
from oracle.tools.errors import ToolError
from oracle.tools.files import entries_of, regular_stamp
from oracle.tools.keys import check_cancelled
from oracle.tools.notes import ThreadEntry, is_note, is_thread, read_entries, read_note, unescaped
from oracle.tools.paths import Root
from oracle.tools.text import decode, is_binary

Kind = Literal["vault", "thread"]
MAX_NOTES = 50_000
_INDEXED_BYTES = 1_000_000
_SHOWN_LINES = 6
_WHOLE_LINES, _WHOLE_CHARS = 20, 1_500
_HEAD_LINES, _MAX_STANDING = 40, 6
_STANDING = re.compile(
    r"[\s>*_#|-]{0,8}(?:(?:last )?updated|date|decided|status|superseded|supersedes|replace[ds]|deprecated|obsolete"
    r"|withdrawn|datum|stand|ersetzt|veraltet)[*_]{0,3}\s{0,3}(?:$|[:|]|\b(?:by|on|in|durch|von|am)\b)",
    re.IGNORECASE,
)
"""The beginning of a line that says when a note was written, or whether it still holds."""
_LINE_CHARS = 2_000
_FIELD_WEIGHTS = (2.0, 1.5, 0.8)
"""Of title, tags and path."""
_TITLE = re.compile(rb"# +[^\s#]")
_HEADING_BONUS = 0.5
_ABOUT_NOTES = frozenset(("note", "notes", "tagged", "tag", "vault", "thread", "threads", "page", "pages"))
_STOP_WORDS = STOP_WORDS | _ABOUT_NOTES | {"written", "wrote"}


@dataclass(frozen=True, slots=True)
class VaultMatch:
    """A document that matches.

    Args:
        title: of the note or thread; for an entry, followed by its time.
        line: the number of the line that matches best, from 1.
        lines: numbers and texts of the lines to show: all of a short note or entry; of others that line with up to five
            that follow, and above them those with the note's date and status.
        whole: `note`, `entry` or `thread` if `lines` are all of it, else empty.
        n_terms: the number of the question's terms that the document has.
        score: greater is better.
    """

    path: str
    title: str
    line: int
    lines: tuple[tuple[int, str], ...]
    score: float
    whole: str
    n_terms: int


class VaultIndex:
    """The index of one vault, which need not exist; safe to use from several threads."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._indices: dict[Kind, FileIndex] = {
            kind: FileIndex(_FIELD_WEIGHTS, read=self._read) for kind in ("vault", "thread")
        }

    def search(self, text: str, *, kind: Kind, limit: int) -> list[VaultMatch]:
        """The documents that match a question best, best first."""
        index = self._indices[kind]
        with index.locked():
            index.update(self._walk(kind))
            terms = terms_of(text, stop_words=_STOP_WORDS)
            found = index.rank(terms, limit=limit)
        matcher = TermMatcher(terms)
        lines = {path: self._lines(path) for path in {place.path for place, _ in found.places}}
        shown = []
        for place, score in found.places:
            check_cancelled()
            shown.append(_shown(place, score, lines[place.path], matcher))
        return shown

    def files(self, *, kind: Kind) -> list[tuple[str, str]]:
        """The paths of all notes or all threads, in order, with their titles."""
        index = self._indices[kind]
        with index.locked():
            index.update(self._walk(kind))
            return index.titles()

    def _read(self, path: str, memo: object) -> FileReading | None:
        try:
            data, _ = self._root.read(path, max_bytes=_INDEXED_BYTES)
            return vault_reading(data, path=path, memo=memo)
        except (OSError, ToolError):  # deleted meanwhile, unreadable, or binary
            return None

    def _lines(self, path: str) -> list[str]:
        try:
            data, _ = self._root.read(path, max_bytes=_INDEXED_BYTES)
            return decode(data, path=path).lines
        except (OSError, ToolError):  # changed since it was indexed
            return []

    def _walk(self, kind: Kind) -> Iterator[tuple[str, Stamp]]:
        """The files of a kind in the vault, without hidden files and links."""
        folders, count = [""], 0
        while folders:
            folder = folders.pop()
            for entry in entries_of(self._root.path / folder):
                check_cancelled()
                path = folder + entry.name
                if entry.name.startswith(".") or not entry.name.isprintable():
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders += [f"{path}/"] if folder or is_thread(f"{path}/") == (kind == "thread") else []
                elif is_note(entry.name) and is_thread(path) == (kind == "thread") and (stamp := regular_stamp(entry)):
                    if count == MAX_NOTES:
                        return
                    count += 1
                    yield path, stamp


def vault_reading(data: bytes, *, path: str, memo: object = None) -> FileReading:
    """Split a note or a thread into documents; text before the first entry of a thread is one as well.

    Args:
        data: the file.
        path: below the vault.
        memo: of the previous reading. If a thread has only grown since, reading begins with its last entry.

    Raises:
        ToolError: the file is binary.
    """
    if isinstance(memo, _Tail) and memo.begins(data) and not is_binary(data[memo.at :]):
        return _grown(data, memo, path)
    decoded = decode(data, path=path)
    lines = decoded.lines
    note = read_note(lines, path=path)
    fields = (" ".join(note.tags), path)
    entries = read_entries(decoded.text) if is_thread(path) else []
    before = lines[note.text_line - 1 : entries[0].line - 1 if entries else None]
    documents = []
    if not entries or any(line.strip() and not line.startswith("#") for line in before):
        end = note.text_line + len(before)
        documents.append(SearchDocument("\n".join(before), (note.title, *fields), note.text_line, end, note.title))
    documents += [_document(entry, note.title, fields) for entry in entries]
    has_tail = decoded.is_exact and _TITLE.match(data) is not None
    return FileReading(note.title, documents, memo=_tail(data, note.title, entries, documents) if has_tail else None)


@dataclass(frozen=True, slots=True)
class _Tail:
    """Where to continue reading a thread that has grown.

    Args:
        size: the number of bytes read.
        digest: hash of the `size` bytes that were read, to see whether they have changed.
        at: the byte position of the last entry's heading.
        line: the line number of the tail's heading, from 1.
        documents: the number of documents before that entry.
        title: of the thread, which begins with it and so keeps it.
    """

    size: int
    digest: bytes
    at: int
    line: int
    documents: int
    title: str

    def begins(self, data: bytes) -> bool:
        """Whether the file still begins with the bytes that were read."""
        return len(data) >= self.size and _digest(data, self.size) == self.digest


def _grown(data: bytes, tail: _Tail, path: str) -> FileReading:
    text = decode(data[tail.at :], path=path).text
    entries = [entry._replace(line=entry.line + tail.line - 1) for entry in read_entries(text)]
    documents = [_document(entry, tail.title, ("", path)) for entry in entries]
    memo = _tail(data, tail.title, entries, documents, above=tail.documents)
    return FileReading(tail.title, documents, unchanged=tail.documents, memo=memo)


def _tail(
    data: bytes, title: str, entries: Sequence[ThreadEntry], documents: Sequence[SearchDocument], *, above: int = 0
) -> _Tail | None:
    """The tail of a thread; `None` if appended text might change the last heading, or if bytes were replaced in it."""
    text = entries[-1].text.encode() if entries else b""
    if not text or not data.endswith(text):
        return None
    at = data.rfind(f"## {entries[-1].time}".encode(), 0, len(data) - len(text))
    return _Tail(len(data), _digest(data, len(data)), at, entries[-1].line, above + len(documents) - 1, title)


def _document(entry: ThreadEntry, title: str, fields: tuple[str, ...]) -> SearchDocument:
    title, line = f"{title}, {entry.time}", entry.line + 1
    end = line + entry.text.count("\n") - entry.text.endswith("\n")
    return SearchDocument(entry.text.strip("\n"), (title, *fields), line, end, title)


def _digest(data: bytes, size: int) -> bytes:
    return blake2b(memoryview(data)[:size]).digest()


def _shown(place: DocumentPosition, score: float, lines: Sequence[str], matcher: TermMatcher) -> VaultMatch:
    numbered = list(enumerate(lines, start=1))
    own = numbered[place.line - 1 : place.end - 1]
    whole, unit = numbered, "note"
    if is_thread(place.path):
        unit = "entry" if read_entries("\n".join(lines)) else "thread"
        whole = own = [(number, unescaped(line)) for number, line in own]
    while whole and not whole[-1][1].strip():
        whole.pop()
    best = _best_line([line for _, line in own], matcher)
    is_whole = 0 < len(whole) <= _WHOLE_LINES and sum(len(line) for _, line in whole) <= _WHOLE_CHARS
    shown = whole if is_whole else sorted({*own[best : best + _SHOWN_LINES], *_standing(whole)})
    n_terms = len(matcher.fits("\n".join([place.title, *(line for _, line in own)])))
    return VaultMatch(
        place.path, place.title, place.line + best, tuple(shown), round(score, 2), unit if is_whole else "", n_terms
    )


def _standing(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines at the head of a note with its date and status; of a heading also the line below it."""
    head = [(number, line) for number, line in lines[:_HEAD_LINES] if line.strip()]
    found = [at for at, (_, line) in enumerate(head) if _STANDING.match(line)]
    found += [at + 1 for at in found if head[at][1].startswith("#") and at + 1 < len(head)]
    return [head[at] for at in sorted(found)[:_MAX_STANDING]]


def _best_line(lines: Sequence[str], matcher: TermMatcher) -> int:
    """The index of the line with the most terms of the question; headings win ties, then the first.

    If no line has any (the title or a tag matched), it is the first non-blank line.
    """
    best = next((number for number, line in enumerate(lines) if line.strip()), 0)
    best_score = 0.0
    for number, line in enumerate(lines):
        score = float(len(matcher.fits(line[:_LINE_CHARS])))
        score += _HEADING_BONUS if score and line.startswith("#") else 0.0
        if score > best_score:
            best, best_score = number, score
    return best
