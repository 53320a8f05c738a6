"""The tools over a project's source code: search, read, list. None of them writes.

In search results each hit is `path:line (score 3.20)` followed by numbered lines. Blank lines separate the hits, and
notes in square brackets follow the last one.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Annotated

from bt_runtime.text import near
from oracle.core.chunks import Source
from oracle.core.search.index import FileIndex, FileReading
from oracle.core.search.query import TermMatcher
from oracle.tools.code_extract import extract_range
from oracle.tools.code_files import Listing, ProjectFile, is_listed, is_private, list_project, private_below
from oracle.tools.code_query import CodeQuery, parse_query
from oracle.tools.code_search import (
    FIELD_WEIGHTS,
    READ_FILES,
    CodeHit,
    RankedFile,
    best_lines,
    code_reading,
    has_phrase,
    rank_files,
)
from oracle.tools.errors import ToolError
from oracle.tools.excerpts import Around, Excerpt, read_excerpt
from oracle.tools.files import read_regular
from oracle.tools.globs import matcher
from oracle.tools.languages import extension, extensions_of
from oracle.tools.paths import Root
from oracle.tools.protocol import Tool, ToolResult
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
from oracle.tools.workers import Workers, check_cancelled

MAX_FILE_BYTES = 1_000_000
"""Larger files are not searched."""
_SEARCH_TIMEOUT_S = 10.0


def project_tools(root: Path, *, private: Sequence[Path] = ()) -> tuple[Tool, ...]:
    """The tools over a project; `private` files and folders, such as the service's own data, are not shown.

    Raises:
        ToolSetupError: the project's folder is missing or cannot be read.
    """
    folder = Root(root, label="the project")
    folder.require(setting="--project or ORACLE_PROJECT_DIR")
    code = CodeTools(folder, private=private_below(folder.path, private))
    workers = Workers()
    uses: dict[Function, str] = {
        code.search_code: "First for any question about the source code: finds definitions, usages and files by words.",
        code.read_file: "To see a file, or the lines around a search hit, when the hit itself does not answer.",
        code.list_files: "To see how the project is laid out, or to find files by name.",
    }
    made = [tool(group="code", when_to_use=use, workers=workers)(function) for function, use in uses.items()]
    return tuple(with_excerpts(each, code.excerpt, workers) if each.name == "read_file" else each for each in made)


class CodeTools:
    """The functions behind the tools.

    Args:
        root: the project.
        search_timeout_s: the time after which a search returns what it has found so far.
        private: paths below the project that are not shown (`is_private`).
    """

    def __init__(
        self,
        root: Root,
        *,
        search_timeout_s: float = _SEARCH_TIMEOUT_S,
        private: Sequence[str] = (),
    ) -> None:
        self._root = root
        self._private = private
        self._search_timeout_s = search_timeout_s
        self._index = FileIndex(FIELD_WEIGHTS, read=self._reading)

    def search_code(
        self,
        query: Annotated[str, "Identifiers, an exact piece of code, or a question in plain words."],
        limit: Annotated[int, f"How many places to return, 1 to {MAX_HITS}."] = 5,
        language: Annotated[str | None, "Only files of this language, such as 'python' or 'ts'."] = None,
    ) -> ToolResult:
        """Search the project's source code. Returns the best places as path:line with the lines around."""
        limit = min(max(limit, 1), MAX_HITS)
        if not query.strip():
            raise ToolError("query is empty; give identifiers, a piece of code, or a question in plain words.")
        deadline = time.monotonic() + self._search_timeout_s
        listing = self._listing()
        files = [file for file in listing.files if file.size <= MAX_FILE_BYTES]
        paths = _of_language(files, language)
        parsed = parse_query(query)
        with self._index.locked():
            current = self._index.update(files, has_time=lambda: time.monotonic() <= deadline)
            found = self._index.rank(parsed.terms, only=paths.__contains__ if len(paths) < len(files) else None)
        ranked = rank_files(found, parsed, paths=paths) or islice(
            self._with_phrase(parsed, paths, deadline), READ_FILES
        )
        hits: list[tuple[CodeHit, list[str]]] = []
        matcher = TermMatcher(parsed.terms)
        for file in ranked:
            check_cancelled()
            decoded = self._decoded(file.path) if not hits or time.monotonic() < deadline else None
            if decoded is not None:
                hits += [(hit, decoded.lines) for hit in best_lines(file, decoded, parsed, found, matcher)]
        hits.sort(key=lambda item: (-item[0].score, item[0].path, item[0].line))
        return _search_result(
            query, hits[:limit], notes=_search_notes(listing, current, len(files), is_full=self._index.is_full)
        )

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

    def _with_phrase(self, query: CodeQuery, paths: Iterable[str], deadline: float) -> Iterator[RankedFile]:
        """Files that contain the query literally, for queries without indexed words: `=>`, or a part of a word."""
        for path in paths if query.phrases else ():
            check_cancelled()
            decoded = self._decoded(path) if time.monotonic() <= deadline else None
            if decoded is not None and has_phrase(decoded.text, query):
                yield RankedFile(path, 0.0)

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


def _search_result(query: str, hits: list[tuple[CodeHit, list[str]]], *, notes: list[str]) -> ToolResult:
    if not hits:
        advice = (
            f"Nothing in the code matches {shorten(query, limit=120)!r}. "
            "Try other words or fewer of them, an identifier, no language, or list_files to see what there is."
        )
        return ToolResult("\n".join([advice, *notes]), is_empty=True)
    blocks: list[str] = []
    sources: list[Source] = []
    chars = 0
    for hit, lines in hits:
        start, end = extract_range(lines, hit.line - 1, path=hit.path)
        context = [cut_line(line, limit=CONTEXT_CHARS) for line in lines[start:end]]
        shown = numbered(context, first=start + 1, marked=hit.line)
        block = "\n".join([f"{hit.path}:{hit.line} (score {hit.score:.2f})", *shown])
        chars += len(block) + 2
        if blocks and chars > READ_CHARS:
            notes = [*notes, f"[{len(hits) - len(blocks)} more places are left out; ask with a smaller limit.]"]
            break
        blocks.append(block)
        sources.append(Source(hit.path, "code", hit.line, shorten(hit.text), round(hit.score, 2)))
    return ToolResult("\n\n".join([*blocks, *notes]), sources=tuple(sources))


def _of_language(files: Iterable[ProjectFile], language: str | None) -> dict[str, None]:
    extensions = extensions_of(language) if language is not None and language.strip() else None
    return dict.fromkeys(file.path for file in files if extensions is None or extension(file.path) in extensions)


def _search_notes(listing: Listing, searched: int, files: int, *, is_full: bool) -> list[str]:
    notes = _listing_notes(listing)
    if searched < files and is_full:
        notes.append(f"[Only {searched:,} of {files:,} files are searched; the project is too large for more.]")
    elif searched < files:
        notes.append(f"[The time was up after {searched:,} of {files:,} files; narrow by language.]")
    return notes


def _listing_notes(listing: Listing) -> list[str]:
    return [] if listing.is_complete else [f"[Only the first {len(listing.files):,} files of the project are covered.]"]


def _entries(names: list[str]) -> list[str]:
    """The direct entries of a folder: folders first, each with the number of files below it."""
    folders = Counter(name.partition("/")[0] for name in names if "/" in name)
    counted = [f"{name}/ ({count:,} {'file' if count == 1 else 'files'})" for name, count in sorted(folders.items())]
    return counted + sorted(name for name in names if "/" not in name)
