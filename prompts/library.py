"""Reads prompt files into a library, once; everything after that is pure.

An operator's folder overrides the package's files one by one: a file there takes the place of the file of the same name
here, a file of another name is one more segment, and what is not there comes from the package (020 FR-014).
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from .errors import PromptFilesError, PromptMistake, PromptSizeError
from .segment import MAX_PROMPT_TOKENS, REQUIRED_IDS, Segment, SegmentLibrary, estimate_tokens
from .segment_file import MAX_FILE_BYTES, read_segment

_SUFFIX: Final = ".md"
_SUBFOLDER: Final = "oracle"
_MAX_FILES: Final = 200


def load_segments(folder: Path | None = None, *, max_tokens: int = MAX_PROMPT_TOKENS) -> SegmentLibrary:
    """Load the segments.

    Args:
        folder: the operator's folder; its `*.md` files, or those of its subfolder `oracle` if that exists, override the
            package's. `None`: the package's files alone.
        max_tokens: the bound that the required segments, with no tool offered, must leave room in.

    Raises:
        PromptFilesError: the folder or files in it cannot be used; all mistakes at once.
        PromptSizeError: the required segments alone exceed `max_tokens`.
    """
    found = _prompt_files(files(__package__) / _SUBFOLDER)
    if folder is not None:
        found = found | _prompt_files(_operators_files(folder))
    segments, mistakes = _read_all(found)
    mistakes += _cross_checks(segments, already_told=bool(mistakes))
    if mistakes:
        raise PromptFilesError(mistakes)
    library = SegmentLibrary(tuple(segments))
    _check_size(library, max_tokens)
    return library


@cache
def own_segments() -> SegmentLibrary:
    """The package's own segments; read once, immutable."""
    return load_segments()


def _operators_files(folder: Path) -> Path:
    if not folder.is_dir():
        what = "is no folder" if folder.exists() else "does not exist"
        hint = "name a folder with prompt files, or leave the setting empty for the built-in ones"
        raise PromptFilesError([PromptMistake(str(folder), f"the prompts folder {what}", hint=hint)])
    inner = folder / _SUBFOLDER
    if not inner.is_dir():
        return folder
    beside = sorted(path.name for path in folder.glob(f"*{_SUFFIX}") if not path.name.startswith("."))
    if beside:
        message = f"prompt files lie both here ({', '.join(beside[:5])}) and in the subfolder {_SUBFOLDER!r}"
        raise PromptFilesError([PromptMistake(str(folder), message, hint="keep them in one of the two")])
    return inner


def _prompt_files(folder: Traversable) -> dict[str, Traversable]:
    """The prompt files of a folder by name; files that begin with a dot are an editor's or the system's."""
    try:
        found = {
            entry.name: entry
            for entry in sorted(folder.iterdir(), key=lambda each: each.name)
            if entry.name.endswith(_SUFFIX) and not entry.name.startswith(".")
        }
    except OSError as error:
        raise PromptFilesError([PromptMistake(str(folder), f"the folder cannot be read: {error.strerror}")]) from None
    if len(found) > _MAX_FILES:
        message = f"the folder has {len(found):,} prompt files, at most {_MAX_FILES} are allowed"
        raise PromptFilesError([PromptMistake(str(folder), message)])
    return found


def _read_all(found: Mapping[str, Traversable]) -> tuple[list[Segment], list[PromptMistake]]:
    segments: list[Segment] = []
    mistakes: list[PromptMistake] = []
    for _, file in sorted(found.items()):
        result = _read_file(file)
        if isinstance(result, Segment):
            segments.append(result)
        else:
            mistakes += result
    return segments, mistakes


def _read_file(file: Traversable) -> Segment | tuple[PromptMistake, ...]:
    if not file.is_file():  # a folder, or a pipe that would block the start
        return (PromptMistake(str(file), "this is no regular file"),)
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        return (PromptMistake(str(file), f"the file cannot be read: {error.strerror}"),)
    return read_segment(data, file=str(file))


def _cross_checks(segments: list[Segment], *, already_told: bool) -> list[PromptMistake]:
    """Ids that are there twice, and required ones that no file has.

    Args:
        segments: the files that could be read.
        already_told: some file could not, so that a missing id may be its.
    """
    mistakes: list[PromptMistake] = []
    first: dict[str, str] = {}
    for segment in segments:
        if segment.id in first:
            message = f"the id {segment.id!r} is also that of {first[segment.id]}"
            hint = f"to override a built-in segment, give the file its name: {segment.id}{_SUFFIX}"
            mistakes.append(PromptMistake(segment.source, message, hint=hint))
        first.setdefault(segment.id, segment.source)
    for each in REQUIRED_IDS:
        if each not in first and not already_told:
            hint = f"{each}{_SUFFIX} must keep the id {each!r}"
            mistakes.append(PromptMistake(f"{each}{_SUFFIX}", f"no file has the required id {each!r}", hint=hint))
    return mistakes


def _check_size(library: SegmentLibrary, max_tokens: int) -> None:
    sizes = {each.id: estimate_tokens(each.without_tools or each.text) for each in library if each.required}
    if sum(sizes.values()) > max_tokens:
        listed = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        raise PromptSizeError(
            f"the required segments need {sum(sizes.values()):,} tokens, over the limit of {max_tokens:,} ({listed})"
        )
