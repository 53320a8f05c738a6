"""The type of a file, by its content: pictures, PDF and UTF-8 text are accepted, anything else is refused.

Rules:

- The name of a file and the type that a client states do not count. Nothing is decoded or run: sizes of pictures are
  read from their headers, pages of a PDF are counted in its bytes and in its compressed objects.
- The bounds are those of Claude's API (platform.claude.com, "Vision", "PDF support"): a picture has at most 5 MiB as
  base64 and 8,000 pixels a side, a request 100 pages.
"""

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple

from bt_runtime.text import estimate_tokens
from bt_runtime.text.phrases import clipped
from oracle.core.errors import UserError

LARGEST: Final = 10_000_000
"""Bytes of a file."""
MOST_BYTES: Final = 20_000_000
"""Of all files of a question; a request to the provider has at most 32 MB, in which they are a third larger."""
LARGEST_PICTURE: Final = 3_900_000
"""Bytes; as base64 it is a third more."""
LARGEST_TEXT: Final = 1_000_000
"""Bytes of a text."""
MOST_PIXELS: Final = 8_000
"""On a side of a picture."""
MOST_PAGES: Final = 100
"""Of a PDF."""
PAGE_TOKENS: Final = 2_000
"""About what a page of a PDF takes, as text and picture (1,500 to 3,000 by the provider's page)."""
MOST_PICTURE_TOKENS: Final = 4_784
"""Larger pictures are scaled down by the provider; a token is about 750 pixels."""
TAKEN: Final = "PNG, JPEG, GIF and WebP pictures, PDF, and UTF-8 text are taken"

