"""The full-text index over a vault: SQLite FTS5, brought up to date when it is asked.

A note is one document, each entry of a thread is one. A file whose time, size and inode are as they were is not read
again; one that was changed within the last moments is, because a second change may leave no trace in them. Of a file
that is read again only the documents that are new are indexed, and only those that are gone are taken out: a thread
grows by single entries.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from oracle.tools.errors import ToolError, ToolSetupError
from oracle.tools.notes import is_note
from oracle.tools.paths import Root
from oracle.tools.vault_documents import Document, Kind, Seen, read_documents
from oracle.tools.vault_query import VaultQuery, best_line, parse_vault_query
from oracle.tools.workers import AbandonedError, check_cancelled

MAX_NOTES = 50_000
_INDEXED_BYTES = 1_000_000
_FRESH_NS = 50_000_000
"""The kernel's clock for files stands still for up to 10 ms."""
_FRESH_COARSE_NS = 2_000_000_000
"""On file systems that keep whole seconds (FAT: every other one)."""
_LOCK_TIMEOUT_S = 20.0
_CANDIDATES = 100
_VERSION = 2
_WEIGHTS = "8.0, 5.0, 3.0, 1.0"
"""Of title, tags, path and text in BM25."""
_SCHEMA = """
    CREATE TABLE files (path TEXT PRIMARY KEY, kind TEXT, title TEXT, stamp TEXT);
    CREATE TABLE documents (id INTEGER PRIMARY KEY, path TEXT, kind TEXT, line INTEGER, title TEXT,
        digest BLOB);
    CREATE INDEX documents_by_path ON documents (path, line);
    CREATE VIRTUAL TABLE words USING fts5 (
        title, tags, path, body, tokenize = 'porter unicode61 remove_diacritics 2'
    );
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A document that matches.

    Args:
        path: below the vault.
        title: of the note or thread; a thread's entry has its time behind it.
        line: the line that fits best, from 1.
        lines: that line and a few that follow.
        score: 0 to 10, greater is better.
    """

    path: str
    title: str
    line: int
    lines: tuple[str, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Listed:
    """A file of the vault with its title."""

    path: str
    title: str


class VaultIndex:
    """The index of one vault; safe to use from several threads.

    Args:
        root: the vault; it need not exist.
        cache: a file to keep the index in; `None` keeps it in memory. It holds the texts of all notes.
        wall_clock_ns: the time as files are stamped with it.

    Raises:
        ToolSetupError: SQLite lacks FTS5, or the file cannot be used.
    """

    def __init__(
        self, root: Root, *, cache: Path | None = None, wall_clock_ns: Callable[[], int] = time.time_ns
    ) -> None:
        self._root = root
        self._wall_clock_ns = wall_clock_ns
        self._lock = threading.Lock()
        self._database = _opened(cache)
        self._seen: dict[str, Seen] = {}
        weakref.finalize(self, self._database.close)

    def search(self, text: str, *, kind: Kind, limit: int) -> list[Found]:
        """The documents that fit a question best, best first.

        Raises:
            ToolError: the index is busy or broken.
        """
        query = parse_vault_query(text)
        if not query.words:
            return []
        with self._ready() as database:
            candidates = _candidates(database, query, kind) or _with_fragments(database, query, kind)
            ranked = sorted(candidates.items(), key=lambda item: (-item[1], item[0]))[:limit]
            return [_found(database, query, document, score) for document, score in ranked]

    def files(self, *, kind: Kind) -> list[Listed]:
        """All notes or all threads, by path.

        Raises:
            ToolError: the index is busy or broken.
        """
        with self._ready() as database:
            rows = database.execute("SELECT path, title FROM files WHERE kind = ? ORDER BY path", (kind,))
            return [Listed(path, title) for path, title in rows]

    @contextmanager
    def _ready(self) -> Iterator[sqlite3.Connection]:
        """The database, up to date, for this thread alone."""
        if not self._lock.acquire(timeout=_LOCK_TIMEOUT_S):
            raise ToolError("the vault's index is busy; try again.")
        try:
            self._refresh()
            yield self._database
        except sqlite3.Error as error:
            raise ToolError(f"the vault's index cannot be used now ({error}); try again.") from error
        finally:
            self._lock.release()

    def _refresh(self) -> None:
        known = dict(self._database.execute("SELECT path, stamp FROM files"))
        try:
            for path, stamp in _walk(self._root.path, now_ns=self._wall_clock_ns()):
                check_cancelled()
                before = known.pop(path, None)
                if before != stamp or stamp.startswith("fresh"):
                    self._index(path, stamp, before)
            for path in known:
                self._forget(path)
        except AbandonedError:  # what was read is kept, or a big vault would begin anew at each attempt
            self._database.commit()
            raise
        except BaseException:
            self._database.rollback()
            self._seen.clear()  # it may know what the database does not
            raise
        self._database.commit()

    def _index(self, path: str, stamp: str, before: str | None) -> None:
        seen = self._seen.pop(path, None)
        try:
            data, _ = self._root.read(path, max_bytes=_INDEXED_BYTES)
            # What was seen is only of use if the database has just that: other processes may keep theirs in the file.
            read = read_documents(data, path=path, seen=seen if seen and seen.stamp == before else None)
        except (OSError, ToolError):  # gone again, binary, or not ours to read
            self._forget(path)
            return
        values = (path, read.kind, read.title, stamp)
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)", values)
        self._replace(path, read.kind, read.documents, first_line=read.first_line)
        if read.tail is not None:
            self._seen[path] = Seen(stamp, read.tail)

    def _replace(self, path: str, kind: Kind, documents: Sequence[Document], *, first_line: int) -> None:
        """Have these documents of a file from a line on, and no others; those that are there already are left alone."""
        known: dict[bytes, list[tuple[int, int]]] = {}
        sql = "SELECT digest, id, line FROM documents WHERE path = ? AND line >= ? ORDER BY id DESC"
        for digest, document_id, line in self._database.execute(sql, (path, first_line)):
            known.setdefault(digest, []).append((document_id, line))
        for document in documents:
            digest = document.digest
            if not known.get(digest):
                self._add(path, kind, document, digest)
                continue
            document_id, line = known[digest].pop()
            if line != document.line:
                self._database.execute("UPDATE documents SET line = ? WHERE id = ?", (document.line, document_id))
        gone = [(document_id,) for left in known.values() for document_id, _ in left]
        self._database.executemany("DELETE FROM words WHERE rowid = ?", gone)
        self._database.executemany("DELETE FROM documents WHERE id = ?", gone)

    def _add(self, path: str, kind: Kind, document: Document, digest: bytes) -> None:
        values = (path, kind, document.line, document.title, digest)
        cursor = self._database.execute(
            "INSERT INTO documents (path, kind, line, title, digest) VALUES (?, ?, ?, ?, ?)", values
        )
        words = (cursor.lastrowid, document.title, document.tags, path, document.body)
        self._database.execute("INSERT INTO words (rowid, title, tags, path, body) VALUES (?, ?, ?, ?, ?)", words)

    def _forget(self, path: str) -> None:
        of_path = "SELECT id FROM documents WHERE path = ?"
        self._database.execute(f"DELETE FROM words WHERE rowid IN ({of_path})", (path,))  # noqa: S608 - a constant
        self._database.execute("DELETE FROM documents WHERE path = ?", (path,))
        self._database.execute("DELETE FROM files WHERE path = ?", (path,))


