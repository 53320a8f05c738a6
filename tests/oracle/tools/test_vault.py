import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.core.search import file_index
from oracle.tools import ToolRegistry, ToolSetupError, vault_index, vault_tools
from oracle.tools.notes import read_note, with_title

NOTES = {
    "decisions/caching.md": (
        "---\ntitle: Cache layer\ntags: [performance, redis]\n---\n\nWe decided to cache in Redis.\nTTL is 60 s.\n"
    ),
    "decisions/auth.md": "# Authentication\n\nTokens live for an hour. The cache is mentioned once.\n",
    "meetings/2025-01.md": "# Januar-Meeting\n\nWir haben über die Architektur gesprochen. Café-Runde.\n",
    "runbook.md": "No heading here, only how to roll back a deployment.\n",
    "cjk.md": "# 设计\n\n我们决定使用缓存策略来提高性能。\n",
    ".obsidian/hidden.md": "redis redis redis\n",
    "threads/search.md": "# Search\n\n## 2025-01-01T10:00:00Z\n\nredis came up in talk\n",
    "picture.png": "redis\n",
}


@pytest.fixture
def notes(write: Callable[..., Path], tmp_path: Path) -> Path:
    for path, text in NOTES.items():
        write(f"vault/{path}", text)
    return tmp_path / "vault"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def found(vault: ToolRegistry, query: str, **arguments: object) -> list[str]:
    result = await vault.call("vault_search", {"query": query, **arguments})
    assert not result.is_error, result.text
    return [f"{source.path}:{source.line}" for source in result.sources]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("redis", "decisions/caching.md:6", id="a word"),
        pytest.param("What did we decide about caching?", "decisions/caching.md:6", id="a question in other forms"),
        pytest.param("cache layer", "decisions/caching.md:6", id="the title"),
        pytest.param("notes tagged #performance", "decisions/caching.md:6", id="a tag"),
        pytest.param("token lifetime hour", "decisions/auth.md:3", id="a prefix, and not every word"),
        pytest.param("Was haben wir im Januar über Architektur gesprochen", "meetings/2025-01.md:3", id="German"),
        pytest.param("CAFE runde", "meetings/2025-01.md:3", id="without diacritics"),
        pytest.param("rollback deployments", "runbook.md:1", id="half the words"),
        pytest.param("缓存策略", "cjk.md:3", id="a script without spaces"),
    ],
)
async def test_a_search_finds_the_right_note_first(notes: Path, vault: ToolRegistry, query: str, expected: str) -> None:
    assert (await found(vault, query))[0] == expected


async def test_hidden_files_threads_and_pictures_are_not_notes(notes: Path, vault: ToolRegistry) -> None:
    assert await found(vault, "redis", limit=50) == ["decisions/caching.md:6"]


async def test_a_short_note_is_shown_whole_and_the_hit_says_so(notes: Path, vault: ToolRegistry) -> None:
    result = await vault.call("vault_search", {"query": "redis cache"})
    score = result.sources[0].score
    assert result.text.split("\n\n")[0] == (
        f"decisions/caching.md:6 — Cache layer (score {score:.2f})\n"
        "  1 | ---\n  2 | title: Cache layer\n  3 | tags: [performance, redis]\n  4 | ---\n  5 | \n"
        "> 6 | We decided to cache in Redis.\n  7 | TTL is 60 s.\n"
        "[This is the whole note.]"
    )
    assert (result.sources[0].source_type, result.sources[0].snippet) == (
        "vault",
        "We decided to cache in Redis. TTL is 60 s.",
    )


async def test_notes_far_below_the_best_one_are_left_out(vault: ToolRegistry, write: Callable[..., Path]) -> None:
    write("vault/lease.md", "# Lease of locks\n\nThe lease of a lock ends after the timeout.\n")
    for number in range(4):
        write(f"vault/other{number}.md", "A timeout.\n" + "Something else entirely.\n" * 30)
    assert await found(vault, "lease lock timeout") == ["lease.md:3"]


