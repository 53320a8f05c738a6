"""The tools over a project's source code: search, read, list. None of them writes.

Search results begin each hit with `path:line (score 3.20)`, followed by numbered lines; hits are separated by blank
lines, and notes in square brackets stand at the end.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

from bt_runtime.text import near
from oracle.chunks import Source
from oracle.tools.code_extract import extract_range
from oracle.tools.code_files import Listing, ProjectFile, is_listed, is_private, list_project, private_below
from oracle.tools.code_query import parse_query
from oracle.tools.code_scan import MAX_FILE_BYTES, Scan, find_ripgrep, scan
from oracle.tools.code_search import Hit, best_lines, rank_files, rarities
from oracle.tools.errors import ToolError
from oracle.tools.glob import matcher
from oracle.tools.languages import extension, extensions_of
from oracle.tools.paths import Root
from oracle.tools.protocol import Tool, ToolResult
from oracle.tools.reading import Range, read_range
from oracle.tools.schema import tool
from oracle.tools.secret_files import is_secret
from oracle.tools.suggest import did_you_mean, near_paths
from oracle.tools.text import READ_CHARS, cut_line, decode, numbered, shorten
from oracle.tools.workers import Workers, check_cancelled

MAX_HITS = 50
MAX_ENTRIES = 500
_SEARCH_TIMEOUT_S = 10.0
_CONTEXT_CHARS = 240


def project_tools(root: Path, *, use_ripgrep: bool = True, private: Sequence[Path] = ()) -> tuple[Tool, ...]:
    """The tools over a project.

    Args:
        root: its folder.
        use_ripgrep: where it is installed; the results are the same without, only later.
        private: files and folders that are not shown if they lie in the project: the service's own data.

    Raises:
        ToolSetupError: the folder is missing or cannot be read.
    """
    folder = Root(root, label="the project")
    folder.require(setting="--project or ORACLE_PROJECT_DIR")
    code = CodeTools(
        folder, ripgrep=find_ripgrep(folder.path) if use_ripgrep else None, private=private_below(folder.path, private)
    )
    workers = Workers()
    return (
        tool(
            group="code",
            when_to_use="First for any question about the source code: finds definitions, usages and files by words.",
            workers=workers,
        )(code.search_code),
        tool(
            group="code",
            when_to_use="To see a file, or the lines around a search hit, when the hit itself does not answer.",
            workers=workers,
        )(code.read_file),
        tool(
            group="code",
            when_to_use="To see how the project is laid out, or to find files by name.",
            workers=workers,
        )(code.list_files),
    )


class CodeTools:
    """The functions behind the tools.

    Args:
        root: the project.
        ripgrep: the program that makes searching faster, if there is one.
        search_timeout_s: after that long a search answers with what it has found.
        clock: seconds, monotonic.
        private: paths below the project that are not shown (`is_private`).
    """

    def __init__(
        self,
        root: Root,
        *,
        ripgrep: str | None,
        search_timeout_s: float = _SEARCH_TIMEOUT_S,
        clock: Callable[[], float] = time.monotonic,
        private: Sequence[str] = (),
    ) -> None:
        self._root = root
        self._private = private
        self._clock = clock
        self._ripgrep = ripgrep
        self._search_timeout_s = search_timeout_s

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
        deadline = self._clock() + self._search_timeout_s
        listing = self._listing()
        files: tuple[ProjectFile, ...] = listing.files
        if language is not None and language.strip():
            extensions = extensions_of(language)
            files = tuple(file for file in files if extension(file.path) in extensions)
        parsed = parse_query(query)
        found = scan(self._root.path, files, parsed, deadline=deadline, ripgrep=self._ripgrep, clock=self._clock)
        rarity = rarities(found.matches, parsed, files=len(files))
        mean_bytes = sum(min(file.size, MAX_FILE_BYTES) for file in files) / max(len(files), 1)
        hits: list[tuple[Hit, list[str]]] = []
        for ranked in rank_files(found.matches, parsed, rarity=rarity, mean_bytes=mean_bytes):
            check_cancelled()
            lines = self._lines(ranked.file.path) if not hits or self._clock() < deadline else None
            if lines:
                hits += [(hit, lines) for hit in best_lines(ranked, lines, parsed, rarity=rarity)]
        hits.sort(key=lambda item: (-item[0].score, item[0].path, item[0].line))
        return _search_result(query, hits[:limit], notes=_search_notes(listing, found, len(files)))

    def read_file(
        self,
        path: Annotated[str, "The file, relative to the project; 'path:line' begins there."],
        start_line: Annotated[int | None, "The first line, from 1."] = None,
        end_line: Annotated[int | None, "The last line."] = None,
    ) -> ToolResult:
        """Read a file of the project, whole or some lines. Returns the lines with their numbers."""
        wanted = Range.parse(path, start_line=start_line, end_line=end_line, exists=self._is_file)
        plain = self._root.relative(wanted.path)
        real = self._root.resolve(plain).relative_to(self._root.path).as_posix()
        if is_secret(plain) or is_secret(real):  # a link inside the project may point at one
            raise ToolError(f"{plain!r} is not shown: by its name it holds credentials or belongs to version control.")
        if is_private(plain, self._private) or is_private(real, self._private):
            raise ToolError(f"{plain!r} is not shown: it is no part of the project, but data of this service.")
        if self._is_file(plain) and not is_listed(self._root.path, real, private=self._private):
            raise ToolError(
                f"{plain!r} is not shown: git ignores it, or it lies in a hidden or generated folder. "
                "list_files shows what can be read."
            )
        return read_range(
            self._root,
            wanted,
            source_type="code",
            call="read_file",
            missing=lambda: self._missing(plain),
            folder_advice=f"list it with list_files(path={plain!r})",
        )

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
        return list_project(self._root.path, private=self._private, clock=self._clock)

    def _lines(self, path: str) -> list[str] | None:
        try:
            data, _ = self._root.read(path, max_bytes=MAX_FILE_BYTES)
            return decode(data, path=path).lines
        except (OSError, ToolError):  # gone or changed since it was listed
            return None

    def _is_file(self, path: str) -> bool:
        try:
            return self._root.resolve(path).is_file()
        except (ToolError, OSError):
            return False

    def _missing(self, path: str) -> str:
        found = near_paths(path, [file.path for file in self._listing().files])
        return f"there is no file {shorten(path)!r} in the project.{did_you_mean(found)}"

    def _folders(self) -> list[str]:
        files = self._listing().files
        return sorted({parent for file in files for parent in _parents(file.path)})


def _search_result(query: str, hits: list[tuple[Hit, list[str]]], *, notes: list[str]) -> ToolResult:
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
        context = [cut_line(line, limit=_CONTEXT_CHARS) for line in lines[start:end]]
        shown = numbered(context, first=start + 1, marked=hit.line)
        block = "\n".join([f"{hit.path}:{hit.line} (score {hit.score:.2f})", *shown])
        chars += len(block) + 2
        if blocks and chars > READ_CHARS:
            notes = [*notes, f"[{len(hits) - len(blocks)} more places are left out; ask with a smaller limit.]"]
            break
        blocks.append(block)
        sources.append(Source(hit.path, "code", hit.line, shorten(hit.text), round(hit.score, 2)))
    return ToolResult("\n\n".join([*blocks, *notes]), sources=tuple(sources))


def _search_notes(listing: Listing, found: Scan, files: int) -> list[str]:
    notes = _listing_notes(listing)
    if not found.is_complete:
        notes.append(f"[The time was up after {found.searched:,} of {files:,} files; narrow by language.]")
    return notes


def _listing_notes(listing: Listing) -> list[str]:
    return [] if listing.is_complete else [f"[Only the first {len(listing.files):,} files of the project are covered.]"]


def _entries(names: list[str]) -> list[str]:
    """The direct entries of a folder: folders first, each with the number of files below it."""
    folders: dict[str, int] = {}
    files = []
    for name in names:
        folder, slash, _ = name.partition("/")
        if slash:
            folders[folder] = folders.get(folder, 0) + 1
        else:
            files.append(name)
    counted = [f"{name}/ ({count:,} {'file' if count == 1 else 'files'})" for name, count in sorted(folders.items())]
    return counted + sorted(files)


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for length in range(1, len(parts) + 1):
        yield "/".join(parts[:length])
