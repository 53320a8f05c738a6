"""The archive: what a running service has written, read by another program."""

import pytest

from oracle.replay.histories.reading import event_pages
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.errors import StoreSetupError, UnclearRunError
from oracle.runs.storage.store import Store
from tests.oracle.runs.storage.runs_made import begun, ended


async def test_runs_of_a_tree_are_read_newest_first_while_the_store_is_open(store: Store, store_url: str):
    await store.trees.keep("abc1", "oracle", ["sequence"], {"oracle": "tree: oracle"})
    first = await ended(store, tree_sha="abc1")
    second = await ended(store, tree_sha="abc1")
    await begun(store, tree_sha="abc1")  # has not ended
    await ended(store)  # the plain loop: no tree
    async with open_archive(store_url) as archive:
        assert [run.id for run in await archive.runs(tree="oracle")] == [second.id, first.id]
        assert [run.id for run in await archive.runs(tree="oracle", limit=1)] == [second.id]
        assert await archive.runs(tree="other") == []
        assert await archive.runs(tree="oracle", since=second.created_at + 1) == []
        events = await archive.events(first.id)
        assert [event.seq for event in events] == [1, 2, 3, 4, 5]
        assert [event.kind for event in await archive.events(first.id, kinds={"final"})] == ["final"]
        assert (await archive.tree("abc")).source == {"oracle": "tree: oracle"}
        assert await archive.tree("abd") is None


async def test_a_run_is_found_by_the_beginning_of_its_id_if_that_is_unique(store: Store, store_url: str):
    first, second = await ended(store), await ended(store)
    async with open_archive(store_url) as archive:
        assert (await archive.find(first.id)).id == first.id
        shared = first.id[:-1] if first.id[:-1] == second.id[:-1] else first.id[:4]
        with pytest.raises(UnclearRunError, match="several runs") as unclear:
            await archive.find(shared)
        assert unclear.value.alike == (second.id, first.id)
        for beginning in ("nothing", "%", "", "x" * 65, "run\0"):
            with pytest.raises(UnclearRunError, match="there is no run"):
                await archive.find(beginning)


async def test_an_archive_makes_no_database_and_reads_none_of_another_version(tmp_path):
    url = f"sqlite:///{tmp_path}/oracle.db"
    with pytest.raises(StoreSetupError, match="there is no database"):
        async with open_archive(url):
            pass
    assert not list(tmp_path.iterdir())
    (tmp_path / "oracle.db").write_bytes(b"")
    with pytest.raises(StoreSetupError, match=r"no tables of Oracle; .* start `oracle serve` once"):
        async with open_archive(url):
            pass
    (tmp_path / "oracle.db").write_bytes(b"no database at all, but long enough to look at")
    with pytest.raises(StoreSetupError, match="cannot be read"):
        async with open_archive(url):
            pass


async def test_events_are_read_in_pages_in_their_order_until_the_last_one(store: Store, store_url: str, monkeypatch):
    record = await ended(store)
    async with open_archive(store_url) as archive:
        assert [event.seq for event in await archive.events(record.id, limit=2)] == [1, 2]
        assert [event.seq for event in await archive.events(record.id, after_seq=3, limit=2)] == [4, 5]
        assert [event.kind for event in await archive.events(record.id, kinds={"final"}, limit=1)] == ["final"]
        assert await archive.events(record.id, after_seq=5, limit=2) == []
        for size, pages in ((2, [[1, 2], [3, 4], [5]]), (5, [[1, 2, 3, 4, 5]]), (1_000, [[1, 2, 3, 4, 5]])):
            monkeypatch.setattr("oracle.replay.histories.reading.PAGE", size)
            assert [[event.seq for event in page] async for page in event_pages(archive, record)] == pages
        assert [len(page) async for page in event_pages(archive, record, after_seq=5)] == []
        await store.conversations.forget(record.user_id, record.context_id)
        gone = await archive.find(record.id)
        assert [len(page) async for page in event_pages(archive, gone)] == []