@pytest.mark.parametrize(
    ("head", "shown"),
    [
        pytest.param(
            "---\ntitle: Old\ndate: 2024-02-01\nstatus: superseded\ntags: [a]\n---\n",
            ["date: 2024-02-01", "status: superseded"],
            id="front matter",
        ),
        pytest.param(
            "# Old\n\n**Date:** 2024-02-01\n- **Status**: Accepted\n> Superseded by 0012\n",
            ["**Date:** 2024-02-01", "- **Status**: Accepted", "> Superseded by 0012"],
            id="marked lines",
        ),
        pytest.param("# Old\n\n## Status\n\nReplaced in May.\n", ["## Status", "Replaced in May."], id="a heading"),
        pytest.param("# Alt\n\nStand: 3. Mai\nStatus: ersetzt\n", ["Stand: 3. Mai", "Status: ersetzt"], id="German"),
        pytest.param("# Old\n\nDate parsing is slow. Status codes too.\n", [], id="words of a sentence"),
    ],
)
async def test_a_hit_in_a_long_note_is_shown_with_the_notes_date_and_status(
    vault: ToolRegistry, write: Callable[..., Path], head: str, shown: list[str]
) -> None:
    write("vault/old.md", head + "\nSomething else.\n" * 30 + "The zebra is kept.\n" + "Nothing.\n" * 9)
    text = (await vault.call("vault_search", {"query": "zebra"})).text
    lines = [line.partition(" | ")[2] for line in text.split("\n")[1:]]
    assert lines == [*shown, "The zebra is kept.", *["Nothing."] * 5]
    assert "[This is the whole note.]" not in text


async def test_a_search_names_the_threads_that_match(
    notes: Path, vault: ToolRegistry, write: Callable[..., Path]
) -> None:
    named = "[Threads that match as well: threads/search.md. thread_seek shows where.]"
    assert (await vault.call("vault_search", {"query": "redis"})).text.endswith(f"\n\n{named}")
    only = await vault.call("vault_search", {"query": "came up in talk"})
    assert only.is_empty
    assert only.text.endswith(named)
    assert "[Threads" not in (await vault.call("vault_search", {"query": "deployment"})).text
    write("vault/cookies.md", "# The login cookie\n\nIts flags are HttpOnly and Secure.\n")
    write("vault/threads/proxy.md", "# Proxy\n\nThe cookie is Secure all the same.\n")
    fuller = (await vault.call("vault_search", {"query": "login cookie flags HttpOnly Secure"})).text
    assert fuller.endswith("[Threads that match as well: threads/proxy.md. thread_seek shows where.]")


async def test_an_empty_result_says_what_to_try_instead(notes: Path, vault: ToolRegistry) -> None:
    result = await vault.call("vault_search", {"query": "quaternion"})
    assert result.is_empty
    assert not result.is_error
    assert "vault_list" in result.text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=settings().max_examples * 3 // 2)
@given(query=st.text() | st.text(alphabet="\"'*():^-+{}NEARORANDNOT ²Ⅷ缓存ß_\\", max_size=30))
async def test_any_query_gives_a_result_and_no_part_of_it_is_syntax(
    notes: Path, vault: ToolRegistry, query: str
) -> None:
    for name in ("vault_search", "thread_seek"):
        result = await vault.call(name, {"query": query})
        assert result.is_error == ("\x00" in query), result.text


async def test_the_index_sees_every_change(notes: Path, vault: ToolRegistry, write: Callable[..., Path]) -> None:
    assert await found(vault, "zebra") == []
    write("vault/new.md", "zebra\n")
    assert await found(vault, "zebra") == ["new.md:1"]
    write("vault/new.md", "tiger\n")  # the same size, within the same moment
    assert (await found(vault, "zebra"), await found(vault, "tiger")) == ([], ["new.md:1"])
    (notes / "new.md").rename(notes / "moved.md")
    assert await found(vault, "tiger") == ["moved.md:1"]
    (notes / "moved.md").unlink()
    assert await found(vault, "tiger") == []


