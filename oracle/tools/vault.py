"""The tools over the vault's notes: search, read, list, write.

The vault is a folder of Markdown files. Threads (`oracle.tools.threads`) are files below `threads/` in it:
`vault_search` excludes them, because `thread_seek` searches them; `vault_read` reads them like any note; `vault_write`
rejects them. Hidden files and folders (`.git`, `.obsidian`) are not part of the vault. A vault whose folder does not
exist is empty; the first write creates it.

In search results each hit is `path:line — title (score 3.20)` followed by numbered lines, and by a note in square
brackets if these are the whole note. Hits whose score is far below the best one are left out.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from bt_runtime.text import near
from oracle.core.chunks import Source
from oracle.tools.errors import ToolError
from oracle.tools.excerpts import read_excerpt
from oracle.tools.notes import NOTE_SUFFIXES, is_thread, with_title
from oracle.tools.paths import Root
from oracle.tools.protocol import Around, Excerpt, ToolResult
from oracle.tools.reading import range_of, read_range
from oracle.tools.suggest import did_you_mean, near_paths
from oracle.tools.text import CONTEXT_CHARS, FAR_BELOW, MAX_ENTRIES, MAX_HITS, cut_line, numbered, shorten
from oracle.tools.vault_index import Kind, VaultIndex

_MAX_BODY_CHARS = 1_000_000
_MAX_NAMED = 3
"""The entries of threads whose threads are named with the notes of a search."""
_ENOUGH_TERMS = 2
"""Of a question, in an entry whose thread is named; fewer if the best note has fewer."""


class VaultTools:
    """The functions behind the tools; `index` is over the vault `root`."""

    def __init__(self, root: Root, index: VaultIndex) -> None:
        self._root = root
        self._index = index

    def vault_search(
        self,
        query: Annotated[str, "Words or a question; notes with more of the words come first."],
        limit: Annotated[int, f"How many notes to return, 1 to {MAX_HITS}."] = 5,
    ) -> ToolResult:
        """Search the vault's notes. Shows path:line, title and best lines (a short note whole), and names threads."""
        advice = "Try other words or fewer, thread_seek for threads, or vault_list to see what there is."
        return search_result(self._index, query, limit, kind="vault", advice=advice)

    def vault_read(
        self,
        path: Annotated[str, "The note or thread, below the vault; 'path:line' begins there. '.md' may be left out."],
    ) -> ToolResult:
        """Read a note or a thread of the vault by its path. Returns its lines with their numbers."""
        wanted = range_of(path, exists=self._is_note)
        plain = note_path(self._root, wanted.path)
        self._refuse_hidden_target(plain)
        return read_range(
            self._root,
            wanted._replace(path=plain),
            source_type="thread" if is_thread(plain) else "vault",
            continuation=lambda path, line: f"vault_read(path='{path}:{line}')",
            missing=lambda: self._missing(plain),
            folder_advice="list the folder with vault_list",
        )

    def excerpt(self, path: str, around: Around) -> Excerpt:
        """Lines of a note or a thread, by the rules of `vault_read`.

        Raises:
            ToolError: it is not there, or is not shown.
        """
        plain = note_path(self._root, path)
        self._refuse_hidden_target(plain)
        return read_excerpt(self._root, plain, around)

    def vault_list(
        self, folder: Annotated[str | None, "Only notes below this folder, relative to the vault."] = None
    ) -> ToolResult:
        """List the notes of the vault, then its threads, with their titles."""
        plain = self._root.relative(folder) if folder and folder.strip() else "."
        notes = [*self._index.files(kind="vault"), *self._index.files(kind="thread")]
        prefix = "" if plain == "." else f"{plain}/"
        below = [note for note in notes if note[0].startswith(prefix)]
        if not below:
            folders = {path.rpartition("/")[0] for path, _ in notes} - {""}
            if prefix and not self._root.resolve(plain).is_dir():
                known = did_you_mean(near(plain, sorted(folders)))
                raise ToolError(f"there is no folder {shorten(plain)!r} in the vault.{known}")
            where = f"below {plain!r}" if prefix else "in the vault"
            return ToolResult(f"There are no notes {where}.", is_empty=True)
        lines = [f"{path} — {shorten(title, limit=120)}" for path, title in below[:MAX_ENTRIES]]
        if len(below) > MAX_ENTRIES:
            lines.append(f"[{len(below) - MAX_ENTRIES:,} more; give a folder.] Folders: {_folders(below)}")
        return ToolResult("\n".join(lines))

    def vault_write(
        self,
        path: Annotated[str, "Where, relative to the vault, such as 'decisions/caching.md'; folders are made."],
        body: Annotated[str, "The whole text of the note, in Markdown."],
        title: Annotated[str | None, "The title; becomes the first heading."] = None,
        overwrite: Annotated[bool, "Replace a note that exists; its old text is lost."] = False,  # noqa: FBT002 - by name
    ) -> ToolResult:
        """Write a note to the vault. An existing note is only replaced with overwrite=true."""
        plain = note_path(self._root, path)
        if is_thread(plain):
            raise ToolError(f"{plain!r} is a thread's place; add to threads with thread_push.")
        if not body.strip():
            raise ToolError("body is empty; give the whole text of the note.")
        if len(body) > _MAX_BODY_CHARS:
            raise ToolError(f"body has {len(body):,} characters; at most {_MAX_BODY_CHARS:,} fit into a note.")
        self._refuse_hidden_target(plain)
        text = with_title(body, title)
        try:
            replaced = self._root.write(plain, text.encode(), overwrite=overwrite)
        except FileExistsError:
            raise ToolError(
                f"the note {plain!r} exists already and was not changed. Read it with vault_read; then write the whole "
                "new text with overwrite=true, or choose another path."
            ) from None
        except IsADirectoryError:
            raise ToolError(f"{plain!r} is a folder; give the path of a note, such as '{plain}/name.md'.") from None
        except UnicodeEncodeError:
            raise ToolError("body has characters that are no valid Unicode (lone surrogates).") from None
        lines = text.count("\n")
        return ToolResult(
            f"{'Replaced' if replaced else 'Wrote'} {plain} ({lines} {'line' if lines == 1 else 'lines'})."
        )

    def _is_note(self, path: str) -> bool:
        try:
            return self._root.resolve(note_path(self._root, path)).is_file()
        except (ToolError, OSError):
            return False

    def _refuse_hidden_target(self, path: str) -> None:
        """Reject a link inside the vault that leads to a file outside of it."""
        real = self._root.resolve(path).relative_to(self._root.path)
        if any(part.startswith(".") for part in real.parts) or not real.name.casefold().endswith(NOTE_SUFFIXES):
            raise ToolError(f"{shorten(path)!r} is a link to a file that is no note of the vault.")

    def _missing(self, path: str) -> str:
        paths = [path for path, _ in [*self._index.files(kind="vault"), *self._index.files(kind="thread")]]
        return f"there is no note {shorten(path)!r} in the vault.{did_you_mean(near_paths(path, paths))}"


