"""The index of a project's code is kept in a file between processes, and what is in that file is hostile."""

import os
from hashlib import sha256

import orjson
import pytest

from oracle.core.search.keeping import WORTH_KEEPING, IndexFile
from oracle.tools.code import _READERS, CodeTools
from oracle.tools.paths import Root

N_FILES = WORTH_KEEPING + 5
MAGIC = b"oracle-index"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    for number in range(N_FILES):
        text = f'"""Part {number}."""\n\n\ndef handle_{number}(request):\n    return cacheEntry{number}\n'
        (folder / f"part_{number}.py").write_text(text)
        os.utime(folder / f"part_{number}.py", ns=(1_000_000_001, 1_000_000_001))
    return Root(folder.resolve(), label="the project")


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "data" / "code-index"


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """Files that were written just now are read again by the next search; here none counts as written just now."""
    monkeypatch.setattr("oracle.core.search.file_index._FRESH_NS", -(10**18))


def process(root, kept):
    """The tools of another process."""
    return CodeTools(root, kept=IndexFile(kept, root=root.path, modules=_READERS))


def found(tools, query="cacheEntry7"):
    return tools.search_code(query).text


@pytest.fixture
def expected(root, kept):
    text = found(process(root, kept))
    assert "part_7.py:5" in text
    return text


def test_the_next_process_reads_no_file_and_finds_the_same(root, kept, expected):
    tools = process(root, kept)
    assert (found(tools), tools._index.files_read) == (expected, 0)
    assert found(tools, "handle request") == found(CodeTools(root), "handle request")


def test_what_has_changed_since_is_read(root, kept, expected):
    (root.path / "part_7.py").unlink()
    (root.path / "part_8.py").write_text("def other():\n    return cacheEntry7\n")
    (root.path / "new.py").write_text("cacheEntry7 = 1\n")
    tools = process(root, kept)
    text = found(tools)
    assert tools._index.files_read == 2
    assert "part_7.py" not in text
    assert "part_8.py:2" in text
    assert "new.py:1" in text


def test_the_file_is_private_and_git_ignores_it(kept, expected):
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert sorted(each.name for each in kept.parent.iterdir()) == [".gitignore", "code-index"]
    assert "/code-index*" in (kept.parent / ".gitignore").read_text()


def test_what_a_killed_process_has_left_is_replaced_and_not_written_through(root, kept, tmp_path):
    kept.parent.mkdir(mode=0o700)
    (tmp_path / "own.txt").write_text("precious")
    (kept.parent / "code-index.partial").hardlink_to(tmp_path / "own.txt")
    found(process(root, kept))
    assert [each.name for each in kept.parent.iterdir()] == ["code-index"]
    assert (tmp_path / "own.txt").read_text() == "precious"


def test_a_small_project_keeps_nothing(root, kept):
    for number in range(10):
        (root.path / f"part_{number}.py").unlink()
    found(process(root, kept))
    assert not kept.parent.exists()


def test_without_a_place_to_keep_it_the_search_is_as_ever(root, kept):
    kept.parent.write_text("a file where the folder would be")
    assert "part_7.py:5" in found(process(root, kept))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.999])
def test_a_damaged_file_is_not_used(root, kept, expected, share):
    data = kept.read_bytes()
    at = int(share * len(data))
    for damaged in (data[:at], data[:at] + bytes([data[at] ^ 255]) + data[at + 1 :], data + b"\0"):
        kept.write_bytes(damaged)
        tools = process(root, kept)
        assert (found(tools), tools._index.files_read) == (expected, N_FILES)


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602])
def test_a_file_that_others_may_read_or_write_is_not_used(root, kept, expected, mode):
    kept.chmod(mode)
    tools = process(root, kept)
    assert (found(tools), tools._index.files_read) == (expected, N_FILES)


