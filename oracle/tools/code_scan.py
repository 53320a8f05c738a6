"""How often the words of a query stand in the files of a project.

Where ripgrep is installed it tells which files can match at all, and only those are read: the figures are the same with
and without it, only sooner with it.
"""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from oracle.tools.code_files import ProjectFile
from oracle.tools.code_query import Mention, Query, Term, lower, occurrences
from oracle.tools.text import is_binary
from oracle.tools.workers import check_cancelled

MAX_FILE_BYTES = 1_000_000
_MAX_COUNTED = 50
"""Occurrences of one term counted in one file; the ranking saturates long before."""
_FOLDER_SHARE = 0.4
_HEAD_CHARS = 600
_NO_HEAD = re.compile(r"^[ \t]*(?:import|from|#include|using|use|require|package)\b[^\n]*", re.MULTILINE)
_LEAST_MENTION = 0.5
"""Of a path's parts, from its end; with only the name in common it is likelier another file of that name."""
_FILES_PER_COMMAND = 1_000
_RIPGREP_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class FileCounts:
    """A file that matches.

    Args:
        file: which.
        by_term: for each term of the query, the sum of how well its occurrences fit.
        in_path: for each term how well its path has it: fully in the file's name, less in a folder's.
        in_head: for each term how well the beginning of the file has it, where a file says what it is about.
        mentioned: from 0 to 1, how surely the query names this file; `mentioned_line`, where it names a line of it.
        has_phrase: the literal query, or all pieces of an alternative, stand in it.
    """

    file: ProjectFile
    by_term: tuple[float, ...]
    in_path: tuple[float, ...]
    in_head: tuple[float, ...]
    has_phrase: bool
    mentioned: float = 0.0
    mentioned_line: int | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """What was found, and whether all files were looked at before the time was up."""

    matches: tuple[FileCounts, ...]
    searched: int
    is_complete: bool


def scan(
    root: Path,
    files: Sequence[ProjectFile],
    query: Query,
    *,
    deadline: float,
    ripgrep: str | None,
    clock: Callable[[], float] = time.monotonic,
) -> Scan:
    """Count the query's terms in files.

    Args:
        root: of the project.
        files: below it; those above `MAX_FILE_BYTES` and binary ones are passed over.
        query: what to count.
        deadline: when, by the clock, the rest is left out.
        ripgrep: the program, or `None` to read all files.
        clock: seconds, monotonic.
    """
    small = [file for file in files if file.size <= MAX_FILE_BYTES]
    if not query.needles and not query.mentions:
        return Scan((), len(small), is_complete=True)
    candidates = _with_ripgrep(root, small, query, ripgrep) if ripgrep else None
    matches: list[FileCounts] = []
    for index, file in enumerate(small):
        check_cancelled()
        if clock() > deadline:
            return Scan(tuple(matches), index, is_complete=False)
        in_path = _path_fits(file.path, query.terms)
        mentioned, line = _mentioned(file.path, query.mentions)
        if candidates is None or file.path in candidates or mentioned or any(in_path):
            counts = _count(root, file, query, in_path)
            if mentioned:
                counts = counts or _nothing_in(file, query, in_path)
                counts = replace(counts, mentioned=mentioned, mentioned_line=line)
            if counts is not None:
                matches.append(counts)
    return Scan(tuple(matches), len(small), is_complete=True)


def find_ripgrep(project: Path) -> str | None:
    """The ripgrep program, if it is installed. One inside the project, or found by a relative path, is not used.

    Args:
        project: its folder.
    """
    found = shutil.which("rg")
    if found is None or not Path(found).is_absolute():
        return None
    return None if Path(found).resolve().is_relative_to(project.resolve()) else found


def phrase_at(lowered: str, phrase: Sequence[str]) -> int:
    """Where the pieces of a phrase stand in this order in one line, -1 if nowhere."""
    at = lowered.find(phrase[0])
    while at >= 0:
        line_end = lowered.find("\n", at)
        line_end = len(lowered) if line_end < 0 else line_end
        position = at + len(phrase[0])
        for piece in phrase[1:]:
            position = lowered.find(piece, position, line_end)
            if position < 0:
                break
            position += len(piece)
        else:
            return at
        at = lowered.find(phrase[0], line_end)
    return -1


