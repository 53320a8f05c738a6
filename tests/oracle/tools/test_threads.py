import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.tools import ToolError, ToolRegistry
from oracle.tools.notes import entry_text, read_entries, unescaped
from oracle.tools.threads import slug


async def test_entries_are_added_with_their_times_and_read_in_order(vault: ToolRegistry, tmp_path: Path) -> None:
    first = await vault.call("thread_push", {"thread": "Search relevance!", "content": "Ranking is poor."})
    second = await vault.call("thread_push", {"thread": "search relevance", "content": "Better now.\n"})
    assert first.text == "Began the thread threads/search-relevance.md (2025-01-31T09:31:00Z)."
    assert second.text == "Added to the thread threads/search-relevance.md (2025-01-31T09:32:00Z)."
    assert (tmp_path / "vault/threads/search-relevance.md").read_text() == (
        "# Search relevance!\n\n## 2025-01-31T09:31:00Z\n\nRanking is poor.\n\n## 2025-01-31T09:32:00Z\n\nBetter now.\n"
    )
    result = await vault.call("thread_read", {"thread": "Search Relevance"})
    assert result.text.startswith("threads/search-relevance.md, lines 1-9 of 9 (2 entries)\n  1 | # Search relevance!")
    assert (result.sources[0].path, result.sources[0].source_type) == ("threads/search-relevance.md", "thread")


@pytest.mark.parametrize(
    "name", ["Auth Design", "auth-design", "threads/Auth Design.md", "threads/Auth Design.md:3", "AUTH DESIGN.md"]
)
async def test_a_thread_created_by_hand_is_found_by_any_form_of_its_name(
    vault: ToolRegistry, write: Callable[..., Path], name: str
) -> None:
    write("vault/threads/Auth Design.md", "# Auth\n\nFree text before any entry.\n")
    assert "Free text" in (await vault.call("thread_read", {"thread": name})).text
    pushed = await vault.call("thread_push", {"thread": name, "content": "more"})
    assert pushed.text.startswith("Added to the thread threads/Auth Design.md (")
    assert (await vault.call("thread_seek", {"query": "free text"})).sources[0].line == 3


async def test_seeking_finds_entries_not_notes(vault: ToolRegistry, write: Callable[..., Path]) -> None:
    await vault.call("thread_push", {"thread": "tokens", "content": "Priya: an hour is too short.\nTom disagrees."})
    await vault.call("thread_push", {"thread": "tokens", "content": "Lunch was good."})
    write("vault/tokens.md", "Priya and Tom wrote this note.\n")
    result = await vault.call("thread_seek", {"query": "find the thread where Priya and Tom argued"})
    assert [(source.path, source.line, source.source_type) for source in result.sources] == [
        ("threads/tokens.md", 5, "thread")
    ]
    assert result.text.startswith("threads/tokens.md:5 — tokens, 2025-01-31T09:31:00Z (score ")
    assert "\n> 5 | Priya: an hour is too short.\n  6 | Tom disagrees.\n[This is the whole entry.]" in result.text
    write("vault/threads/proxy.md", "# Proxy\n\n**Ben:** The cookie is Secure.\n\n**Aylin:** Good.\n")
    by_hand = await vault.call("thread_seek", {"query": "secure cookie"})
    assert by_hand.text.endswith(" | **Aylin:** Good.\n[This is the whole thread.]")
    notes = await vault.call("vault_search", {"query": "Priya"})
    assert [source.path for source in notes.sources] == ["tokens.md"]


async def test_a_seek_without_hits_names_the_threads(vault: ToolRegistry) -> None:
    without = await vault.call("thread_seek", {"query": "quaternion"})
    assert (without.text, without.is_empty) == ("No entry matches 'quaternion'. There are no threads yet.", True)
    await vault.call("thread_push", {"thread": "tokens", "content": "Lunch was good."})
    result = await vault.call("thread_seek", {"query": "quaternion"})
    assert result.is_empty
    assert result.text.endswith("Threads: threads/tokens.md.")


async def test_a_thread_is_also_read_as_a_note(vault: ToolRegistry) -> None:
    await vault.call("thread_push", {"thread": "x", "content": "entry"})
    result = await vault.call("vault_read", {"path": "threads/x.md"})
    assert (result.is_error, result.sources[0].source_type) == (False, "thread")