def _candidates(database: sqlite3.Connection, query: VaultQuery, kind: Kind) -> dict[int, float]:
    """Documents with a word of the query and their scores: how many of the words they have, and BM25."""
    sql = (
        f"SELECT documents.id, bm25(words, {_WEIGHTS}) AS rank FROM words JOIN documents ON documents.id = words.rowid"  # noqa: S608
        f" WHERE words MATCH ? AND documents.kind = ? ORDER BY rank LIMIT {_CANDIDATES}"
    )
    ranks: dict[int, float] = {}
    for expression in (query.any_word, query.all_words):
        for document, rank in database.execute(sql, (expression, kind)):
            ranks.setdefault(document, -rank)
    found = dict.fromkeys(ranks, 0)
    for word in query.words:
        for (document,) in database.execute("SELECT rowid FROM words WHERE words MATCH ?", (query.word(word),)):
            if document in found:
                found[document] += 1
    return {
        document: 5 * found[document] / len(query.words) + 5 * max(rank, 0.0) / (max(rank, 0.0) + 5)
        for document, rank in ranks.items()
    }


def _with_fragments(database: sqlite3.Connection, query: VaultQuery, kind: Kind) -> dict[int, float]:
    """The same by pairs of letters, for scripts without spaces."""
    counts: dict[int, int] = {}
    sql = (
        "SELECT documents.id FROM words JOIN documents ON documents.id = words.rowid"
        " WHERE documents.kind = ? AND (instr(words.title, ?) OR instr(words.body, ?))"
    )
    for fragment in query.fragments:
        for (document,) in database.execute(sql, (kind, fragment, fragment)):
            counts[document] = counts.get(document, 0) + 1
    return {document: 10 * count / len(query.fragments) for document, count in counts.items()}


