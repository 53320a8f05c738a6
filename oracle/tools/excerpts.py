"""Some lines of a file below a root, around a place, for people; the tools' own results are for the model."""

from oracle.tools.errors import ToolError
from oracle.tools.paths import Root
from oracle.tools.protocol import Around, Excerpt
from oracle.tools.text import MAX_READ_BYTES, decode, that_fit


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
