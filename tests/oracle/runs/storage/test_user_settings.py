"""What users have set: kept, counted, and changed by one at a time."""

import asyncio

import pytest
from sqlalchemy import select

from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.user_settings import user_settings


async def revision_of(store: Store, user_id: str) -> int | None:
    query = select(user_settings.c.revision).where(user_settings.c.user_id == user_id)
    return await store.database.read(lambda connection: connection.scalar(query))


async def test_a_user_who_has_set_nothing_has_nothing_set(store: Store) -> None:
    assert await store.settings.load("ann") == {}
    assert await revision_of(store, "ann") is None


async def test_what_a_change_gives_replaces_what_was_set(store: Store) -> None:
    await store.settings.change("ann", lambda _: {"max_iterations": 7, "token_budget": 9_000})
    await store.settings.change("ann", lambda _: {"max_iterations": 8})
    assert await store.settings.load("ann") == {"max_iterations": 8}
    assert await store.settings.load("bob") == {}


async def test_each_change_is_a_revision(store: Store) -> None:
    await store.settings.change("ann", lambda _: {"max_iterations": 7})
    assert await revision_of(store, "ann") == 1
    assert await store.settings.change("ann", lambda data: {**data, "token_budget": 9_000}) == {
        "max_iterations": 7,
        "token_budget": 9_000,
    }
    assert await revision_of(store, "ann") == 2
    await store.settings.reset("ann")
    assert (await store.settings.load("ann"), await revision_of(store, "ann")) == ({}, 3)


async def test_a_change_counts_at_once_also_for_a_user_whose_fields_are_being_read(store: Store) -> None:
    for value in range(1, 20):
        reading = asyncio.ensure_future(store.settings.load("ann"))
        await store.settings.change("ann", lambda _, value=value: {"max_iterations": value})
        await reading
        assert await store.settings.load("ann") == {"max_iterations": value}


async def test_what_one_worker_sets_counts_on_the_other_at_once(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        assert await two.settings.load("ann") == {}
        await one.settings.change("ann", lambda _: {"max_iterations": 7})
        assert await two.settings.load("ann") == {"max_iterations": 7}


async def test_only_one_server_reads_the_fields_again_that_it_knows(store: Store) -> None:
    reads, read = 0, store.database.read

    async def counted(work):
        nonlocal reads
        reads += 1
        return await read(work)

    store.database.read = counted
    for _ in range(3):
        assert await store.settings.load("ann") == {}
    assert reads == (3 if store.is_shared else 1)


async def test_a_change_that_fails_changes_nothing(store: Store) -> None:
    def refuse(_):
        raise ValueError("max_iterations is 99; it must be 1-50")

    await store.settings.change("ann", lambda _: {"max_iterations": 7})
    for user_id in ("ann", "bob"):
        with pytest.raises(ValueError, match="must be 1-50"):
            await store.settings.change(user_id, refuse)
    assert (await store.settings.load("ann"), await revision_of(store, "ann")) == ({"max_iterations": 7}, 1)
    assert await revision_of(store, "bob") is None


async def test_settings_survive_a_restart(store_url: str) -> None:
    async with open_store(store_url, worker="worker-1") as store:
        await store.settings.change("ann", lambda _: {"max_iterations": 7})
    async with open_store(store_url, worker="worker-2") as store:
        assert await store.settings.load("ann") == {"max_iterations": 7}


def one_more(data):
    return {"count": data.get("count", 0) + 1}


async def test_no_change_is_lost_among_many(store: Store) -> None:
    await asyncio.gather(*(store.settings.change("ann", one_more) for _ in range(40)))
    assert (await store.settings.load("ann"), await revision_of(store, "ann")) == ({"count": 40}, 40)


async def test_no_change_is_lost_between_two_workers(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:

        async def change_often(store: Store) -> None:
            for _ in range(30):
                await store.settings.change("ann", one_more)

        async with asyncio.timeout(20):
            await asyncio.gather(change_often(one), change_often(two))
        assert await two.settings.load("ann") == {"count": 60}