def note_path(root: Root, path: str) -> str:
    """The normalized path of a note, with `.md` appended if it has no suffix of a note.

    Raises:
        ToolError: it is malformed or hidden.
    """
    parts = root.parts(path if path.casefold().endswith(NOTE_SUFFIXES) else f"{path}.md" if path.strip("./ ") else path)
    if not parts:
        raise ToolError(f"path {path!r} names no note; give one such as 'decisions/caching.md'.")
    hidden = next((part for part in parts if part.startswith(".")), None)
    if hidden is not None:
        raise ToolError(f"path {shorten(path)!r} has a hidden name ({hidden!r}), which is no part of the vault.")
    return "/".join(parts)


def search_result(index: VaultIndex, query: str, limit: int, *, kind: Kind, advice: str) -> ToolResult:
    """The hits not far below the best one as text and sources; `advice` is what to try where there are none."""
    found = index.search(query, kind=kind, limit=min(max(limit, 1), MAX_HITS))
    found = [hit for hit in found if hit.score >= FAR_BELOW * found[0].score]
    what = "note" if kind == "vault" else "entry"
    best = max((hit.n_terms for hit in found), default=1)
    entries = index.search(query, kind="thread", limit=_MAX_NAMED) if kind == "vault" else []
    threads = ", ".join(dict.fromkeys(entry.path for entry in entries if entry.n_terms >= min(best, _ENOUGH_TERMS)))
    ends = [f"[Threads that match as well: {threads}. thread_seek shows where.]"] if threads else []
    if not found:
        text = f"No {what} matches {shorten(query, limit=120)!r}. {advice}"
        return ToolResult("\n\n".join([text, *ends]), is_empty=True)
    blocks, sources = [], []
    for hit in found:
        lines = ((at, line if hit.whole else cut_line(line, limit=CONTEXT_CHARS)) for at, line in hit.lines)
        whole = [f"[This is the whole {hit.whole}.]"] if hit.whole else []
        heading = f"{hit.path}:{hit.line} — {shorten(hit.title, limit=120)} (score {hit.score:.2f})"
        blocks.append("\n".join([heading, *numbered(lines, marked=[hit.line]), *whole]))
        text = " ".join(line for at, line in hit.lines if at >= hit.line)
        sources.append(Source(hit.path, kind, hit.line, shorten(text) or None, hit.score))
    return ToolResult("\n\n".join([*blocks, *ends]), sources=tuple(sources))


def _folders(notes: Sequence[tuple[str, str]]) -> str:
    counts = Counter(path.rpartition("/")[0] or "." for path, _ in notes)
    return ", ".join(f"{folder}/ ({count:,})" for folder, count in sorted(counts.items())[:100])
