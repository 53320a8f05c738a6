import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.tools import Root, ToolError, ToolSetupError

ATTACKS = {
    "parent": "../secret.md",
    "parent in the middle": "notes/../../secret.md",
    "parent at the end": "notes/..",
    "absolute": "/etc/passwd",
    "home": "~/secret.md",
    "drive": "C:/secret.md",
    "drive, relative": "c:secret.md",
    "backslashes": "..\\secret.md",
    "NUL": "notes/a\x00.md",
    "newline": "notes/a\n.md",
    "lone surrogate": "notes/\udcff.md",
    "trailing dot": "notes./a.md",
    "three dots": ".../secret.md",
    "dots and a space": ".. /secret.md",
    "empty": "",
    "blank": "   ",
    "long name": "a" * 300,
    "long path": "a/" * 600 + "a",
    "long name in bytes": "ä" * 200,
}


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "secret.md").write_text("outside")
    (tmp_path / "root" / "notes").mkdir(parents=True)
    (tmp_path / "root" / "notes" / "a.md").write_text("inside")
    return Root(tmp_path / "root", label="the vault")


def everything_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("path", ATTACKS.values(), ids=ATTACKS.keys())
def test_no_path_leaves_its_root(root: Root, tmp_path: Path, path: str) -> None:
    before = everything_below(tmp_path)
    for attempt in (
        lambda: root.resolve(path),
        lambda: root.read(path, max_bytes=100),
        lambda: root.write(path, b"x", overwrite=True),
        lambda: root.append(path, b"x", header=b""),
    ):
        with pytest.raises(ToolError, match="path "):
            attempt()
    assert everything_below(tmp_path) == before
    assert (tmp_path / "secret.md").read_text() == "outside"


@pytest.mark.parametrize("path", ["notes/a.md", "./notes/a.md", "notes//a.md", "notes/./a.md", "notes/inner.md"])
def test_every_notation_of_a_path_inside_the_root_is_read(root: Root, path: str) -> None:
    (root.path / "notes" / "inner.md").symlink_to("a.md")  # a link that stays inside is no escape
    assert root.read(path, max_bytes=100) == (b"inside", 6)


@pytest.mark.parametrize("target", ["../../secret.md", "/etc/passwd", "../../new.md"])
def test_a_link_out_of_the_root_is_rejected(root: Root, tmp_path: Path, target: str) -> None:
    (root.path / "notes" / "link.md").symlink_to(target)
    (root.path / "folder").symlink_to(tmp_path)
    for path in ("notes/link.md", "folder/secret.md", "folder/deep/new.md"):
        with pytest.raises(ToolError, match="leads out of the vault through a link"):
            root.read(path, max_bytes=100)
        with pytest.raises(ToolError, match="leads out"):
            root.write(path, b"x", overwrite=True)
        with pytest.raises(ToolError, match="leads out"):
            root.append(path, b"x", header=b"")
    assert not (tmp_path / "new.md").exists()
    assert (tmp_path / "secret.md").read_text() == "outside"


def test_circular_links_are_rejected(root: Root) -> None:
    (root.path / "one").symlink_to("two")
    (root.path / "two").symlink_to("one")
    with pytest.raises(ToolError):
        root.read("one/a.md", max_bytes=100)


