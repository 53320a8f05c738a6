"""System prompts: one row a text, as long as a run names it."""

import asyncio

import pytest
from sqlalchemy import func, select

from oracle.runs.storage.prompts import prompt, prompt_use
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.runs_made import ended


async def count(store: Store, table) -> int:
    query = select(func.count()).select_from(table)
    return await store.database.read(lambda connection: connection.scalar(query))


async def written(store: Store) -> None:
    """What was posted is committed."""
    await store.write(lambda _: None)


async def test_a_prompt_is_one_row_for_all_its_runs(store: Store) -> None:
    for number in range(20):
        store.prompts.keep(f"run-{number}", "a" * 64, "You are\0 the oracle.")
    store.prompts.keep("run-1", "a" * 64, "You are\0 the oracle.")
    await written(store)
    assert (await count(store, prompt), await count(store, prompt_use)) == (1, 20)
    assert await store.prompts.find("a" * 64) == "You are\0 the oracle."
    assert await store.prompts.find("b" * 64) is None


async def test_a_prompt_goes_with_the_last_conversation_that_needs_it(store: Store) -> None:
    one, two = await ended(store), await ended(store)
    for record in (one, two):
        store.prompts.keep(record.id, "shared", "shared")
    store.prompts.keep(one.id, "own", "own")
    await written(store)
    await store.conversations.forget("ann", one.context_id)
    assert [await store.prompts.find(sha) for sha in ("shared", "own")] == ["shared", None]
    store.prompts.keep(two.id, "own", "own")  # this process believes that it is there
    await written(store)
    assert await store.prompts.find("own") == "own"
    await store.conversations.forget("ann", two.context_id)
    assert (await count(store, prompt), await count(store, prompt_use)) == (0, 0)


async def test_a_run_that_was_never_answered_needs_no_prompt(store: Store) -> None:
    record = await ended(store)
    store.prompts.keep(record.id, "sha", "text")
    await store.runs.abandon(record.id)
    assert (await count(store, prompt), await count(store, prompt_use)) == (0, 0)


async def test_a_prompt_that_comes_after_its_run_was_forgotten_goes_with_retention(
    store: Store,
) -> None:
    forgotten, gone, kept = await ended(store), await ended(store), await ended(store)
    await store.conversations.forget("ann", forgotten.context_id)
    for run_id, sha in ((forgotten.id, "late"), ("run-of-nobody", "late"), (kept.id, "kept"), (gone.id, "kept")):
        store.prompts.keep(run_id, sha, sha)  # of a worker that was stopped meanwhile
    await written(store)
    await store.retention.prune(older_than_s=None, most_bytes=None)
    assert [await store.prompts.find(sha) for sha in ("late", "kept")] == [None, "kept"]
    assert await count(store, prompt_use) == 2


@pytest.mark.long("twenty rounds of two workers")
async def test_workers_that_keep_and_delete_at_the_same_time_lose_no_text(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        for _ in range(20):
            old, new = await ended(one), await ended(two)
            one.prompts.keep(old.id, "sha", "text")
            await written(one)
            forgetting = asyncio.create_task(one.conversations.forget("ann", old.context_id))
            two.prompts.keep(new.id, "sha", "text")
            await forgetting
            await written(two)
            assert await one.prompts.find("sha") == "text"
            await two.conversations.forget("ann", new.context_id)
            assert await one.prompts.find("sha") is None