def _path_fits(path: str, terms: Sequence[Term]) -> tuple[float, ...]:
    folders, _, last = path.rpartition("/")
    name, folder, lowered = lower(last.partition(".")[0] or last), lower(folders), path.lower()
    fits = []
    for term in terms:
        if term.stem not in lowered:
            fits.append(0.0)
            continue
        in_name = max((fit for _, fit in occurrences(*name, term)), default=0.0)
        in_folder = max((fit for _, fit in occurrences(*folder, term)), default=0.0)
        fits.append(max(in_name, _FOLDER_SHARE * in_folder))
    return tuple(fits)


def _mentioned(path: str, mentions: Sequence[Mention]) -> tuple[float, int | None]:
    """How surely a file is meant, a little less for each mention that stands before its own; and the line."""
    best, line = 0.0, None
    for index, mention in enumerate(mentions):
        fit = mention.fit(path)
        if fit > _LEAST_MENTION and (fit := fit * (1 - 0.02 * index)) > best:
            best, line = fit, mention.line
    return best, line


def _nothing_in(file: ProjectFile, query: Query, in_path: tuple[float, ...]) -> FileCounts:
    nothing = (0.0,) * len(query.terms)
    return FileCounts(file, nothing, in_path, nothing, has_phrase=False)


def _count(root: Path, file: ProjectFile, query: Query, in_path: tuple[float, ...]) -> FileCounts | None:
    text = _read(root / file.path)
    if text is None:
        return None
    original, lowered = lower(text)
    by_term = tuple(
        sum(fit for _, fit in islice(occurrences(original, lowered, term), _MAX_COUNTED))
        if term.stem in lowered
        else 0.0
        for term in query.terms
    )
    head, lowered_head = lower(_head(original)) if any(by_term) else ("", "")
    in_head = tuple(
        max((fit for _, fit in occurrences(head, lowered_head, term)), default=0.0) if count else 0.0
        for term, count in zip(query.terms, by_term, strict=True)
    )
    has_phrase = any(phrase_at(lowered, phrase) >= 0 for phrase in query.phrases)
    return (
        FileCounts(file, by_term, in_path, in_head, has_phrase) if has_phrase or any(by_term) or any(in_path) else None
    )


def _head(text: str) -> str:
    """The first lines of a file without its imports, which tell of others."""
    return _NO_HEAD.sub("", text[:_HEAD_CHARS])


def _read(path: Path) -> str | None:
    """The text for counting only; what is shown is read through the root."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            data = file.read(MAX_FILE_BYTES)
    except OSError:
        return None
    # Decoding so leaves no lone surrogates; without NUL the text is clean.
    return None if is_binary(data) else data.decode("utf-8", "replace").replace("\0", "\ufffd")


def _with_ripgrep(root: Path, files: Sequence[ProjectFile], query: Query, ripgrep: str) -> set[str] | None:
    """The files that have a needle of the query; `None` if ripgrep failed."""
    command = [ripgrep, "--no-config", "--files-with-matches", "--null", "--fixed-strings", "--ignore-case"]
    command += ["--no-ignore", "--no-messages", "--text", "--threads", "2"]
    for needle in query.needles:
        command += ["-e", needle]
    found: set[str] = set()
    for names in _batches(files):
        check_cancelled()
        try:
            done = subprocess.run(  # noqa: S603 - no shell; names cannot be options behind `--`
                [*command, "--", *names],
                cwd=root,
                env={},  # it needs none, and none of ours is its business
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_RIPGREP_TIMEOUT_S,  # reading everything instead is bounded by the deadline
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        if done.returncode not in {0, 1} and not done.stdout:  # 2 with output: some file was not readable
            return None
        found.update(os.fsdecode(name) for name in done.stdout.split(b"\x00") if name)
    return found


def _batches(files: Sequence[ProjectFile]) -> Iterator[list[str]]:
    for start in range(0, len(files), _FILES_PER_COMMAND):
        yield [file.path for file in files[start : start + _FILES_PER_COMMAND]]
