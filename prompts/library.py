"""Reads prompt files into a library, once; everything after that is pure.

An operator's folder overrides the package's files one by one: a file replaces the package's file of the same name, a
file of another name adds a segment, and all other files come from the package.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from bt_runtime.text import Mistake, estimate_tokens

from .errors import PromptError, PromptFilesError, whole_file
from .segment import MAX_PROMPT_TOKENS, QUERY_TYPES, REQUIRED_IDS, Segment, SegmentLibrary
from .segment_file import MAX_FILE_BYTES, read_segment

_SUFFIX: Final = ".md"
_SUBFOLDER: Final = "oracle"
_MAX_FILES: Final = 200


def load_segments(
    folder: Path | None = None,
    *,
    further: Sequence[Path] = (),
    query_types: tuple[str, ...] = QUERY_TYPES,
    max_tokens: int = MAX_PROMPT_TOKENS,
) -> SegmentLibrary:
    """Load the segments.

    Args:
        folder: the operator's folder; its `*.md` files, or those of its subfolder `oracle` if that exists, override the
            package's. `None`: the package's files alone.
        further: folders of other packages, which the operator's folder overrides as well.
        query_types: those of the domain. With others than `QUERY_TYPES` the package's segments about types of queries
            are left out.
        max_tokens: the bound that the required segments, with no tool offered, must not exceed.

    Raises:
        PromptFilesError: the folder or files in it cannot be used; all mistakes at once.
        PromptError: the required segments alone exceed `max_tokens`.
    """
    found = _prompt_files(files(__package__) / _SUBFOLDER)
    if query_types != QUERY_TYPES:
        about_types = {each.source for each in own_segments() if each.when is not None and each.when.query_types}
        found = {name: file for name, file in found.items() if str(file) not in about_types}
    for each in (*further, *(() if folder is None else (folder,))):
        found = found | _prompt_files(_files_in(each))
    sources = {str(file): _read_file(file) for _, file in sorted(found.items())}
    segments, mistakes = _read_all(sources, query_types)
    mistakes += _cross_checks(segments, is_complete=not mistakes)
    if mistakes:
        texts = {name: data.decode(errors="replace") for name, data in sources.items() if isinstance(data, bytes)}
        raise PromptFilesError(mistakes, texts)
    library = SegmentLibrary(tuple(segments), query_types)
    _check_size(library, max_tokens)
    return library


@cache
def own_segments() -> SegmentLibrary:
    """The package's own segments; read once, immutable."""
    return load_segments()


def _files_in(folder: Path) -> Path:
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        hint = "name a folder with prompt files, or leave the setting empty for the built-in ones"
        raise PromptFilesError([whole_file(folder, f"the prompts folder {what}", hint)])
    inner = folder / _SUBFOLDER
    if not inner.is_dir():
        return folder
    beside = sorted(path.name for path in folder.glob(f"*{_SUFFIX}") if not path.name.startswith("."))
    if beside:
        message = f"prompt files lie both here ({', '.join(beside[:5])}) and in the subfolder {_SUBFOLDER!r}"
        raise PromptFilesError([whole_file(folder, message, "keep them in one of the two")])
    return inner


def _prompt_files(folder: Traversable) -> dict[str, Traversable]:
    """The prompt files of a folder by name; files that begin with a dot belong to an editor or the system."""
    try:
        found = {
            entry.name: entry
            for entry in sorted(folder.iterdir(), key=lambda each: each.name)
            if entry.name.endswith(_SUFFIX) and not entry.name.startswith(".")
        }
    except OSError as error:
        raise PromptFilesError([whole_file(folder, f"the folder cannot be read: {error.strerror}")]) from None
    if len(found) > _MAX_FILES:
        message = f"the folder has {len(found):,} prompt files, at most {_MAX_FILES} are allowed"
        raise PromptFilesError([whole_file(folder, message)])
    return found


def _read_all(
    sources: Mapping[str, bytes | Mistake], query_types: tuple[str, ...]
) -> tuple[list[Segment], list[Mistake]]:
    segments: list[Segment] = []
    mistakes: list[Mistake] = []
    for file, data in sources.items():
        result = (data,) if isinstance(data, Mistake) else read_segment(data, file=file, query_types=query_types)
        if isinstance(result, Segment):
            segments.append(result)
        else:
            mistakes += result
    return segments, mistakes


def _read_file(file: Traversable) -> bytes | Mistake:
    if not file.is_file():  # a folder, or a pipe that would block the start
        return whole_file(file, "this is not a regular file")
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        return whole_file(file, f"the file cannot be read: {error.strerror}")


def _cross_checks(segments: list[Segment], *, is_complete: bool) -> list[Mistake]:
    """Report duplicate ids, and required ids that no file has.

    Args:
        segments: the segments that could be read.
        is_complete: every file could be read; otherwise a missing id may be that of an unreadable one.
    """
    mistakes: list[Mistake] = []
    first: dict[str, str] = {}
    for segment in segments:
        if segment.id in first:
            message = f"the id {segment.id!r} is also that of {first[segment.id]}"
            hint = f"to override a built-in segment, give the file its name: {segment.id}{_SUFFIX}"
            mistakes.append(whole_file(segment.source, message, hint))
        first.setdefault(segment.id, segment.source)
    for each in REQUIRED_IDS:
        if each not in first and is_complete:
            hint = f"{each}{_SUFFIX} must keep the id {each!r}"
            mistakes.append(whole_file(f"{each}{_SUFFIX}", f"no file has the required id {each!r}", hint))
    return mistakes


def _check_size(library: SegmentLibrary, max_tokens: int) -> None:
    sizes = {each.id: estimate_tokens(len(each.without_tools or each.text)) for each in library if each.required}
    if sum(sizes.values()) > max_tokens:
        listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        raise PromptError(
            f"the required segments need {sum(sizes.values()):,} tokens, over the limit of {max_tokens:,} ({listed})"
        )
