"""Breakpoints are kept, and found for the runs that they mean."""

import pytest

from oracle.core.errors import UserError
from oracle.runs.storage.breakpoints import MOST_BREAKPOINTS, Breakpoint
from oracle.runs.storage.records import NewRun, RunCommand
from oracle.runs.storage.store import Store, open_store


async def test_breakpoints_are_found_for_the_runs_that_they_mean(store: Store) -> None:
    kept = [
        Breakpoint("any", "error", "olga", at=1),
        Breakpoint("tree", "node", "olga", tree="oracle", path="loop/llm_turn ünïcödé \0", at=2),
        Breakpoint("run", "condition", "olga", run_id="r1", expression="turn > 3", at=3),
        Breakpoint("user", "start", "olga", tree="oracle", user_id="ann", at=4),
        Breakpoint("off", "start", "olga", enabled=False, at=5),
    ]
    for each in kept:
        await store.breakpoints.add(each)
    assert await store.breakpoints.all() == kept

    async def found(run_id: str, tree: str, user_id: str) -> list[str]:
        return [each.id for each in await store.breakpoints.of(run_id, tree=tree, user_id=user_id)]

    assert await found("r1", "oracle", "ann") == ["any", "tree", "run", "user"]
    assert await found("r2", "oracle", "bob") == ["any", "tree"]
    assert await found("r2", "other", "ann") == ["any"]


async def test_a_breakpoint_is_turned_off_and_on_and_removed(store: Store) -> None:
    await store.breakpoints.add(Breakpoint("one", "start", "olga"))
    off = await store.breakpoints.set_enabled("one", enabled=False)
    assert off == Breakpoint("one", "start", "olga", enabled=False)
    assert await store.breakpoints.of("r", tree="oracle", user_id="ann") == []
    assert await store.breakpoints.remove("one") == off
    for gone in ("one", "\0", "x" * 100):
        assert await store.breakpoints.remove(gone) is None
        assert await store.breakpoints.set_enabled(gone, enabled=True) is None


async def test_their_number_is_bounded(store: Store) -> None:
    for n in range(MOST_BREAKPOINTS):
        await store.breakpoints.add(Breakpoint(f"b{n}", "start", "olga"))
    with pytest.raises(UserError, match="remove some"):
        await store.breakpoints.add(Breakpoint("more", "start", "olga"))


async def test_they_outlive_the_process(store_url: str) -> None:
    for is_first in (True, False):
        async with open_store(store_url, worker=f"w{is_first}") as opened:
            if is_first:
                await opened.breakpoints.add(Breakpoint("one", "start", "olga"))
            assert [each.id for each in await opened.breakpoints.all()] == ["one"]


def new_run(name: str, tree: str, user_id: str) -> NewRun:
    return NewRun(name, user_id, f"c-{name}", tree, {"question": "Why?"}, {}, 60)


async def test_a_command_reaches_all_running_queries_that_it_means(store: Store) -> None:
    got: list[RunCommand] = []
    for name, tree, user_id in (("r1", "oracle", "ann"), ("r2", "oracle", "bob"), ("r3", "other", "ann")):
        await store.runs.begin(new_run(name, tree, user_id))
    store.commands.subscribe(got.append)
    await store.commands.send_to_all("breakpoints", tree="oracle")
    await store.commands.send_to_all("breakpoints", user_id="ann")
    await store.commands.send_to_all("breakpoints", run_id="r3")
    await store.commands.send_to_all("breakpoints", tree="none")
    while len(got) < 5:
        await store.write(lambda _: None)
    assert sorted(each.run_id for each in got) == ["r1", "r1", "r2", "r3", "r3"]
    assert {(each.kind, tuple(each.data)) for each in got} == {("breakpoints", ())}


async def test_the_deadline_of_a_running_query_is_moved(store: Store) -> None:
    before = await store.runs.begin(new_run("r1", "oracle", "ann"))
    await store.runs.extend_deadline("r1", by_s=41.5)
    after = await store.runs.find("r1")
    assert after is not None
    assert after.deadline_at == before.deadline_at + 41.5
