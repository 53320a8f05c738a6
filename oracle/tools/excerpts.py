"""Some lines of a file below a root, around a place, for people; the tools' own results are for the model."""

from dataclasses import dataclass

from oracle.tools.errors import ToolError
from oracle.tools.paths import Root
from oracle.tools.text import MAX_READ_BYTES, decode, that_fit


@dataclass(frozen=True, slots=True)
class Around:
    """The lines that are wanted.

    Args:
        line: the number of the middle line, from 1; `None` means the beginning of the file.
        before: the number of lines shown before `line`.
        after: the number of lines shown after `line`.
    """

    line: int | None = None
    before: int = 20
    after: int = 60


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file, as many as fit into two results of a tool; long ones are cut.

    Args:
        first_line: the number of the first one, from 1.
        lines: without line ends; none of an empty file.
        total_lines: the number of lines in the whole file.
        is_exact: the file is valid in its encoding; otherwise wrong bytes are U+FFFD.
        is_whole: the whole file was read; otherwise its first 16 MB.
    """

    first_line: int
    lines: tuple[str, ...]
    total_lines: int
    is_exact: bool
    is_whole: bool


def read_excerpt(root: Root, path: str, around: Around) -> Excerpt:
    """The lines around a place; where the file has become shorter, its last ones.

    Raises:
        ToolError: there is no such file, or it cannot be read or is no text.
    """
    try:
        data, size = root.read(path, max_bytes=MAX_READ_BYTES)
    except (FileNotFoundError, IsADirectoryError):
        raise ToolError(f"there is no file {path!r} in {root.label}.") from None
    decoded = decode(data, path=path)
    lines = decoded.lines
    at = min(max(around.line or 1, 1), max(len(lines), 1)) - 1
    begin = max(at - around.before, 0)
    # Each half has the room of one result, so that long lines before the place never push it out.
    before = that_fit(lines[begin:at][::-1])[::-1]
    shown = (*before, *that_fit(lines[at : at + 1 + around.after]))
    return Excerpt(
        first_line=at - len(before) + 1,
        lines=shown,
        total_lines=len(lines),
        is_exact=decoded.is_exact,
        is_whole=size <= len(data),
    )