_WEBP_HEAD: Final = 18  # bytes with the first chunk's name, its length, and the size of the picture
_MOST_SEGMENTS: Final = 100_000  # of a JPEG, with bytes that fill it up
_MOST_INFLATED: Final = 50_000_000  # bytes of a PDF's compressed objects, packed and unpacked, together
_MOST_STREAMS, _LONGEST_STREAM = 2_000, 1_000_000  # of compressed objects, and bytes of one as it stands in the file
_PIECE: Final = 256  # bytes that are unpacked at a time: a fault hides at most a thousand times as many
_MOST_TREES: Final = 1_000  # objects of the tree of pages
_MOST_COUNTED: Final = 100_000  # objects of pages
_OTHERS: Final = (
    (b"PK\x03\x04", "a ZIP archive, or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"BM", "a BMP picture"),
    (b"II*\x00", "a TIFF picture"),
    (b"MM\x00*", "a TIFF picture"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"ID3", "an audio file"),
    (b"OggS", "an audio or video file"),
)
_PAGE = re.compile(rb"/Type\s{0,9}/Page\b(?!s)")
_PAGES = re.compile(rb"/Type\s{0,9}/Pages\b")
_COUNT = re.compile(rb"/Count\s{1,9}(\d{1,9})\b")
_ENCRYPTED = re.compile(rb"/Encrypt\s{0,9}(?:\d{1,9}\s{1,9}\d{1,9}\s{1,9}R\b|<<)")
_OBJECTS = re.compile(rb"/Type\s{0,9}/ObjStm\b")
_STREAM = re.compile(rb"stream\r?\n")
_NEAR = 1_000  # bytes around the type of an object, in which its other entries stand
_CONTROLS = frozenset(range(32)) - frozenset(b"\t\n\r\f\x1b")


class FileError(UserError):
    """A file cannot be attached; the message says what it is and what is taken."""

    loc = ("body", "attachments")


class Kind(NamedTuple):
    """What a file is.

    Args:
        media_type: of its content.
        tokens: about what it takes of a request.
    """

    media_type: str
    tokens: int


def kind_of(data: bytes, name: str) -> Kind:
    """What a file is.

    Raises:
        FileError: its kind is not accepted (415), or it is beyond a bound (422; 413 for its bytes).
    """
    if not data:
        raise FileError(f"{name!r} is empty")
    _bound(name, len(data), LARGEST, "bytes", status=413)
    if (found := _picture(data)) is not None:
        media_type, width, height = found
        _bound(name, len(data), LARGEST_PICTURE, "bytes of a picture", status=413)
        if not width or not height:
            raise FileError(f"{name!r} begins like a picture ({media_type}), but its header has no size")
        _bound(name, max(width, height), MOST_PIXELS, "pixels on a side")
        return Kind(media_type, min(MOST_PICTURE_TOKENS, width * height // 750 + 1))
    if b"%PDF-" in data[:1024]:
        pages = _pages(data, name)
        _bound(name, pages, MOST_PAGES, "pages")
        return Kind("application/pdf", PAGE_TOKENS * pages)
    if problem := _not_text(data):
        what = next((what for magic, what in _OTHERS if data.startswith(magic)), problem)
        what = "a video, or a HEIC or AVIF picture" if data[4:8] == b"ftyp" else what
        raise FileError(f"{name!r} is {what}; {TAKEN}", status=415)
    _bound(name, len(data), LARGEST_TEXT, "bytes of a text", status=413)
    return Kind("text/plain", estimate_tokens(len(data)))


def file_name(given: str) -> str:
    """The name as it is shown to people and to the model: on one line, bounded, without its folders."""
    line = "".join(each if each.isprintable() else " " for each in re.split(r"[\\/]", given)[-1])
    return clipped(" ".join(line.replace("[", "(").replace("]", ")").replace("`", "'").split()), 120) or "file"


def _bound(name: str, reached: int, most: int, of: str, *, status: int = 422) -> None:
    if reached > most:
        raise FileError(f"{name!r} has {reached:,} {of}; at most {most:,} are taken", status=status)


def _picture(data: bytes) -> tuple[str, int, int] | None:
    """The type, width and height of a picture; 0 where its header does not say."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        is_whole = data[12:16] == b"IHDR" and len(data) > 24
        return ("image/png", *((_big(data[16:20]), _big(data[20:24])) if is_whole else (0, 0)))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif", _little(data[6:8]), _little(data[8:10])
    if data.startswith(b"\xff\xd8\xff"):
        return ("image/jpeg", *_of_jpeg(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return ("image/webp", *_of_webp(data[12:30]))
    return None


def _of_jpeg(data: bytes) -> tuple[int, int]:
    """The size in the frame's header (ITU T.81, B.2.2), behind other segments."""
    at = 2
    for _ in range(_MOST_SEGMENTS):
        if at + 9 > len(data) or data[at] != 0xFF:
            break
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        # A marker may be filled up by 0xFF; every other one here has a length.
        at += 1 if marker == 0xFF else 2 + max(2, _big(data[at + 2 : at + 4]))
    return 0, 0


def _of_webp(head: bytes) -> tuple[int, int]:
    """The size in the first chunk (developers.google.com, "WebP Container Specification")."""
    if len(head) < _WEBP_HEAD:
        return 0, 0
    if head.startswith(b"VP8X"):
        return 1 + _little(head[12:15]), 1 + _little(head[15:18])
    if head.startswith(b"VP8L"):
        bits = _little(head[9:13])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return (_little(head[14:16]) & 0x3FFF, _little(head[16:18]) & 0x3FFF) if head.startswith(b"VP8 ") else (0, 0)


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _pages(data: bytes, name: str) -> int:
    """The pages of a PDF: as many as it has objects of pages, or as its tree of pages says, if that is more."""
    if _ENCRYPTED.search(data):
        raise FileError(f"{name!r} is an encrypted PDF; save it without a password")
    pages = said = trees = 0
    for part in _readable(data, name):
        pages += sum(1 for _ in islice(_PAGE.finditer(part), _MOST_COUNTED))
        for tree in islice(_PAGES.finditer(part), _MOST_TREES - trees):
            trees += 1
            near = part[max(0, tree.start() - _NEAR) : tree.end() + _NEAR]
            said = max([said, *(int(each[1]) for each in _COUNT.finditer(near))])
        if max(pages, said) > MOST_PAGES:
            break
    if not max(pages, said):
        raise FileError(f"{name!r} begins like a PDF, but has no pages that can be counted: it may be damaged")
    return max(pages, said)


def _readable(data: bytes, name: str) -> Iterator[bytes]:
    """The bytes of a PDF, and its compressed objects (ISO 32000-1, 7.5.7) up to a bound."""
    yield data
    left = _MOST_INFLATED
    for each in islice(_OBJECTS.finditer(data), _MOST_STREAMS):
        begin = _STREAM.search(data, each.end(), each.end() + _NEAR)
        if begin is None:
            continue
        unpacker, inflated = zlib.decompressobj(), list[bytes]()
        with suppress(zlib.error):
            for at in range(begin.end(), begin.end() + _LONGEST_STREAM, _PIECE):
                packed = data[at : at + _PIECE]
                inflated.append(unpacker.decompress(packed, left + 1))
                left -= len(packed) + len(inflated[-1])
                if left < 0:
                    problem = f"the objects of this PDF have more than {_MOST_INFLATED:,} bytes, packed and unpacked"
                    raise FileError(f"{name!r}: {problem}")
                if unpacker.eof or not packed:
                    break
        yield b"".join(inflated)


def _not_text(data: bytes) -> str:
    """Why it is not text; empty if it is."""
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"of an unknown kind, and no UTF-8 text (byte {data[error.start]:#04x} at {error.start + 1:,})"
    return "of an unknown kind, with control characters" if _CONTROLS.intersection(data) else ""
