"""The tools over a project's source code: search, read, list. None of them writes.

In search results each hit is `path:line (score 3.20)` followed by numbered lines: those around it, those that match
best further inside the definition, and the heads of further methods of a class. Blank lines separate the hits, and
notes in square brackets follow the last one. Hits whose score is far below the best one are left out. All lines with a
text are found by `oracle.tools.code_exact`.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated

from bt_runtime.text import near
from oracle.core.chunks import Source
from oracle.core.search import query, ranking
from oracle.core.search.file_index import FileIndex, FileReading
from oracle.core.search.keeping import IndexFile
from oracle.core.search.query import TermMatcher
from oracle.tools import code_kinds, code_search, text
from oracle.tools.code_exact import Mode, find_lines
from oracle.tools.code_extract import extract_range, members
from oracle.tools.code_files import Listing, ProjectFile, is_listed, is_private, list_project, private_below
from oracle.tools.code_kinds import extension, extensions_of, kind_factor
from oracle.tools.code_query import parse_query
from oracle.tools.code_search import FIELD_WEIGHTS, FoundHit, best_lines, choose_hits, code_reading, rank_files
from oracle.tools.errors import ToolError
from oracle.tools.excerpts import read_excerpt
from oracle.tools.files import read_regular
from oracle.tools.globs import matcher
from oracle.tools.keys import check_cancelled
from oracle.tools.labels import STORED
from oracle.tools.paths import Root
from oracle.tools.protocol import Around, Excerpt, Tool, ToolResult
from oracle.tools.reading import range_of, read_range
from oracle.tools.schema import Function, tool, with_excerpts
from oracle.tools.secret_files import is_secret
from oracle.tools.suggest import did_you_mean, near_paths
from oracle.tools.text import (
    CONTEXT_CHARS,
    MAX_ENTRIES,
    MAX_HITS,
    READ_CHARS,
    Decoded,
    cut_line,
    decode,
    numbered,
    shorten,
)
from oracle.tools.workers import Workers

MAX_FILE_BYTES = 1_000_000
"""Larger files are not searched."""
_SEARCH_TIMEOUT_S = 10.0
_READERS = (query.__file__, ranking.__file__, code_kinds.__file__, code_search.__file__, text.__file__)
"""What decides what is in the index of a file."""


def project_tools(root: Path, *, private: Sequence[Path] = (), index: Path | None = None) -> tuple[Tool, ...]:
    """The tools over a project.

    Args:
        root: the project.
        private: files and folders that are not shown, such as the service's own data.
        index: the file in which the index is kept for the next process; `None` to keep none.

    Raises:
        ToolSetupError: the project's folder is missing or cannot be read.
    """
    folder = Root(root, label="the project")
    folder.require(setting="--project or ORACLE_PROJECT_DIR")
    kept = None if index is None else IndexFile(index, root=folder.path, modules=_READERS)
    code = CodeTools(folder, private=private_below(folder.path, private), kept=kept)
    workers = Workers()
    uses: dict[Function, str] = {
        code.search_code: "First for any question about the source code: definitions, usages, every occurrence, files.",
        code.read_file: "To see a file, or the lines around a search hit, when the hit itself does not answer.",
        code.list_files: "To see how the project is laid out, or to find files by name.",
    }
    make = partial(tool, group="code", workers=workers, labels=STORED)
    made = [make(when_to_use=use)(function) for function, use in uses.items()]
    return tuple(with_excerpts(each, code.excerpt, workers) if each.name == "read_file" else each for each in made)


class CodeTools:
    """The functions behind the tools.

    Args:
        root: the project.
        search_timeout_s: the time after which a search returns what it has found so far.
        private: paths below the project that are not shown (`is_private`).
        kept: where the index is kept for the next process.
    """

    def __init__(
        self,
        root: Root,
        *,
        search_timeout_s: float = _SEARCH_TIMEOUT_S,
        private: Sequence[str] = (),
        kept: IndexFile | None = None,
    ) -> None:
        self._root = root
        self._kept = kept
        self._private = private
        self._search_timeout_s = search_timeout_s
        self._index = FileIndex(FIELD_WEIGHTS, read=self._reading)

    def search_code(
        self,
        query: Annotated[str, "Identifiers, an exact piece of code, or a question in plain words."],
        limit: Annotated[int | None, f"How many, 1 to {MAX_HITS}; by default 5 places, or the lines that fit."] = None,
        language: Annotated[str | None, "Only files of this language, such as 'python' or 'ts'."] = None,
        path: Annotated[str | None, "Only this folder or file, or files that match, such as 'src/**/*.ts'."] = None,
        mode: Annotated[Mode, "'words': best places. 'exact' (literal), 'regex': all lines, and how many."] = "words",
        skip: Annotated[int, "With 'exact' or 'regex': lines to skip, to see the rest."] = 0,
    ) -> ToolResult:
        """Search the project's source code. Returns the best places with the lines around, or all lines."""
        if not query.strip():
            raise ToolError("query is empty; give identifiers, a piece of code, or a question in plain words.")
        deadline = time.monotonic() + self._search_timeout_s
        listing = self._listing()
        files = [file for file in listing.files if file.size <= MAX_FILE_BYTES]
        paths = self._selected(files, language=language, path=path)
        most, limit = (MAX_ENTRIES, 5) if limit is None else (min(max(limit, 1), MAX_HITS),) * 2
        shown = range(max(skip, 0), max(skip, 0) + most)
        given = {"language": language, "path": path}
        filters = "".join(f", {name}={value!r}" for name, value in given.items() if value)
        notes = _listing_notes(listing, too_large=len(listing.files) - len(files))
        find = partial(find_lines, filters=filters, shown=shown, deadline=deadline, notes=notes)
        if mode != "words":
            return find(query, self._texts(paths), mode=mode)
        parsed = parse_query(query)
        literally: tuple[Mode, ...] = ("exact", "regex") if parsed.is_regex else ()
        for each in literally:
            with suppress(ToolError):
                if not (lines := find(parsed.text, self._texts(paths), mode=each)).is_empty:
                    return lines
        with self._index.locked():
            if self._kept is not None:
                self._kept.load(self._index)
            current = self._index.update(files, has_time=lambda: time.monotonic() <= deadline)
            found = self._index.rank(parsed.terms, only=paths.__contains__ if len(paths) < len(files) else None)
            if self._kept is not None:
                self._kept.save(self._index)
        hits: list[FoundHit] = []
        matcher = TermMatcher(parsed.terms)
        for file in rank_files(found, parsed, paths=paths):
            check_cancelled()
            decoded = self._decoded(file.path) if not hits or time.monotonic() < deadline else None
            if decoded is not None:
                hits += [(hit, decoded.lines) for hit in best_lines(file, decoded, parsed, found, matcher)]
        if not hits and parsed.phrase and not (lines := find(parsed.text, self._texts(paths), mode="exact")).is_empty:
            return lines  # symbols such as `=>`, or a part of a word
        hits = choose_hits(hits, limit=limit)
        notes = _search_notes(listing, current, len(files), is_full=self._index.is_full)
        return _search_result(query, hits, notes=notes)

    def read_file(
        self,
        path: Annotated[str, "The file, relative to the project; 'path:line' begins there."],
        start_line: Annotated[int | None, "The first line, from 1."] = None,
        end_line: Annotated[int | None, "The last line."] = None,
    ) -> ToolResult:
        """Read a file of the project, whole or some lines. Returns the lines with their numbers."""
        wanted = range_of(path, start_line=start_line, end_line=end_line, exists=self._is_file)
        plain = self._may_show(wanted.path)
        return read_range(
            self._root,
            wanted,
            source_type="code",
            continuation=lambda path, line: f"read_file(path={path!r}, start_line={line})",
            missing=lambda: self._missing(plain),
            folder_advice=f"list it with list_files(path={plain!r})",
        )

    def excerpt(self, path: str, around: Around) -> Excerpt:
        """Lines of a file, by the rules of `read_file`.

        Raises:
            ToolError: it is not there, or is not shown.
        """
        return read_excerpt(self._root, self._may_show(path), around)

    def _may_show(self, path: str) -> str:
        """The normalized path of a file that may be shown.

        Raises:
            ToolError: it may not, or the path is malformed.
        """
        plain = self._root.relative(path)
        real = self._root.resolve(plain).relative_to(self._root.path).as_posix()
        if is_secret(plain) or is_secret(real):  # a link inside the project may lead to a secret file
            raise ToolError(f"{plain!r} is not shown: by its name it holds credentials or belongs to version control.")
        if is_private(plain, self._private) or is_private(real, self._private):
            raise ToolError(f"{plain!r} is not shown: it is no part of the project, but data of this service.")
        if self._is_file(plain) and not is_listed(self._root.path, real, private=self._private):
            raise ToolError(
                f"{plain!r} is not shown: git ignores it, or it lies in a hidden or generated folder. "
                "list_files shows what can be read."
            )
        return plain

    def list_files(
        self,
        path: Annotated[str, "The folder, relative to the project."] = ".",
        pattern: Annotated[
            str | None, "Only files whose name or path matches, such as '*.py' or 'src/**/*.ts'."
        ] = None,
    ) -> ToolResult:
        """List a folder of the project; with a pattern, all files below it that match. Folders end with '/'."""
        folder = self._root.relative(path)
        if not self._root.resolve(path).is_dir():
            if self._is_file(path):
                raise ToolError(f"{path!r} is a file; read it with read_file(path={path!r}).")
            raise ToolError(f"there is no folder {shorten(path)!r}.{did_you_mean(near(folder, self._folders()))}")
        listing = self._listing()
        prefix = "" if folder == "." else f"{folder}/"
        below = [file.path.removeprefix(prefix) for file in listing.files if file.path.startswith(prefix)]
        if pattern is not None and pattern.strip():
            matches = matcher(pattern.strip())
            entries = [name for name in below if matches(name) or matches(prefix + name)]
        else:
            entries = _entries(below)
        if not entries:
            what = f"No file matches {pattern!r} below {folder!r}." if below else f"The folder {folder!r} has no files."
            return ToolResult(f"{what} Files that git ignores are not listed.", is_empty=True)
        notes = [f"[{len(entries) - MAX_ENTRIES:,} more; give a folder or a narrower pattern.]"]
        notes = notes if len(entries) > MAX_ENTRIES else []
        notes += _listing_notes(listing)
        return ToolResult("\n".join([prefix + name for name in entries[:MAX_ENTRIES]] + notes))

    def _selected(self, files: Iterable[ProjectFile], *, language: str | None, path: str | None) -> dict[str, None]:
        """The paths of the files of a language, below a folder or by a glob.

        Raises:
            ToolError: an argument is malformed, or there are no files by this path.
        """
        extensions = extensions_of(language) if language is not None and language.strip() else None
        paths = [file.path for file in files if extensions is None or extension(file.path) in extensions]
        plain = self._root.relative(path) if path is not None and path.strip() else "."
        if plain == ".":
            return dict.fromkeys(paths)
        matches = matcher(plain)
        selected = [each for each in paths if each == plain or each.startswith(f"{plain}/") or matches(each)]
        if not selected:
            known = did_you_mean(near(plain, self._folders()) or near_paths(plain, paths))
            raise ToolError(f"path {shorten(plain)!r} has no files to search; give a folder, a file or a glob.{known}")
        return dict.fromkeys(selected)

    def _listing(self) -> Listing:
        return list_project(self._root.path, private=self._private)

    def _reading(self, path: str, _memo: object) -> FileReading | None:
        """Read a file for the index; what is shown is read through the root."""
        check_cancelled()
        data = read_regular(self._root.path / path, max_bytes=MAX_FILE_BYTES, follow_link=False)
        try:
            return None if data is None else code_reading(path, decode(data, path=path).text)
        except ToolError:  # a binary file
            return None

    def _decoded(self, path: str) -> Decoded | None:
        try:
            data, _ = self._root.read(path, max_bytes=MAX_FILE_BYTES)
            return decode(data, path=path)
        except (OSError, ToolError):  # gone or changed since it was listed
            return None

    def _texts(self, paths: Iterable[str]) -> Iterator[tuple[str, Decoded]]:
        for path in sorted(paths, key=lambda path: -kind_factor(path, intent="any")):
            check_cancelled()
            if (decoded := self._decoded(path)) is not None:
                yield path, decoded

    def _is_file(self, path: str) -> bool:
        try:
            return self._root.resolve(path).is_file()
        except (ToolError, OSError):
            return False

    def _missing(self, path: str) -> str:
        found = near_paths(path, [file.path for file in self._listing().files])
        return f"there is no file {shorten(path)!r} in the project.{did_you_mean(found)}"

    def _folders(self) -> list[str]:
        parts = (file.path.split("/")[:-1] for file in self._listing().files)
        return sorted({folder for names in parts for folder in accumulate(names, "{}/{}".format)})