@pytest.mark.parametrize("swapped", ["folder", "file"])
def test_a_link_created_after_the_check_is_not_followed(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    resolve = Root.resolve

    def resolve_then_swap(self: Root, relative: str) -> Path:
        path = resolve(self, relative)
        victim = self.path / "notes" if swapped == "folder" else self.path / "notes" / "a.md"
        if not victim.is_symlink():
            victim.rename(tmp_path / "moved")
            victim.symlink_to(tmp_path if swapped == "folder" else tmp_path / "secret.md")
        return path

    monkeypatch.setattr(Root, "resolve", resolve_then_swap)
    (tmp_path / "a.md").write_text("outside")
    with pytest.raises(ToolError, match="link"):
        root.read("notes/a.md", max_bytes=100)
    with pytest.raises(ToolError, match="link"):
        root.append("notes/a.md", b"x", header=b"")
    assert (tmp_path / "secret.md").read_text() == (tmp_path / "a.md").read_text() == "outside"


def test_swapping_links_during_reads_never_leaks_a_file(root: Root, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.md").write_text("outside")
    stop = threading.Event()

    def swap() -> None:
        inner, aside = root.path / "notes", root.path / "aside"
        while not stop.is_set():
            inner.rename(aside)
            inner.symlink_to(tmp_path / "elsewhere")
            inner.unlink()
            aside.rename(inner)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(500):
            try:
                data, _ = root.read("notes/a.md", max_bytes=100)
            except (ToolError, FileNotFoundError):
                continue
            assert data == b"inside"
    finally:
        stop.set()
        swapper.join()


def test_pipes_and_folders_are_not_files(root: Root) -> None:
    os.mkfifo(root.path / "pipe")
    with pytest.raises(ToolError, match="a device or a pipe"):
        root.read("pipe", max_bytes=100)
    for path in ("notes", "."):
        with pytest.raises(IsADirectoryError):
            root.read(path, max_bytes=100)
        with pytest.raises(IsADirectoryError):
            root.write(path, b"x", overwrite=True)


def test_a_file_in_the_way_of_a_folder_is_an_error(root: Root) -> None:
    with pytest.raises(ToolError, match="leads through a file"):
        root.write("notes/a.md/b.md", b"x", overwrite=False)


def test_writing_makes_folders_and_leaves_nothing_else(root: Root) -> None:
    assert root.write("new/deep/b.md", b"one", overwrite=False) is False
    with pytest.raises(FileExistsError):
        root.write("new/deep/b.md", b"two", overwrite=False)
    (root.path / "new/deep/b.md").chmod(0o640)
    assert root.write("new/deep/b.md", b"three", overwrite=True) is True
    assert (root.path / "new/deep/b.md").read_bytes() == b"three"
    assert (root.path / "new/deep/b.md").stat().st_mode & 0o777 == 0o640
    assert everything_below(root.path / "new") == {"deep", "deep/b.md"}


def test_of_two_writers_at_once_only_one_creates_the_note(root: Root) -> None:
    barrier = threading.Barrier(8)
    created: list[int] = []

    def create(number: int) -> None:
        barrier.wait()
        try:
            root.write("race.md", str(number).encode() * 1_000, overwrite=False)
        except FileExistsError:
            return
        created.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(created) == 1
    assert (root.path / "race.md").read_bytes() == str(created[0]).encode() * 1_000


def test_appending_writes_the_header_once(root: Root) -> None:
    root.append("threads/x.md", b"one\n", header=b"head\n")
    root.append("threads/x.md", b"two\n", header=b"head\n")
    assert (root.path / "threads/x.md").read_bytes() == b"head\none\ntwo\n"


def test_a_root_may_be_a_link_itself(root: Root, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root.path)
    assert Root(tmp_path / "alias", label="the vault").read("notes/a.md", max_bytes=3) == (b"ins", 6)


def test_a_root_that_is_missing_or_a_file_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolSetupError, match="does not exist; set --project"):
        Root(tmp_path / "none", label="the project").require(setting="--project")
    with pytest.raises(ToolSetupError, match="is a file; set --project to a folder"):
        Root(tmp_path / "file", label="the project").require(setting="--project")


@given(st.text(alphabet=st.sampled_from("ab./\\~: \x00\n\udcff…")) | st.text())
def test_any_path_stays_inside_the_root_or_is_rejected(text: str) -> None:
    root = Root(Path("/nonexistent/root"), label="the vault")
    try:
        assert root.resolve(text).is_relative_to("/nonexistent/root")
    except ToolError as error:
        str(error).encode()
