"""Versions of tree files: every one that was saved or found stays readable."""

import asyncio
import hashlib

import pytest

from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.trees import EditKind, NewEdit


def edit(text: str, how: EditKind = "file", name: str = "oracle", **more: str) -> NewEdit:
    return NewEdit(name, hashlib.sha256(text.encode()).hexdigest(), text, how, **more)


def nothing() -> None:
    """For versions that are in place already."""


async def told(store: Store, name: str = "oracle") -> list[tuple[str, str | None]]:
    return [(each.how, await store.tree_edits.text(name, each.sha)) for each in await store.tree_edits.of(name)]


async def test_a_version_is_kept_exactly_with_who_and_why(store: Store) -> None:
    text = "tree: oracle # ünïcödé 🌍\r\n\ttab \u2028 and \x07\n"
    await store.tree_edits.add(edit(text, "saved", user_id="olga", note="why\nnot"), publish=nothing)
    (found,) = await store.tree_edits.of("oracle")
    assert (found.how, found.user_id, found.note, found.size) == ("saved", "olga", "why\nnot", len(text.encode()))
    assert await store.tree_edits.text("oracle", found.sha) == text
    assert await store.tree_edits.text("other", found.sha) is None


async def test_the_newest_is_first_and_a_text_that_comes_back_is_a_version_again(store: Store) -> None:
    for text in ("one", "two", "one"):
        await store.tree_edits.add(edit(text, "saved"), publish=nothing)
    assert await told(store) == [("saved", "one"), ("saved", "two"), ("saved", "one")]


async def test_a_version_that_cannot_be_put_in_place_is_not_kept(store: Store) -> None:
    def fail() -> None:
        raise PermissionError("read-only")

    with pytest.raises(PermissionError):
        await store.tree_edits.add(edit("one", "saved"), publish=fail)
    assert await told(store) == []


async def test_what_is_found_is_kept_if_it_is_new(store: Store) -> None:
    found, shipped = [edit("ours")], [edit("theirs", "shipped")]
    for _ in range(2):
        await store.tree_edits.add_found(found, shipped=shipped)
    assert await told(store) == [("file", "ours"), ("shipped", "theirs")]
    await store.tree_edits.add_found([edit("theirs", "shipped")])  # the operator's file was removed
    assert await told(store) == [("shipped", "theirs"), ("file", "ours"), ("shipped", "theirs")]


async def test_trees_of_other_names_are_apart(store: Store) -> None:
    await store.tree_edits.add_found([edit("same"), edit("same", name="other")])
    assert await told(store) == await told(store, "other") == [("file", "same")]


async def test_workers_that_find_the_same_files_keep_them_once(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        found = [edit(f"text {at}", name=f"tree{at}") for at in range(5)]
        await asyncio.gather(*(store.tree_edits.add_found(found) for store in (one, two) for _ in range(5)))
        assert [len(await one.tree_edits.of(each.name)) for each in found] == [1] * 5
