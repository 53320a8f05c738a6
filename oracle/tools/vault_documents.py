"""The documents that a file of the vault is searched as: a note is one, each entry of a thread is one.

Threads grow at their end, by single entries. So of a thread that was read before, and has only grown since, what is
read again begins with the entry that was the last one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from oracle.tools.notes import Entry, Note, is_thread, read_entries, read_note
from oracle.tools.text import decode

Kind = Literal["vault", "thread"]
_TITLE = re.compile(rb"# +[^\s#]")
# A heading as `read_entries` knows it, whose line has ended: what is appended cannot make it another line.
_ENTRY = re.compile(rb"\n(?=## \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)[ \t]*\r?\n)")


@dataclass(frozen=True, slots=True)
class Document:
    """What is found as one.

    Args:
        line: its first line in the file, from 1.
        title: of the note or thread; an entry has its time behind it.
        tags: of the file, separated by spaces.
        body: the text.
    """

    line: int
    title: str
    tags: str
    body: str

    @property
    def digest(self) -> bytes:
        """Tells documents of one file apart, wherever in it they stand."""
        return blake2b(f"{self.title}\0{self.tags}\0{self.body}".encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True)
class Tail:
    """Where reading a thread can go on once it has grown.

    Args:
        size: bytes that were read.
        digest: of them.
        at: where the heading of the last entry begins, in bytes.
        line: the line of it, from 1.
        title: of the thread; a thread that begins with its title keeps it, whatever follows.
    """

    size: int
    digest: bytes
    at: int
    line: int
    title: str

    def begins(self, data: bytes) -> bool:
        """Whether the file still begins with what was read."""
        return len(data) >= self.size and _digest(data, self.size) == self.digest


@dataclass(frozen=True, slots=True)
class Seen:
    """A tail, and the stamp under which the index has the file."""

    stamp: str
    tail: Tail


@dataclass(frozen=True, slots=True)
class Documents:
    """What was read of a file: its documents from `first_line` on."""

    kind: Kind
    title: str
    documents: Sequence[Document]
    first_line: int = 1
    tail: Tail | None = None


def read_documents(data: bytes, *, path: str, seen: Seen | None) -> Documents:
    """The documents of a file.

    Args:
        data: its content.
        path: below the vault.
        seen: what is known of it; where the file has only grown since, only what is behind that is read.

    Raises:
        ToolError: it is binary.
    """
    if seen is not None and seen.tail.begins(data):
        return _grown(data, seen.tail, path=path)
    lines = decode(data, path=path).lines
    kind: Kind = "thread" if is_thread(path) else "vault"
    note = read_note(lines, path=path)
    tail = _tail(data, note.title) if kind == "thread" and _TITLE.match(data) else None
    return Documents(kind, note.title, _documents(lines, note, kind=kind), tail=tail)


def _grown(data: bytes, tail: Tail, *, path: str) -> Documents:
    lines = decode(data[tail.at :], path=path).lines
    documents = _entries(read_entries(lines), Note(tail.title, (), 1), above=tail.line - 1)
    # An entry without text is at the line that follows it, which is the next heading's.
    return Documents("thread", tail.title, documents, tail.line + 1, _tail(data, tail.title, after=tail))


def _tail(data: bytes, title: str, *, after: Tail | None = None) -> Tail | None:
    """Where the last entry begins, looked for behind what is known already; `None` if there is no entry."""
    at, line = (after.at, after.line) if after else (0, 1)
    for heading in _ENTRY.finditer(data, at):
        line += data.count(b"\n", at, heading.end())
        at = heading.end()
    if at == 0:
        return None
    return Tail(len(data), _digest(data, len(data)), at, line, title)


def _digest(data: bytes, size: int) -> bytes:
    return blake2b(memoryview(data)[:size]).digest()


def _documents(lines: Sequence[str], note: Note, *, kind: Kind) -> list[Document]:
    entries = read_entries(lines) if kind == "thread" else []
    documents = _entries(entries, note)
    before = lines[note.text_line - 1 : entries[0].line - 1 if entries else None]
    if not documents or any(line.strip() and not line.startswith("#") for line in before):
        documents.append(Document(note.text_line, note.title, " ".join(note.tags), "\n".join(before)))
    return documents


def _entries(entries: Sequence[Entry], note: Note, *, above: int = 0) -> list[Document]:
    tags = " ".join(note.tags)
    return [
        Document(above + entry.text_line, f"{note.title}, {entry.time}", tags, "\n".join(entry.lines))
        for entry in entries
    ]
