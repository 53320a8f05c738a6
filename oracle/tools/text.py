r"""Prepares text from files for output: decoded, truncated, numbered, without characters that break JSON or storage.

Rules:

- A result can be encoded as UTF-8 and stored in a text column: no lone surrogates, no NUL.
- Lines end at `\n` alone (a `\r` before it is dropped), so that line numbers agree with editors and git.
- Truncated text says so, how much is missing, and how to get the rest.
"""

import codecs
import re
from collections.abc import Collection, Iterable, Sequence

from bt_runtime.text.data import dataclass
from bt_runtime.text.phrases import truncated
from oracle.tools.errors import ToolError

MAX_READ_BYTES = 16_000_000
"""What is read of a file that is shown; the rest of a larger one cannot be seen."""
OUTPUT_CHARS = 32_000
"""The registry's limit of a result: about 8,000 tokens, a sixth of the default token budget."""
KEPT_CHARS = 2_000_000
"""The limit of a result that is kept whole, where something keeps those above `OUTPUT_CHARS`."""
READ_CHARS = 30_000
"""The limit of one page of a file; below `OUTPUT_CHARS`, so that the note on how to continue is never cut off."""
READ_BYTES = 64_000
"""The same in UTF-8 bytes: non-ASCII text costs more tokens per character."""
READ_LINES = 2_000
LINE_CHARS = 1_000
CONTEXT_CHARS = 240
"""The limit of a line in a search result."""
SNIPPET_CHARS = 300
MAX_HITS = 50
"""The limit of the places in a search result."""
FAR_BELOW = 0.4
"""Of a search's best score; what scores less is left out."""
LINES_FOUND_CHARS = 12_000
"""The limit of the lines that a search for all lines shows, with the path of each."""
MAX_ENTRIES = 500
"""The limit of the entries in a list of files."""

_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")
_SNIFFED_BYTES = 8_192
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def clean(text: str) -> str:
    """The text with lone surrogates and NULs replaced by U+FFFD."""
    return _UNSENDABLE.sub("\ufffd", text)


def is_clean(text: str) -> bool:
    """Whether the text contains neither lone surrogates nor NULs."""
    return _UNSENDABLE.search(text) is None


def shorten(text: str, *, limit: int = SNIPPET_CHARS) -> str:
    """The text on one line, cut to `limit` characters with an ellipsis."""
    return truncated(" ".join(text[: limit * 4].split()), limit)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The clean text of a file; `is_exact` unless bytes wrong in their encoding became U+FFFD."""

    text: str
    is_exact: bool

    @property
    def lines(self) -> list[str]:
        """The lines without line ends; a final line end does not begin another line."""
        lines = self.text.split("\n")
        if "\r" in self.text:
            lines = [line.removesuffix("\r") for line in lines]
        if lines[-1] == "":
            lines.pop()
        return lines


def is_binary(data: bytes) -> bool:
    """Whether UTF-8 text with these first bytes counts as binary: a NUL stands among them."""
    return b"\x00" in data[:_SNIFFED_BYTES]


def decode(data: bytes, *, path: str) -> Decoded:
    """Decode a file: UTF-8, or UTF-16 with a byte order mark.

    Raises:
        ToolError: it is binary.
    """
    bom, encoding = next((known for known in _BOMS if data.startswith(known[0])), (b"", "utf-8"))
    if encoding == "utf-8" and is_binary(data):
        raise ToolError(f"{path!r} is a binary file and cannot be shown as text.")
    data = data[len(bom) :]
    try:
        text, is_exact = data.decode(encoding), True
    except UnicodeDecodeError:
        text, is_exact = data.decode(encoding, "replace"), False
    return Decoded(text.replace("\0", "\ufffd"), is_exact)  # no decoder gives lone surrogates


def cut_line(line: str, *, limit: int = LINE_CHARS) -> str:
    """The line, cut to `limit` characters with a note on how many are missing."""
    return line if len(line) <= limit else f"{line[:limit]}… [{len(line) - limit:,} more characters in this line]"


def numbered(lines: Iterable[tuple[int, str]], *, marked: Collection[int] = ()) -> list[str]:
    """Prefix lines with their numbers, which ascend; `marked` has the numbers of the lines to mark."""
    lines = [*lines]
    width = len(str(lines[-1][0])) if lines else 0
    return [f"{'>' if number in marked else ' '} {number:>{width}} | {line}" for number, line in lines]


def bounded(text: str, *, most: int = OUTPUT_CHARS) -> str:
    """The text, clean and of at most that many characters; if it is cut, the last line says so."""
    if len(text) <= most:
        return clean(text)
    note = (
        f"\n[Cut: the first {most:,} of {len(text):,} characters are shown. "
        "For the rest ask for less at a time: a narrower query, a smaller limit, or a range of lines.]"
    )
    return clean(text[: most - len(note)]) + note


def that_fit(lines: Sequence[str]) -> list[str]:
    """The first of the lines, as many as `READ_LINES`, `READ_CHARS` and `READ_BYTES` allow, with long ones cut."""
    shown: list[str] = []
    chars = n_bytes = 0
    for line in lines[:READ_LINES]:
        line_cut = cut_line(line)
        chars += len(line_cut) + 12  # the prefix with the number
        n_bytes += len(line_cut.encode()) + 12
        if shown and (chars > READ_CHARS or n_bytes > READ_BYTES):
            break
        shown.append(line_cut)
    return shown