async def test_a_file_that_did_not_change_is_not_read_again(
    notes: Path, vault: ToolRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    read = vault_index.vault_reading
    monkeypatch.setattr(
        vault_index, "vault_reading", lambda data, path, memo: reads.append(path) or read(data, path=path, memo=memo)
    )
    monkeypatch.setattr(file_index, "_FRESH_NS", -(2**62))  # as if all changes were long ago
    assert len(await found(vault, "redis")) == 1
    assert sorted(reads) == sorted(path for path in NOTES if path.endswith(".md") and not path.startswith("."))
    reads.clear()
    (notes / "runbook.md").write_text("redis")
    assert len(await found(vault, "redis")) == 2
    assert reads == ["runbook.md"]


async def test_a_flat_vault_is_searched_up_to_the_bound(
    vault: ToolRegistry, write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault_index, "MAX_NOTES", 2)
    for number in range(4):
        write(f"vault/{number}.md", "zebra\n")
    assert len(await found(vault, "zebra")) == 2


async def test_concurrent_searches_share_the_index(notes: Path, vault: ToolRegistry) -> None:
    results = await asyncio.gather(*(found(vault, "redis") for _ in range(16)))
    assert results == [["decisions/caching.md:6"]] * 16


@pytest.mark.parametrize(
    "path", ["decisions/caching.md", "decisions/caching", "./decisions//caching.md", "decisions/caching.md:1-2"]
)
async def test_a_note_is_read_with_line_numbers(notes: Path, vault: ToolRegistry, path: str) -> None:
    result = await vault.call("vault_read", {"path": path})
    assert result.text.startswith("decisions/caching.md, lines 1-")
    assert "\n  2 | title: Cache layer" in result.text
    assert result.sources[0].source_type == "vault"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("cashing", "there is no note 'cashing.md' in the vault. Did you mean 'decisions/caching.md'?"),
        ("auth", "Did you mean 'decisions/auth.md'"),
        ("decisions/login cache", "Did you mean 'decisions/2025-09-04-login-cache.md'?"),
        ("../outside", "has '..' in it"),
        ("/etc/passwd", "is absolute"),
        (".obsidian/hidden.md", "hidden name ('.obsidian')"),
        (".", "names no note"),
        ("", "is empty"),
    ],
)
async def test_a_note_that_cannot_be_read_is_an_error_that_helps(
    notes: Path, write: Callable[..., Path], vault: ToolRegistry, path: str, message: str
) -> None:
    write("vault/decisions/2025-09-04-login-cache.md", "Logins are kept for a minute.\n")
    result = await vault.call("vault_read", {"path": path})
    assert result.is_error
    assert message in result.text, result.text


async def test_a_link_to_a_hidden_file_is_not_a_note(notes: Path, vault: ToolRegistry) -> None:
    (notes / "link.md").symlink_to(".obsidian/hidden.md")
    arguments = {"path": "link", "body": "x", "overwrite": True}
    for result in (await vault.call("vault_read", {"path": "link"}), await vault.call("vault_write", arguments)):
        assert result.is_error
        assert "no note of the vault" in result.text
    assert contents(notes)[".obsidian/hidden.md"] == b"redis redis redis\n"


async def test_a_long_note_says_how_to_continue(vault: ToolRegistry, write: Callable[..., Path]) -> None:
    write("vault/long.md", "line\n" * 3_000)
    text = (await vault.call("vault_read", {"path": "long"})).text
    following = text.rsplit("vault_read(path='", 1)[1].split("'")[0]
    assert (await vault.call("vault_read", {"path": following})).text.startswith(f"long.md, lines {following[8:]}-")


async def test_notes_are_listed_with_titles_and_threads_last(notes: Path, vault: ToolRegistry) -> None:
    lines = (await vault.call("vault_list", {})).text.split("\n")
    assert lines == [
        "cjk.md — 设计",
        "decisions/auth.md — Authentication",
        "decisions/caching.md — Cache layer",
        "meetings/2025-01.md — Januar-Meeting",
        "runbook.md — runbook",
        "threads/search.md — Search",
    ]
    assert (await vault.call("vault_list", {"folder": "threads"})).text == "threads/search.md — Search"
    missing = await vault.call("vault_list", {"folder": "decision"})
    assert missing.is_error
    assert "Did you mean 'decisions'?" in missing.text


async def test_a_written_note_is_read_and_found(vault: ToolRegistry, tmp_path: Path) -> None:
    arguments = {"path": "plans/next", "body": "Ship it.", "title": "The plan"}
    result = await vault.call("vault_write", arguments)
    assert (result.text, result.is_error) == ("Wrote plans/next.md (3 lines).", False)
    assert (tmp_path / "vault/plans/next.md").read_text() == "# The plan\n\nShip it.\n"
    assert await found(vault, "plan") == ["plans/next.md:1"]


async def test_an_existing_note_is_an_error_that_says_so_and_is_not_changed(notes: Path, vault: ToolRegistry) -> None:
    result = await vault.call("vault_write", {"path": "runbook.md", "body": "x"})
    assert result.is_error
    assert "'runbook.md' exists already and was not changed" in result.text
    assert "overwrite=true" in result.text
    assert (notes / "runbook.md").read_text() == NOTES["runbook.md"]


