"""Reads a range of lines of a file below a root, for `read_file` and `vault_read`."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from oracle.chunks import Source, SourceType
from oracle.tools.errors import ToolError
from oracle.tools.paths import Root
from oracle.tools.protocol import ToolResult
from oracle.tools.text import decode, page, shorten

MAX_READ_BYTES = 16_000_000
_PLACE = re.compile(r"^(?P<path>.+?):(?P<start>\d{1,9})(?:-(?P<end>\d{1,9}))?(?::\d+)?$")


@dataclass(frozen=True, slots=True)
class Range:
    """A file and a range of its lines; `None` means its beginning or end."""

    path: str
    start_line: int | None = None
    end_line: int | None = None

    @classmethod
    def parse(
        cls, path: str, *, start_line: int | None = None, end_line: int | None = None, exists: Callable[[str], bool]
    ) -> "Range":
        """Read `path:12` and `path:12-40`, as in search results; a line given as an argument takes precedence.

        Args:
            path: as written by the model.
            start_line: the argument, if any.
            end_line: the argument, if any.
            exists: whether a file of exactly that name exists, which is then used.
        """
        found = _PLACE.match(path)
        if found is None or exists(path):
            return cls(path, start_line, end_line)
        if start_line is None and end_line is None:
            return cls(found["path"], int(found["start"]), int(found["end"]) if found["end"] else None)
        return cls(found["path"], start_line, end_line)


def read_range(
    root: Root,
    wanted: Range,
    *,
    source_type: SourceType,
    call: str,
    missing: Callable[[], str],
    folder_advice: str,
) -> ToolResult:
    """Render the lines for the model, with the file as a source.

    Args:
        root: the root of the file.
        wanted: the file and the range of lines.
        source_type: of the source.
        call: the tool's name, for the note on how to continue.
        missing: the text for a file that does not exist, with suggestions.
        folder_advice: what to do instead for a folder.

    Raises:
        ToolError: it cannot be read or is not text.
    """
    path = root.relative(wanted.path)
    try:
        data, size = root.read(path, max_bytes=MAX_READ_BYTES)
    except FileNotFoundError:
        raise ToolError(missing()) from None
    except IsADirectoryError:
        raise ToolError(f"{shorten(path)!r} is a folder; {folder_advice}.") from None
    decoded = decode(data, path=path)

    def continuation(line: int) -> str:
        return f"{call}(path={path!r}, start_line={line})" if call == "read_file" else f"{call}(path='{path}:{line}')"

    shown = page(decoded, path=path, start_line=wanted.start_line, end_line=wanted.end_line, continuation=continuation)
    text = shown.text
    if size > len(data):
        text += f"\n[The file has {size:,} bytes; only the first {MAX_READ_BYTES:,} can be read.]"
    lines = decoded.lines
    snippet = shorten(lines[shown.first_line - 1]) if lines else None
    return ToolResult(text, sources=(Source(path, source_type, shown.first_line, snippet or None),))
