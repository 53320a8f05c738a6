import gzip

import pytest

from oracle.console.built import read_console

SCRIPT = "export const answer = 42;\n" * 100


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "assets").mkdir()
    (tmp_path / ".vite").mkdir()
    (tmp_path / ".vite" / "manifest.json").write_text("{}")
    (tmp_path / "index.html").write_text('<meta property="csp-nonce" nonce="CSP_NONCE">')
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / "assets" / "index-1.js").write_text(SCRIPT)
    (tmp_path / "assets" / "index-1.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (tmp_path / "assets" / "index-1.js.br").write_bytes(b"in brotli")
    return tmp_path


def test_a_folder_without_a_page_is_no_console(tmp_path):
    assert read_console(tmp_path) is None
    assert read_console(tmp_path / "nowhere") is None


def test_copies_and_notes_of_the_build_are_no_files_of_their_own(folder):
    console = read_console(folder)
    assert set(console.files) == {"icon.svg", "assets/index-1.js"}
    assert list(console.files["assets/index-1.js"].copies) == ["br", "gzip"]


def test_the_page_has_the_nonce_of_its_response(folder):
    assert read_console(folder).page(nonce="abc") == '<meta property="csp-nonce" nonce="abc">'


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", None),
        ("identity", None),
        ("deflate, zstd", None),
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "br"),
        ("GZIP ; Q=0.5", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("br;q=0, *", "gzip"),
        ("*", "br"),
        ("*;q=0", None),
        ("gzip;q=0.000", None),
        ("br;q=much, gzip;x=1", "gzip"),
        (",,;;=,q=", None),
    ],
)
def test_a_client_gets_the_smallest_form_that_it_takes(folder, accepted, coding):
    file = read_console(folder).files["assets/index-1.js"]
    encoded = file.in_encoding(accepted)
    assert encoded.coding == coding
    assert encoded.body == {None: SCRIPT.encode(), "gzip": file.copies["gzip"], "br": b"in brotli"}[coding]


def test_a_file_without_copies_is_sent_as_it_is(folder):
    encoded = read_console(folder).files["icon.svg"].in_encoding("gzip, br")
    assert (encoded.body, encoded.coding) == (b"<svg/>", None)


def test_types_do_not_depend_on_the_machine(folder, monkeypatch):
    monkeypatch.setattr("mimetypes.guess_type", lambda name: ("text/plain", None))
    files = read_console(folder).files
    assert files["assets/index-1.js"].media_type == "text/javascript; charset=utf-8"
    assert files["icon.svg"].media_type == "image/svg+xml"


def test_the_digest_of_a_file_changes_with_its_content(folder):
    before = read_console(folder).files["icon.svg"].etag
    assert read_console(folder).files["icon.svg"].etag == before
    (folder / "icon.svg").write_text("<svg />")
    assert read_console(folder).files["icon.svg"].etag != before