def _found(database: sqlite3.Connection, query: VaultQuery, document: int, score: float) -> Found:
    sql = (
        "SELECT documents.path, documents.line, documents.title, words.body"
        " FROM documents JOIN words ON words.rowid = documents.id WHERE documents.id = ?"
    )
    path, first, title, body = database.execute(sql, (document,)).fetchone()
    lines = body.split("\n")
    best = best_line(lines, query)
    shown = tuple(lines[best : best + 6])
    return Found(path, title, first + best, shown, round(score, 2))


def _walk(root: Path, *, now_ns: int) -> Iterator[tuple[str, str]]:
    """The notes below the vault with what tells whether they changed; no hidden files, no links."""
    folders, count = [""], 0
    while folders:
        check_cancelled()
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.name.startswith(".") or not entry.name.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{folder}{entry.name}/")
            elif is_note(entry.name) and entry.is_file(follow_symlinks=False) and count < MAX_NOTES:
                count += 1
                yield folder + entry.name, _stamp(entry, now_ns)


def _stamp(entry: "os.DirEntry[str]", now_ns: int) -> str:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return "fresh: gone"
    changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    window_ns = _FRESH_NS if changed_ns % 1_000_000_000 else _FRESH_COARSE_NS
    age = "fresh:" if changed_ns >= now_ns - window_ns else ""
    return f"{age}{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size} {status.st_ino}"


def _opened(cache: Path | None) -> sqlite3.Connection:
    try:
        if cache is None:
            return _with_schema(sqlite3.connect(":memory:", check_same_thread=False))
        cache.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(cache, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        try:
            return _with_schema(sqlite3.connect(cache, timeout=5, check_same_thread=False))
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # locked, or no room: the file itself may be fine
                raise
            cache.unlink()  # no database, or an old one: it can be made anew from the notes
            return _with_schema(sqlite3.connect(cache, timeout=5, check_same_thread=False))
    except (sqlite3.Error, OSError) as error:
        where = "in memory" if cache is None else f"in {str(cache)!r}"
        raise ToolSetupError(f"the vault's index cannot be kept {where}: {error}") from error


def _with_schema(database: sqlite3.Connection) -> sqlite3.Connection:
    try:
        if database.execute("PRAGMA user_version").fetchone() != (_VERSION,):
            for name, kind in database.execute("SELECT name, type FROM sqlite_master").fetchall():
                if kind == "table" and name in {"files", "documents", "words"}:
                    database.execute(f"DROP TABLE IF EXISTS {name}")
            database.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
    except BaseException:
        database.close()
        raise
    return database
