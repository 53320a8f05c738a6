"""Versions of trees: kept once, found by name, and not deleted while they are of use."""

import asyncio

from sqlalchemy import func, select

from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.trees import UNUSED_S, TreeVersion, tree_version
from tests.oracle.runs.storage.making import Hands
from tests.oracle.runs.storage.runs_made import begun, ended

NODES = ["/", "/0:guards", "/1:ünïcödé"]
SOURCE = {"oracle.yaml": "name: oracle\0\n# 🌍\n"}


async def prune(store: Store) -> None:
    await store.retention.prune(older_than_s=None, most_bytes=None)


async def test_a_version_is_found_as_it_was_kept(store: Store) -> None:
    await store.trees.keep("abc", "oracle", NODES, SOURCE)
    assert await store.trees.find("abc") == TreeVersion("abc", "oracle", tuple(NODES), SOURCE)
    assert await store.trees.find("abd") is None


async def test_a_version_is_kept_once_however_often_and_by_whom(store: Store) -> None:
    await asyncio.gather(*(store.trees.keep(f"sha-{at % 3}", "oracle", NODES, SOURCE) for at in range(30)))
    count = select(func.count()).select_from(tree_version)
    assert await store.database.read(lambda connection: connection.scalar(count)) == 3


async def test_two_workers_keep_one_version(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        names = [f"sha-{at}" for at in range(30)]
        keeps = [store.trees.keep(name, "oracle", NODES, SOURCE) for name in names for store in (one, two)]
        await asyncio.gather(*keeps)
        assert [(await one.trees.find(name)).sha for name in names] == names  # type: ignore[union-attr]


async def test_a_version_that_no_run_names_goes_after_a_day(timed: Store, clock: Hands) -> None:
    await timed.trees.keep("abc", "oracle", NODES, SOURCE)
    await prune(timed)
    assert await timed.trees.find("abc") is not None
    clock.at_s += UNUSED_S + 1
    await prune(timed)
    assert await timed.trees.find("abc") is None


async def test_a_version_stays_as_long_as_a_run_can_be_read_by_it(timed: Store, clock: Hands) -> None:
    for sha in ("ended", "running"):
        await timed.trees.keep(sha, "oracle", NODES, SOURCE)
    record = await ended(timed, tree_sha="ended")
    await begun(timed, tree_sha="running")
    clock.at_s += UNUSED_S + 1
    await prune(timed)
    assert await timed.trees.find("ended") is not None
    await timed.conversations.forget("ann", record.context_id)
    await prune(timed)
    assert await timed.trees.find("ended") is None
    assert await timed.trees.find("running") is not None


async def test_a_version_in_use_is_renewed_and_comes_back_if_it_was_deleted(timed: Store, clock: Hands) -> None:
    await timed.trees.keep("abc", "oracle", NODES, SOURCE)
    clock.at_s += UNUSED_S - 10
    await timed.trees.keep("abc", "oracle", NODES, SOURCE)
    clock.at_s += 20
    await prune(timed)
    assert await timed.trees.find("abc") is not None
    clock.at_s += UNUSED_S
    await prune(timed)
    assert await timed.trees.find("abc") is None
    await timed.trees.keep("abc", "oracle", NODES, SOURCE)
    assert await timed.trees.find("abc") is not None
