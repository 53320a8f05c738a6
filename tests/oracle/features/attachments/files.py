"""Small files of every kind, made here."""

import struct
import zlib


def png(width: int = 4, height: int = 3) -> bytes:
    header = struct.pack(">II", width, height) + b"\x08\x02\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + header + b"\0\0\0\0"


def gif(width: int = 4, height: int = 3) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def jpeg(width: int = 4, height: int = 3) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 10) + b"Exif\0\0.."
    frame = b"\xff\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)
    return b"\xff\xd8" + exif + frame + b"\xff\xd9"


def webp(chunk: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk


def webp_lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height) + bytes(8))


def webp_lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(8))


def webp_extended(width: int, height: int) -> bytes:
    sizes = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return webp(b"VP8X" + bytes(8) + sizes + bytes(8))


def pdf(pages: int = 1, *, trailer: bytes = b"") -> bytes:
    """A PDF whose objects are plain."""
    kids = b"".join(b"%d 0 obj << /Type /Page /Parent 1 0 R >> endobj\n" % (n + 2) for n in range(pages))
    tree = b"1 0 obj << /Type /Pages /Count %d >> endobj\n" % pages
    return b"%PDF-1.7\n" + tree + kids + b"trailer << /Root 9 0 R " + trailer + b">>\n%%EOF\n"


def packed_pdf(pages: int = 1, *, objects: bytes = b"") -> bytes:
    """A PDF whose objects are in a compressed stream."""
    objects = objects or b"<</Type/Page/Parent 1 0 R>>" * pages
    stream = zlib.compress(objects)
    head = b"5 0 obj <</Type/ObjStm/Filter/FlateDecode/Length %d>>\nstream\n" % len(stream)
    return b"%PDF-1.7\n" + head + stream + b"\nendstream endobj\n%%EOF\n"


def repeating_pdf(objects: bytes, *, times: int, is_broken: bool) -> bytes:
    """A PDF with the same compressed objects again and again; broken ones have a wrong checksum."""
    stream = zlib.compress(objects)
    stream = stream[:-1] + bytes([stream[-1] ^ is_broken])
    return b"%PDF-1.7\n" + (b"<</Type/ObjStm>>\nstream\n" + stream + b"\n") * times


ZIP = b"PK\x03\x04" + bytes(30)
