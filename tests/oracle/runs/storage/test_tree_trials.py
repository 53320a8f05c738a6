"""What trials of trees have found: the last result of each, and no more than a thousand."""

import asyncio
from itertools import count

import pytest

from oracle.runs.storage import trees
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.trees import TreeTrial


async def test_the_last_result_is_found_by_what_was_tried(store_url: str) -> None:
    ticks = count(100)
    async with open_store(store_url, worker="one", now=lambda: float(next(ticks))) as store:
        await store.tree_trials.keep("verified", "a", {"verdict": "refuted"})
        await store.tree_trials.keep("verified", "a", {"verdict": "proven"})
        await store.tree_trials.keep("verified", "b", {"verdict": "refuted"})
        await store.tree_trials.keep("tested", "a", {"oracle": {"passed": 1, "scenarios": 2}})
        found = await store.tree_trials.find("verified", ["a", "c"])
        assert [trial.data for trial in found.values()] == [{"verdict": "proven"}]
        assert found["a"].at > 100
        assert await store.tree_trials.find("verified", []) == {}
        tested = (await store.tree_trials.find("tested", ["a"]))["a"]
        assert tested == TreeTrial({"oracle": {"passed": 1, "scenarios": 2}}, tested.at)


async def test_of_many_results_the_newest_are_kept(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trees._MOST_KEPT == 1_000
    monkeypatch.setattr(trees, "_MOST_KEPT", 20)
    ticks = count()
    async with open_store(store_url, worker="one", now=lambda: float(next(ticks))) as store:
        subjects = [str(at) for at in range(23)]
        for subject in subjects:
            await store.tree_trials.keep("verified", subject, {"verdict": "proven"})
        assert set(await store.tree_trials.find("verified", subjects)) == set(subjects[3:])


async def test_two_workers_keep_one_result(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        stores: list[Store] = [one, two] * 15
        await asyncio.gather(*(store.tree_trials.keep("verified", "a", {"verdict": "proven"}) for store in stores))
        assert [trial.data for trial in (await two.tree_trials.find("verified", ["a"])).values()] == [
            {"verdict": "proven"}
        ]