async def test_an_existing_note_is_replaced_when_asked(notes: Path, vault: ToolRegistry) -> None:
    result = await vault.call("vault_write", {"path": "runbook", "body": "x\n", "overwrite": True})
    assert result.text == "Replaced runbook.md (1 line)."
    assert (notes / "runbook.md").read_text() == "x\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "../x", "body": "x"}, "has '..' in it"),
        ({"path": "/tmp/x", "body": "x"}, "is absolute"),
        ({"path": ".git/hooks/post-commit", "body": "x"}, "hidden name"),
        ({"path": "a/.hidden", "body": "x"}, "hidden name"),
        ({"path": "threads/search", "body": "x", "overwrite": True}, "thread_push"),
        ({"path": "Threads/new", "body": "x"}, "thread_push"),
        ({"path": "x", "body": " \n"}, "body is empty"),
        ({"path": "x", "body": "y" * 1_000_001}, "at most 1,000,000"),
        ({"path": "x", "body": "a\x00b"}, "NUL"),
        ({"path": "runbook.md/x", "body": "x"}, "leads through a file"),
        ({"path": "x"}, "argument 'body' is missing"),
    ],
)
async def test_a_note_that_cannot_be_written_changes_nothing(
    notes: Path, vault: ToolRegistry, arguments: dict[str, object], message: str
) -> None:
    before = contents(notes)
    result = await vault.call("vault_write", arguments)
    assert result.is_error
    assert message in result.text, result.text
    assert contents(notes) == before


async def test_of_concurrent_writers_one_wins(vault: ToolRegistry, tmp_path: Path) -> None:
    calls = [vault.call("vault_write", {"path": "same", "body": f"body {n}"}) for n in range(8)]
    results = await asyncio.gather(*calls)
    assert sorted(result.is_error for result in results) == [False] + [True] * 7
    assert list(contents(tmp_path / "vault")) == ["same.md"]


async def test_a_vault_that_does_not_exist_is_empty_until_the_first_write(vault: ToolRegistry, tmp_path: Path) -> None:
    for name, arguments in {"vault_search": {"query": "x"}, "vault_list": {}, "thread_seek": {"query": "x"}}.items():
        assert (await vault.call(name, arguments)).is_empty
    assert (await vault.call("vault_read", {"path": "x"})).is_error
    assert not (tmp_path / "vault").exists()
    await vault.call("vault_write", {"path": "x", "body": "y"})
    assert (tmp_path / "vault" / "x.md").exists()


def test_a_vault_that_is_a_file_is_a_setup_error(tmp_path: Path, clock) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolSetupError, match="is a file; set --vault or ORACLE_VAULT_DIR"):
        vault_tools(tmp_path / "file", now=clock)


@pytest.fixture
def locked_notes(notes: Path) -> Iterator[Path]:
    notes.chmod(0o500)
    yield notes
    notes.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_a_read_only_vault_is_an_error(locked_notes: Path, vault: ToolRegistry) -> None:
    assert "Permission denied" in (await vault.call("vault_write", {"path": "x", "body": "y"})).text


@pytest.mark.parametrize(
    ("text", "title", "tags"),
    [
        ("---\ntitle: 'A: b'\ntags: [x, \"y\"]\n---\n# Other\n", "A: b", ("x", "y")),
        ("---\ntags:\n  - one\n  - '#two'\n---\nText\n", "name", ("one", "two")),
        ("---\ntags: a b\n---\n## Not the title\n# Title #\n", "Title", ("a", "b")),
        ("# #\n", "#", ()),
        ("#  C# \n", "C#", ()),
        (f"# a{' ' * 200_000}b\n", f"a{' ' * 200_000}b", ()),  # in linear time
        ("---\nnever closed\n# Heading\n", "Heading", ()),
        ("---\n{{{ no: yaml\n---\n", "name", ()),
        ("", "name", ()),
    ],
)
def test_title_and_tags_of_a_note_are_parsed(text: str, title: str, tags: tuple[str, ...]) -> None:
    note = read_note(text.split("\n"), path="folder/name.md")
    assert (note.title, note.tags) == (title, tags)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("text", "# The title\n\ntext\n"),
        ("# the Title\n\ntext\n", "# the Title\n\ntext\n"),
        ("---\ntags: [a]\n---\ntext\n", '---\ntitle: "The title"\ntags: [a]\n---\ntext\n'),
        ("---\ntitle: Own\n---\ntext\n", "---\ntitle: Own\n---\ntext\n"),
        ("a\r\nb", "# The title\n\na\nb\n"),
    ],
)
def test_a_title_is_added_to_the_front_matter_or_as_a_heading(body: str, expected: str) -> None:
    assert with_title(body, "The\n title") == expected


@given(st.text(max_size=200))
def test_any_text_is_a_note(text: str) -> None:
    note = read_note(text.split("\n"), path="name.md")
    assert note.text_line >= 1
    assert with_title(text, None).endswith("\n")