def test_a_link_is_not_followed(root, kept, expected, tmp_path):
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(tmp_path / "elsewhere")
    tools = process(root, kept)
    assert (found(tools), tools._index.files_read) == (expected, N_FILES)
    assert not kept.is_symlink()  # and what is kept now takes its place
    assert kept.stat().st_mode & 0o777 == 0o600


def test_the_index_of_another_project_or_of_other_code_is_not_used(root, kept, expected, tmp_path):
    for other, modules in ((tmp_path, _READERS), (root.path, [__file__])):
        tools = CodeTools(root, kept=IndexFile(kept, root=other, modules=modules))
        assert (found(tools), tools._index.files_read) == (expected, N_FILES)
        found(process(root, kept))


def forged(kept, change):
    """Change what is kept, with the right digest."""
    body = kept.read_bytes()[len(MAGIC) + 32 :]
    end = 8 + int.from_bytes(body[:8])
    head, numbers = orjson.loads(body[8:end]), bytearray(body[end:])
    change(head, numbers)
    packed = orjson.dumps(head)
    body = len(packed).to_bytes(8) + packed + bytes(numbers)
    kept.write_bytes(MAGIC + sha256(body).digest() + body)


def _put(*path, value):
    def change(head, _):
        for each in path[:-1]:
            head = head[each]
        head[path[-1]] = value

    return change


FORGERIES = {
    "no files": lambda head, _: head.pop("files"),
    "files of another type": _put("files", value={"a": 1}),
    "a path that is no text": _put("files", 0, 0, value=7),
    "a path twice": lambda head, _: head["files"].append([*head["files"][0][:3], []]),
    "a stamp that is too short": _put("files", 0, 2, value=[1, 2]),
    "a stamp of texts": _put("files", 0, 2, value=["1", "2", "3", "4"]),
    "a document twice": lambda head, _: head["files"][0][3].extend(head["files"][1][3]),
    "a document without a length": lambda head, _: head["lengths"].pop(),
    "a negative length": _put("lengths", 0, 1, value=-5),
    "a length that is no number": _put("lengths", 0, 1, value=1.5),
    "a negative number": lambda head, _: head["lengths"].append([-1, 3]),
    "a huge number": lambda head, _: head["lengths"].append([2**60, 3]),
    "a token twice": lambda head, _: head["tokens"].__setitem__(0, head["tokens"][1]),
    "a token that is no text": _put("tokens", 0, value=None),
    "too few keys": lambda head, _: head["keys"].pop(),
    "too few numbers": lambda _, numbers: numbers.__delitem__(slice(-8, None)),
    "half a number": lambda _, numbers: numbers.extend(b"abc"),
    "counts that do not add up": lambda _, numbers: numbers.__setitem__(0, numbers[0] ^ 1),
    "a posting of no document": lambda _, numbers: numbers.__setitem__(slice(-8, None), b"\xff" * 8),
}


@pytest.mark.parametrize("change", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_file_whose_parts_do_not_fit_is_not_used(root, kept, expected, change):
    forged(kept, change)
    tools = process(root, kept)
    assert (found(tools), tools._index.files_read) == (expected, N_FILES)


def test_a_forged_file_shows_nothing_that_is_not_shown_otherwise(root, kept, expected):
    (root.path / ".env").write_text("cacheEntry7 = 'secret'\n")
    (root.path.parent / "outside.py").write_text("cacheEntry7 = 'secret'\n")

    def change(head, _):
        for each, path in zip(head["files"], [".env", "../outside.py", "/etc/passwd", "gone.py"], strict=False):
            each[0] = path

    forged(kept, change)
    tools = process(root, kept)
    text = found(tools)
    assert "secret" not in text
    assert "part_7.py:5" in text
    assert tools._index.files_read == 4  # those whose names it has taken


def test_forged_keys_and_lines_lead_to_no_error(root, kept, expected):
    def change(head, _):
        head["keys"] = ["", "\n", "a\n\nb", "=", *head["keys"][4:]]
        head["files"][0][3][0][1:] = [10**12, 0, "x"]

    forged(kept, change)
    assert "part_7.py:5" in found(process(root, kept))
