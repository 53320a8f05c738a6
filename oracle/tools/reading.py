"""Reads a range of lines of a file below a root, for `read_file` and `vault_read`."""

import re
from collections.abc import Callable
from typing import NamedTuple

from oracle.core.chunks import Source, SourceType
from oracle.tools.errors import ToolError
from oracle.tools.paths import Root
from oracle.tools.protocol import ToolResult
from oracle.tools.text import MAX_READ_BYTES, decode, numbered, shorten, that_fit

_PLACE = re.compile(r"^(?P<path>.+?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?(?::\d+)?$")


class Range(NamedTuple):
    """A file and a range of its lines from 1; `None` means its beginning or end."""

    path: str
    start_line: int | None = None
    end_line: int | None = None


def range_of(
    path: str, *, start_line: int | None = None, end_line: int | None = None, exists: Callable[[str], bool]
) -> Range:
    """Read `path:12` and `path:12-40`, as in search results; a line given as an argument takes precedence.

    Args:
        path: the path that the model sent; used in errors.
        start_line: the argument, if any.
        end_line: the argument, if any.
        exists: whether a file of exactly that name exists, which is then used.
    """
    found = _PLACE.match(path)
    if found is None or exists(path):
        return Range(path, start_line, end_line)
    if start_line is None and end_line is None:
        return Range(found["path"], int(found["start"]), int(found["end"]) if found["end"] else None)
    return Range(found["path"], start_line, end_line)


def read_range(
    root: Root,
    wanted: Range,
    *,
    source_type: SourceType,
    continuation: Callable[[str, int], str],
    missing: Callable[[], str],
    folder_advice: str,
) -> ToolResult:
    """Render the lines for the model, as many as fit into one result, with the file as a source.

    Args:
        root: the root of the file.
        wanted: the file and the range of lines; a start below 1 means 1.
        source_type: `code`, `vault` or `thread`: the kind of source that is cited.
        continuation: gives the call that continues with a line of a path, for the note on what is missing.
        missing: the text for a file that does not exist, with suggestions.
        folder_advice: what to do instead for a folder.

    Raises:
        ToolError: it cannot be read or is not text, or the range is empty or begins after the end.
    """
    path = root.relative(wanted.path)
    try:
        data, size = root.read(path, max_bytes=MAX_READ_BYTES)
    except FileNotFoundError:
        raise ToolError(missing()) from None
    except IsADirectoryError:
        raise ToolError(f"{shorten(path)!r} is a folder; {folder_advice}.") from None
    decoded = decode(data, path=path)
    lines, start, end = decoded.lines, max(wanted.start_line or 1, 1), wanted.end_line
    if end is not None and end < start:
        raise ToolError(f"end_line {end} is before start_line {start}; give a range such as 10 to 40.")
    if not lines:
        return ToolResult(f"{path} is empty.", sources=(Source(path, source_type, 1),))
    if start > len(lines):
        raise ToolError(f"start_line {start} is behind the end: {path!r} has {len(lines):,} lines.")
    asked = lines[start - 1 : end]
    shown = that_fit(asked)
    last = start + len(shown) - 1
    parts = [f"{path}, lines {start}-{last} of {len(lines)}"]
    if not decoded.is_exact:
        parts.append("[Not valid UTF-8: wrong bytes are shown as \ufffd.]")
    parts += numbered(enumerate(shown, start=start))
    if len(shown) < len(asked):
        missed = f"Lines {last + 1}-{start + len(asked) - 1} are not shown"
        parts.append(f"[{missed}; go on with {continuation(path, last + 1)}.]")
    if size > len(data):
        parts.append(f"[The file has {size:,} bytes; only the first {MAX_READ_BYTES:,} can be read.]")
    source = Source(path, source_type, start, shorten(lines[start - 1]) or None)
    return ToolResult("\n".join(parts), sources=(source,))
