"""What a file is: by its content, never by its name."""

from time import process_time

import pytest

from oracle.features.attachments.kinds import LARGEST, LARGEST_PICTURE, LARGEST_TEXT, FileError, file_name, kind_of
from tests.oracle.features.attachments import files

BROKEN_PDF = files.repeating_pdf(bytes(20_000_000), times=5, is_broken=True)
TAKEN = {
    "png": (files.png(1_500, 1_000), "image/png", 2_001),
    "gif": (files.gif(), "image/gif", 1),
    "jpeg": (files.jpeg(750, 2), "image/jpeg", 3),
    "webp-lossy": (files.webp_lossy(750, 2), "image/webp", 3),
    "webp-lossless": (files.webp_lossless(750, 2), "image/webp", 3),
    "webp-extended": (files.webp_extended(750, 2), "image/webp", 3),
    "large-picture": (files.png(8_000, 8_000), "image/png", 4_784),
    "pdf": (files.pdf(3), "application/pdf", 6_000),
    "pdf-packed": (files.packed_pdf(3), "application/pdf", 6_000),
    "pdf-behind-a-mark": (b"\xef\xbb\xbf\n" + files.pdf(1), "application/pdf", 2_000),
    "text": ("Grüße\tan\r\nalle\n".encode(), "text/plain", 5),
    "text-like-a-program": (b"MZ is the code of Mozambique, BM that of Bermuda", "text/plain", 12),
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "text/plain", 18),
}
REFUSED = {
    "a picture that is a ZIP": (
        files.ZIP,
        415,
        "'a.png' is a ZIP archive, or an office document; PNG",
    ),
    "a program": (b"\x7fELF\x02\x01\x01\0", 415, "is a program; PNG, JPEG"),
    "a picture of a phone": (b"\0\0\0\x18ftypheic" + bytes(20), 415, "is a video, or a HEIC or AVIF picture"),
    "UTF-16": ("text".encode("utf-16"), 415, "is UTF-16 text; PNG"),
    "Latin-1": ("Grüße".encode("latin-1"), 415, "is of an unknown kind, and no UTF-8 text (byte 0xfc at 3)"),
    "bytes": (b"abc\0def", 415, "is of an unknown kind, with control characters"),
    "nothing": (b"", 422, "'a.png' is empty"),
    "too wide": (files.png(8_001, 1), 422, "has 8,001 pixels on a side; at most 8,000 are taken"),
    "no size": (files.png(0, 5), 422, "begins like a picture (image/png), but its header has no size"),
    "a cut picture": (files.jpeg()[:12], 422, "begins like a picture (image/jpeg), but its header has no size"),
    "a large picture": (files.png() + bytes(LARGEST_PICTURE), 413, "bytes of a picture; at most 3,900,000 are taken"),
    "a large text": (b"a" * (LARGEST_TEXT + 1), 413, "has 1,000,001 bytes of a text; at most 1,000,000 are taken"),
    "a picture without its size": (files.webp(b"VP8X"), 422, "begins like a picture (image/webp), but its header"),
    "a picture of filling": (b"\xff\xd8" + b"\xff" * 200_000 + files.jpeg()[2:], 422, "but its header has no size"),
    "a large file": (files.pdf() + bytes(LARGEST), 413, "bytes; at most 10,000,000 are taken"),
    "a PDF of 2,000 pages": (files.pdf(2_000), 422, "'a.png' has 2,000 pages; at most 100 are taken"),
    "packed pages": (files.packed_pdf(2_000), 422, "has 2,000 pages; at most 100 are taken"),
    "an encrypted PDF": (
        files.pdf(trailer=b"/Encrypt 12 0 R "),
        422,
        "is an encrypted PDF; save it without a password",
    ),
    "a PDF without pages": (b"%PDF-1.7\n%%EOF", 422, "has no pages that can be counted: it may be damaged"),
    "a PDF that unpacks to much": (files.packed_pdf(objects=bytes(50_000_001)), 422, "50,000,000 bytes, packed and"),
    "a PDF that unpacks to much before a fault": (BROKEN_PDF, 422, "50,000,000 bytes"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_is_known_by_its_content(name):
    data, media_type, tokens = TAKEN[name]
    assert kind_of(data, "of.exe") == (media_type, tokens)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_told_what_it_is_and_what_would_be_right(name):
    data, status, words = REFUSED[name]
    with pytest.raises(FileError) as raised:
        kind_of(data, "a.png")
    assert words in str(raised.value)
    assert raised.value.status == status


def test_a_pdf_full_of_trees_of_pages_is_counted_at_once():
    full = files.repeating_pdf(b"/Type/Pages " * 2_000, times=500, is_broken=False)
    began = process_time()
    assert kind_of(full + files.pdf(3), "a.pdf").tokens == 6_000
    assert process_time() - began < 2  # 15 and more where each of them is looked at


def test_pages_that_a_pdf_only_claims_count():
    claimed = files.pdf(1).replace(b"/Count 1 ", b"/Count 999 ")
    with pytest.raises(FileError, match="999 pages"):
        kind_of(claimed, "a.pdf")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plan.pdf", "plan.pdf"),
        ("C:\\Users\\me\\plan.pdf", "plan.pdf"),
        ("../../etc/passwd", "passwd"),
        ("a\nb\u202e`c`[d].txt", "a b 'c'(d).txt"),
        ("\n\t", "file"),
        ("x" * 500, "x" * 119 + "…"),
    ],
)
def test_a_name_is_one_bounded_line_without_folders(given, shown):
    assert file_name(given) == shown
