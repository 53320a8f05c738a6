"""Of a thread that has grown only what was added is indexed, and what is found is the same."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from oracle.core.search.ranking import Ranking
from oracle.tools.notes import entry_text
from oracle.tools.paths import Root
from oracle.tools.vault_index import VaultIndex, vault_reading
from oracle.tools.workers import Workers

PATH = "threads/log.md"
TIME = "2025-01-31T09:30:00Z"


def thread(entries: int) -> str:
    return "# log\n" + "".join(entry_text(TIME, f"Entry {number} about topic{number}.") for number in range(entries))


def found_in(index: VaultIndex) -> list[Any]:
    questions = ("word", "title", "more", "log", "tags a", "2025")
    return [index.files(kind="thread"), *(index.search(question, kind="thread", limit=50) for question in questions)]


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The bodies of the documents that are indexed from now on."""
    bodies: list[str] = []
    add = Ranking.add
    monkeypatch.setattr(Ranking, "add", lambda self, document: bodies.append(document.body) or add(self, document))
    return bodies


def test_each_entry_of_a_thread_is_a_document_with_its_place() -> None:
    text = "# log\n\nBefore.\n" + entry_text(TIME, "One\ntwo.")
    reading = vault_reading(text.encode(), path=PATH)
    assert [(document.title, document.line, document.end, document.body) for document in reading.documents] == [
        ("log", 1, 5, "# log\n\nBefore.\n"),
        (f"log, {TIME}", 6, 9, "One\ntwo."),
    ]


def test_only_an_appended_entry_is_indexed(tmp_path: Path, write: Callable[..., Path], indexed: list[str]) -> None:
    file = write(f"vault/{PATH}", thread(1_500))
    index = VaultIndex(Root(tmp_path / "vault", label="the vault"))
    index.files(kind="thread")
    assert len(indexed) == 1_500
    indexed.clear()
    for number in range(10):
        with file.open("a") as opened:
            opened.write(entry_text(TIME, f"About zeppelin{number}."))
        assert [found.path for found in index.search(f"zeppelin{number}", kind="thread", limit=1)] == [PATH]
    assert indexed == [f"About zeppelin{number}." for number in range(10)]


def test_unchanged_entries_are_not_indexed_again(
    tmp_path: Path, write: Callable[..., Path], indexed: list[str]
) -> None:
    write(f"vault/{PATH}", thread(100))
    index = VaultIndex(Root(tmp_path / "vault", label="the vault"))
    index.files(kind="thread")
    indexed.clear()
    write(f"vault/{PATH}", thread(100).replace("# log\n", "# log\n\n").replace("topic50", "zeppelin"))
    found = index.search("zeppelin", kind="thread", limit=5)
    assert [each.line for each in found] == [206]
    assert indexed == ["Entry 50 about zeppelin."]


@pytest.mark.parametrize("odd", [b"\xe9" * 10, b"\0" * 10], ids=["not UTF-8", "NUL"])
def test_a_thread_whose_bytes_are_not_all_text_is_found_whole(tmp_path: Path, odd: bytes) -> None:
    file = tmp_path / PATH
    file.parent.mkdir()
    index = VaultIndex(Root(tmp_path, label="the vault"))
    data = b"# log\n" + b"x\n" * 5_000  # a NUL later in a file does not make it binary
    for added in (b"alpha", b"beta " + odd, b"gamma"):
        data += entry_text(TIME, "@").encode().replace(b"@", added)
        file.write_bytes(data)
        index.files(kind="thread")
    for word in ("alpha", "beta", "gamma"):
        assert [found.path for found in index.search(word, kind="thread", limit=5)] == [PATH]


async def test_a_cancelled_search_ends_between_two_files_and_releases_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(10):
        (tmp_path / f"{number}.md").write_text("zeppelin")
    reads: list[str] = []
    reading, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    read = Root.read

    def slow_read(self: Root, path: str, **options: Any) -> Any:
        reads.append(path)
        reading.set()
        go_on.wait()
        return read(self, path, **options)

    def search() -> Any:
        try:
            return index.search("zeppelin", kind="vault", limit=5)
        finally:
            ended.set()

    monkeypatch.setattr(Root, "read", slow_read)
    index = VaultIndex(Root(tmp_path, label="the vault"))
    task = asyncio.create_task(Workers().run(search))
    await asyncio.get_running_loop().run_in_executor(None, reading.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go_on.set()
    assert await asyncio.get_running_loop().run_in_executor(None, ended.wait, 10)
    assert reads == ["0.md"]
    assert len(index.search("zeppelin", kind="vault", limit=50)) == 10


_LINES = st.sampled_from(
    [
        *["word", "", "# title", "---", "title: other", "\r", "ä", "## ", "## not an entry"],
        *[f"## {TIME}", f"## {TIME} ", f"## {TIME}x", f"\\## {TIME}"],
    ]
)
_TEXTS = st.lists(_LINES, max_size=6).map("\n".join)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples * 3 // 5,
    deadline=None,
)
@example(begin="# log\n", added=[f"\n## {TIME}", "x\nmore\n", f"\n## {TIME}\n\nmore"], edit_at=9)
@example(begin="# log\n", added=[f"## {TIME}\n## {TIME}\n\nx\n", "y\n"], edit_at=9)  # an entry without text
@given(
    begin=st.sampled_from(["", "# log\n", "# log\n", "# \n", "# #\n", "---\ntags: a\n---\n# log\n"]),
    added=st.lists(_TEXTS | _TEXTS.map(lambda text: entry_text(TIME, f"{text}x")), min_size=1, max_size=5),
    edit_at=st.integers(0, 9),
)
def test_after_any_growth_the_index_equals_a_new_one(
    tmp_path_factory: pytest.TempPathFactory, begin: str, added: list[str], edit_at: int
) -> None:
    vault = tmp_path_factory.mktemp("vault")
    (vault / "threads").mkdir()
    file, root = vault / PATH, Root(vault, label="the vault")
    index = VaultIndex(root)
    text = begin
    for number, more in enumerate(added):
        text = text.replace("word", "other") + more if number == edit_at else text + more
        file.write_bytes(text.encode())
        assert found_in(index) == found_in(VaultIndex(root))
