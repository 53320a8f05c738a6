"""The tools over threads: logs that are only appended to.

A thread is a Markdown file below `threads/` in the vault, its entries headed by their times
(`## 2025-01-31T09:30:00Z`). Its name is free text; the file's name consists of its letters and digits, and names with
the same file name denote the same thread. Files created by hand are threads as well.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from bt_runtime.text import iso, near
from oracle.core.chunks import Source
from oracle.tools.errors import ToolError
from oracle.tools.keys import call_key
from oracle.tools.notes import NOTE_SUFFIXES, THREADS_FOLDER, entry_text, read_entries
from oracle.tools.paths import Root
from oracle.tools.protocol import ToolResult
from oracle.tools.suggest import did_you_mean
from oracle.tools.text import MAX_HITS, MAX_READ_BYTES, READ_CHARS, cut_line, decode, numbered, shorten
from oracle.tools.vault import search_result
from oracle.tools.vault_index import VaultIndex

_MAX_NAME_CHARS = 120
_MAX_CONTENT_CHARS = 100_000
_LINE_OF_FILE = re.compile(r"(\.md):\d+(?:-\d+)?$", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r"[^\w.+#]+")


class ThreadTools:
    """The functions behind the tools.

    `index` is over the vault `root`; `now` gives the time for new entries, in UTC if it has no time zone.
    """

    def __init__(self, root: Root, index: VaultIndex, *, now: Callable[[], datetime]) -> None:
        self._root = root
        self._index = index
        self._now = now

    def thread_push(
        self,
        thread: Annotated[str, "The thread's name; a new name begins a new thread."],
        content: Annotated[str, "The entry's text, in Markdown."],
    ) -> ToolResult:
        """Add an entry to a thread, with the time. Nothing that is there is changed."""
        if not content.strip():
            raise ToolError("content is empty; give the text of the entry.")
        if len(content) > _MAX_CONTENT_CHARS:
            raise ToolError(
                f"content has {len(content):,} characters; at most {_MAX_CONTENT_CHARS:,} fit into an entry."
            )
        path, title = self._existing(thread), " ".join(_name(thread).split())
        is_new = path is None
        path = path or f"{THREADS_FOLDER}/{slug(thread)}.md"
        key = call_key()
        time = iso(self._now() if key is None else key.at, precision="seconds")
        try:
            self._root.append(path, entry_text(time, content).encode(), header=f"# {title}\n".encode())
        except IsADirectoryError:
            raise ToolError(f"{path!r} is a folder; choose another name for the thread.") from None
        except UnicodeEncodeError:
            raise ToolError("content has characters that are no valid Unicode (lone surrogates).") from None
        return ToolResult(f"{'Began the thread' if is_new else 'Added to the thread'} {path} ({time}).")

    def thread_read(self, thread: Annotated[str, "The thread's name, or its path from a search result."]) -> ToolResult:
        """Read a thread by its name or path. Returns its entries, oldest first; of a long one the newest."""
        path = self._existing(thread)
        if path is None:
            names = [title for _, title in self._index.files(kind="thread")]
            known = did_you_mean(near(thread, names)) or f" There are: {', '.join(names[:20]) or 'no threads yet'}."
            raise ToolError(f"there is no thread {shorten(thread)!r}.{known}")
        try:
            data, _ = self._root.read(path, max_bytes=MAX_READ_BYTES)
        except (FileNotFoundError, IsADirectoryError):
            raise ToolError(f"the thread {path!r} is gone.") from None
        decoded = decode(data, path=path)
        lines = decoded.lines
        if not lines:
            return ToolResult(f"{path} is empty.", is_empty=True)
        entries = read_entries(decoded.text)
        first = _first_shown(lines, [entry.line for entry in entries])
        parts = [f"{path}, lines {first}-{len(lines)} of {len(lines)} ({len(entries)} entries)"]
        if first > 1:
            parts.append(f"[Older entries are not shown; read them with vault_read(path='{path}:1').]")
        parts += numbered(enumerate(map(cut_line, lines[first - 1 :]), start=first))
        return ToolResult("\n".join(parts), sources=(Source(path, "thread", first, shorten(lines[first - 1]) or None),))

    def thread_seek(
        self,
        query: Annotated[str, "Words or a question; entries with more of the words come first."],
        limit: Annotated[int, f"How many entries to return, 1 to {MAX_HITS}."] = 5,
    ) -> ToolResult:
        """Search the entries of all threads. Shows path:line, thread, time and best lines (a short entry whole)."""
        known = ", ".join(path for path, _ in self._index.files(kind="thread")[:20])
        others = f"Try other words or fewer, or vault_search. Threads: {known}."
        advice = others if known else "There are no threads yet."
        return search_result(self._index, query, limit, kind="thread", advice=advice)

    def _existing(self, thread: str) -> str | None:
        """The path of an existing thread, found by its normalized name."""
        wanted = slug(thread)
        by_path = {_inner(path): path for path, _ in self._index.files(kind="thread")}
        return by_path.get(_inner(_name(thread))) or next(
            (path for name, path in by_path.items() if _folded(name) == wanted), None
        )


def slug(thread: str) -> str:
    """The file name, without suffix, of a thread's name: `Search relevance!` is `search-relevance`.

    Raises:
        ToolError: it is too long, or contains no character allowed in a file name.
    """
    name = _name(thread)
    if len(name) > _MAX_NAME_CHARS:
        raise ToolError(f"thread has {len(name):,} characters; at most {_MAX_NAME_CHARS} make a name.")
    folded = _folded(name)
    if not folded or any(not part for part in folded.split("/")):
        raise ToolError(
            f"thread {shorten(thread)!r} is no name; give one of letters or digits, such as 'search relevance'."
        )
    return folded


def _folded(name: str) -> str:
    """Letters and digits of each part between slashes; a part without any becomes empty."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "/".join(_NOT_IN_NAMES.sub("-", part).strip("-. ") for part in folded.split("/"))


def _name(thread: str) -> str:
    """The name without the folder and the suffix, if it is written as a path."""
    return _inner(_LINE_OF_FILE.sub(r"\1", thread.strip())).strip()


def _inner(path: str) -> str:
    if path.casefold().startswith(f"{THREADS_FOLDER}/"):
        path = path[len(THREADS_FOLDER) + 1 :]
    for suffix in NOTE_SUFFIXES:
        if path.casefold().endswith(suffix):
            path = path[: -len(suffix)]
    return path


def _first_shown(lines: list[str], headings: list[int]) -> int:
    """The first line to show so that the rest fits into one result, if possible the first of an entry."""
    chars, first = 0, len(lines) + 1
    while first > 1:
        chars += len(cut_line(lines[first - 2])) + 12
        if chars > READ_CHARS:
            break
        first -= 1
    if first <= 1:
        return 1
    return next((heading for heading in headings if heading >= first), min(first, len(lines)))