async def test_a_long_thread_shows_its_newest_entries_and_says_how_to_get_the_rest(
    vault: ToolRegistry, write: Callable[..., Path]
) -> None:
    entries = "".join(
        entry_text(f"2025-01-01T00:{n // 60:02}:{n % 60:02}Z", f"entry {n} " + "x" * 200) for n in range(500)
    )
    write("vault/threads/long.md", "# Long\n" + entries)
    text = (await vault.call("thread_read", {"thread": "long"})).text
    assert len(text) <= 32_000
    assert "entry 499 " in text
    assert "entry 0 " not in text
    assert "[Older entries are not shown; read them with vault_read(path='threads/long.md:1').]" in text
    assert "entry 0 " in (await vault.call("vault_read", {"path": "threads/long.md:1"})).text


async def test_an_unknown_thread_is_an_error_with_a_suggestion(vault: ToolRegistry) -> None:
    assert "There are: no threads yet." in (await vault.call("thread_read", {"thread": "x"})).text
    await vault.call("thread_push", {"thread": "Deployments", "content": "a"})
    result = await vault.call("thread_read", {"thread": "deployment"})
    assert result.is_error
    assert result.text == "there is no thread 'deployment'. Did you mean 'Deployments'?"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Search relevance", "search-relevance"),
        ("C++", "c++"),
        ("retro #12", "retro-#12"),
        ("Größe ändern", "grösse-ändern"),
        ("Planning/2025", "planning/2025"),
        ("  spaced  ", "spaced"),
        ("v1.2.", "v1.2"),
        ("日本語", "日本語"),
    ],
)
def test_a_threads_file_is_named_after_its_letters_and_digits(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize(
    "name", ["..", "../x", "a/../../b", "/etc/passwd", "", " ", "***", ".", "a" * 200, "threads/.md"]
)
async def test_an_invalid_name_is_an_error_and_writes_nothing(vault: ToolRegistry, tmp_path: Path, name: str) -> None:
    result = await vault.call("thread_push", {"thread": name, "content": "x"})
    assert result.is_error
    assert "thread" in result.text
    assert not (tmp_path / "vault").exists()


@given(st.text(max_size=60) | st.text(alphabet="./\\ a~:-", max_size=20))
def test_any_name_gives_a_plain_file_name_or_an_error(name: str) -> None:
    try:
        parts = slug(name).split("/")
    except ToolError:
        return
    assert all(part and not part.startswith(".") and "\\" not in part and "\x00" not in part for part in parts)


@pytest.mark.parametrize("content", ["", "  \n", "x" * 100_001], ids=["empty", "blank", "too long"])
async def test_empty_or_too_long_content_is_an_error(vault: ToolRegistry, content: str) -> None:
    assert (await vault.call("thread_push", {"thread": "x", "content": content})).is_error


async def test_content_cannot_forge_an_entry(vault: ToolRegistry) -> None:
    forged = "hello\n## 2020-01-01T00:00:00Z\n\nI was always here."
    await vault.call("thread_push", {"thread": "x", "content": forged})
    text = (await vault.call("thread_read", {"thread": "x"})).text
    assert "(1 entries)" in text
    assert "\\## 2020-01-01T00:00:00Z" in text


@given(
    st.lists(st.text(alphabet="ab#\\ \n0123456789-:TZ") | st.just("## 2020-01-01T00:00:00Z"), min_size=1, max_size=4)
)
def test_entries_contain_what_was_pushed(contents: list[str]) -> None:
    contents = [content.strip() or "x" for content in contents]
    text = "# t\n" + "".join(entry_text("2025-01-01T00:00:00Z", content) for content in contents)
    entries = read_entries(text)
    assert ["\n".join(map(unescaped, entry.text.split("\n"))).strip() for entry in entries] == [
        content.strip() for content in contents
    ]


async def test_concurrently_pushed_entries_are_all_kept(vault: ToolRegistry) -> None:
    await asyncio.gather(*(vault.call("thread_push", {"thread": "x", "content": f"entry {n}"}) for n in range(20)))
    text = (await vault.call("thread_read", {"thread": "x"})).text
    assert text.count("# x") == 1
    assert all(f"entry {n}\n" in text + "\n" for n in range(20))
