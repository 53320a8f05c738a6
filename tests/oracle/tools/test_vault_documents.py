"""Of a thread that has grown only what was added is read and indexed, and what is found is the same."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from oracle.tools.notes import entry_text
from oracle.tools.paths import Root
from oracle.tools.vault_documents import Seen, read_documents
from oracle.tools.vault_index import VaultIndex

PATH = "threads/log.md"
TIME = "2025-01-31T09:30:00Z"


def thread(entries: int) -> str:
    return "# log\n" + "".join(entry_text(TIME, f"Entry {number} about topic{number}.") for number in range(entries))


def documents_of(index: VaultIndex) -> list[Any]:
    index.files(kind="thread")
    sql = (
        "SELECT documents.path, line, documents.title, words.body, tags FROM documents JOIN words"
        " ON words.rowid = documents.id ORDER BY documents.path, line, words.body"
    )
    return index._database.execute(sql).fetchall()


def test_a_thread_that_has_grown_is_read_from_its_last_entry_on() -> None:
    before = thread(1_500).encode()
    first = read_documents(before, path=PATH, seen=None)
    assert len(first.documents) == 1_500
    assert first.tail is not None
    grown = read_documents(before + entry_text(TIME, "new").encode(), path=PATH, seen=Seen("", first.tail))
    assert [document.body for document in grown.documents] == ["Entry 1499 about topic1499.", "new"]
    assert grown.tail is not None
    assert grown.tail.line == first.tail.line + 4


def test_an_entry_that_is_added_is_all_that_is_indexed(tmp_path: Path, write: Callable[..., Path]) -> None:
    file = write(f"vault/{PATH}", thread(1_500))
    index = VaultIndex(Root(tmp_path / "vault", label="the vault"))
    index.files(kind="thread")
    statements: list[str] = []
    index._database.set_trace_callback(statements.append)
    for number in range(10):
        with file.open("a") as opened:
            opened.write(entry_text(TIME, f"About zeppelin{number}."))
        assert [found.path for found in index.search(f"zeppelin{number}", kind="thread", limit=5)] == [PATH]
    changes = [text.split("(")[0].strip() for text in statements if text.startswith(("INSERT INTO words (", "DELETE"))]
    assert changes == ["INSERT INTO words"] * 10


def test_a_note_whose_other_parts_stay_is_not_indexed_again(tmp_path: Path, write: Callable[..., Path]) -> None:
    write(f"vault/{PATH}", thread(100))
    index = VaultIndex(Root(tmp_path / "vault", label="the vault"))
    index.files(kind="thread")
    statements: list[str] = []
    index._database.set_trace_callback(statements.append)
    write(f"vault/{PATH}", thread(100).replace("# log\n", "# log\n\n").replace("topic50", "zeppelin"))
    found = index.search("zeppelin", kind="thread", limit=5)
    assert [each.line for each in found] == [206]
    assert sum(text.startswith("INSERT INTO words (") for text in statements) == 1


_LINES = st.sampled_from(
    [
        *["word", "", "# title", "---", "title: other", "\r", "ä", "## ", "## not an entry"],
        *[f"## {TIME}", f"## {TIME} ", f"## {TIME}x", f"\\## {TIME}"],
    ]
)
_TEXTS = st.lists(_LINES, max_size=6).map("\n".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@example(begin="# log\n", added=[f"\n## {TIME}", "x\nmore\n", f"\n## {TIME}\n\nmore"], edit_at=9)
@example(begin="# log\n", added=[f"## {TIME}\n## {TIME}\n\nx\n", "y\n"], edit_at=9)  # an entry without text
@given(
    begin=st.sampled_from(["", "# log\n", "# log\n", "# \n", "# #\n", "---\ntags: a\n---\n# log\n"]),
    added=st.lists(_TEXTS | _TEXTS.map(lambda text: entry_text(TIME, f"{text}x")), min_size=1, max_size=5),
    edit_at=st.integers(0, 9),
)
def test_however_a_thread_grows_the_index_is_that_of_a_new_one(
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
        assert documents_of(index) == documents_of(VaultIndex(root))