def _search_result(query: str, hits: list[FoundHit], *, notes: list[str]) -> ToolResult:
    if not hits:
        advice = (
            f"Nothing in the code matches {shorten(query, limit=120)!r}. "
            "Try other words or fewer of them, an identifier, no language or path, or list_files to see what there is."
        )
        return ToolResult("\n".join([advice, *notes]), is_empty=True)
    blocks: list[str] = []
    sources: list[Source] = []
    chars = 0
    for hit, lines in hits:
        start, end = extract_range(lines, hit.line - 1, path=hit.path)
        inner = range(*extract_range(lines, hit.inner - 1, path=hit.path)) if hit.inner else ()
        shown = {*range(start, end), *inner, *(at for at in members(lines, hit.line - 1) if at >= end)}
        context = ((at + 1, cut_line(lines[at], limit=CONTEXT_CHARS)) for at in sorted(shown))
        block = "\n".join([f"{hit.path}:{hit.line} (score {hit.score:.2f})", *numbered(context, marked=[hit.line])])
        chars += len(block) + 2
        if blocks and chars > READ_CHARS:
            notes = [*notes, f"[{len(hits) - len(blocks)} more places are left out; ask with a smaller limit.]"]
            break
        blocks.append(block)
        sources.append(Source(hit.path, "code", hit.line, shorten(hit.text), round(hit.score, 2)))
    return ToolResult("\n\n".join([*blocks, *notes]), sources=tuple(sources))


def _search_notes(listing: Listing, searched: int, files: int, *, is_full: bool) -> list[str]:
    notes = _listing_notes(listing)
    if searched < files and is_full:
        notes.append(f"[Only {searched:,} of {files:,} files are searched; the project is too large for more.]")
    elif searched < files:
        notes.append(f"[The time was up after {searched:,} of {files:,} files; narrow by path.]")
    return notes


def _listing_notes(listing: Listing, *, too_large: int = 0) -> list[str]:
    notes = [f"[Not searched, for more than {MAX_FILE_BYTES:,} bytes: {too_large:,} files.]"] if too_large else []
    if not listing.is_complete:
        notes.append(f"[Only the first {len(listing.files):,} files of the project are covered.]")
    return notes


def _entries(names: list[str]) -> list[str]:
    """The direct entries of a folder: folders first, each with the number of files below it."""
    folders = Counter(name.partition("/")[0] for name in names if "/" in name)
    counted = [f"{name}/ ({count:,} {'file' if count == 1 else 'files'})" for name, count in sorted(folders.items())]
    return counted + sorted(name for name in names if "/" not in name)
