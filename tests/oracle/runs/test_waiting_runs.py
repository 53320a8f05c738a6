"""Runs that wait for a place, are claimed, and are handed over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from oracle.runs.options import RunOptions
from oracle.runs.storage.store import Store, open_store
from tests.acceptance.harness import CODE_QUESTION, answers, says
from tests.oracle.runs.running import PATIENCE_S, Managed, managed, settle
from tests.support.waiting import until

ONE = RunOptions(most_here=1, reader_grace_s=60)
HANGING = says("Half of the", hang=True)


async def until_status(store: Store, run_id: str, status: str) -> None:
    """Wait for what another task writes to the row."""

    async def has_it() -> bool:
        return (run := await store.runs.find(run_id)) is not None and run.status == status

    await until(has_it, guard_s=PATIENCE_S)


async def test_a_query_without_a_place_waits_is_told_so_and_begins_when_another_ends(store: Store) -> None:
    async with managed(store, [HANGING, answers("Two."), answers("Three.")], options=ONE) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = [await it.start() for _ in range(2)]
        assert [live.record.status for live in waiting] == ["queued"] * 2
        assert it.manager.active == 1
        first.cancel()
        told = [await it.told(live.record) for live in waiting]
    assert [each.text for each in told] == ["Two.", "Three."]
    assert [each.chunks[0]["system_message"] for each in told] == [
        f"The service is busy. Your question waits for its turn, at place {place}." for place in (1, 2)
    ]
    for each in told:
        assert each.chunks[0]["metadata"]["place"] in (1, 2)
        assert [chunk["type"] for chunk in each.chunks].count("system") == 1
        assert each.record.summary is not None
        assert (each.record.attempts, each.record.summary.notices) == (0, 1)


async def test_users_take_turns(store: Store) -> None:
    options = RunOptions(most_here=1)
    async with managed(store, [HANGING, *(answers(f"{n}.") for n in range(4))], options=options) as it:
        first = await it.start(user_id="ann")
        await it.until_text(first.record, "Half of the")
        ann = [await it.start(user_id="ann") for _ in range(3)]
        bob = await it.start(user_id="bob")
        first.cancel()
        texts = [(await it.told(live.record)).text for live in (*ann, bob)]
    assert texts == ["0.", "2.", "3.", "1."]


async def test_a_user_has_so_many_running_and_others_do_not_wait_for_that(store: Store) -> None:
    options = RunOptions(most_at_once=1)
    async with managed(store, [HANGING, answers("Bob."), answers("Ann.")], options=options) as it:
        first = await it.start(user_id="ann")
        await it.until_text(first.record, "Half of the")
        second = await it.start(user_id="ann")
        assert second.record.status == "queued"
        bob = await it.start(user_id="bob")
        assert bob.record.status == "running"
        assert (await it.told(bob.record)).text == "Bob."
        first.cancel()
        assert (await it.told(second.record)).text == "Ann."


async def test_a_query_that_waits_is_cancelled_at_once(store: Store) -> None:
    async with managed(store, [HANGING], options=ONE) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start()
        await it.manager.cancel(waiting.record)
        told = await it.told(waiting.record)
        assert (told.text, told.record.termination_reason) == ("", "user_cancelled")
        running = await store.runs.find(first.record.id)
        assert running is not None
        assert running.status == "running"


async def test_a_query_that_waits_is_cancelled_when_its_reader_stays_away(store: Store) -> None:
    async with managed(store, [HANGING], options=ONE) as it:
        first = await it.start(is_detached=True, limits={"timeout_seconds": 600})
        await it.until_text(first.record, "Half of the")
        waiting = await it.start()
        with it.manager.attach(waiting.record):
            await settle()
        await settle()
        it.clock.advance(60)
        assert (await it.told(waiting.record)).record.termination_reason == "user_cancelled"


async def test_a_query_that_waited_begins_on_the_tree_as_it_is_then(store: Store) -> None:
    async with managed(store, [HANGING, answers("Two.")], options=ONE) as it:
        tree = it.harness.trees / "mine.yaml"
        tree.write_text("tree: mine\ndescription: First.\nroot: {sequence: [compose_prompt, llm_turn]}\n")
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start(tree="mine")
        tree.write_text("tree: mine\ndescription: Second.\nroot: {sequence: [compose_prompt, llm_turn]}\n")
        first.cancel()
        told = await it.told(waiting.record)
        assert told.text == "Two."
        assert told.record.tree_sha not in (None, waiting.record.tree_sha)
        version = await store.trees.find(told.record.tree_sha or "")
        assert version is not None
        assert any("Second." in text for text in version.source.values())


async def test_a_query_that_waits_when_the_service_ends_is_answered_after_the_next_start(url: str) -> None:
    async with open_store(url, worker="first") as store, managed(store, [HANGING], options=ONE) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start()
    turns = [answers("Later.")] * 2  # the run that was interrupted asks again as well, before this one or after it
    async with open_store(url, worker="second") as store, managed(store, turns) as it:
        assert (await it.told(waiting.record)).text == "Later."
        assert (await it.told(first.record)).text.startswith("Half of the")


async def test_a_service_that_ends_begins_nothing_that_waits(store: Store) -> None:
    async with managed(store, [HANGING, answers("Too late.")], options=ONE) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start()

        async def be_slow() -> None:
            """What is claimed when the first run has been cancelled is written before this."""
            await store.write(lambda _: None)

        it.manager._stack.push_async_callback(be_slow)
    left = await store.runs.find(waiting.record.id)
    assert left is not None
    assert (left.status, left.epoch) == ("queued", waiting.record.epoch)


@pytest.fixture
async def workers(postgresql_url: str) -> AsyncIterator[tuple[Managed, Managed]]:
    """Two workers on one database, each of which answers by its name."""
    async with AsyncExitStack() as stack:
        made = []
        for name in ("one", "two"):
            store = await stack.enter_async_context(open_store(postgresql_url, worker=name))
            turns = [HANGING, *(answers(f"By {name}.") for _ in range(4))]
            made.append(await stack.enter_async_context(managed(store, turns, options=ONE)))
        yield made[0], made[1]


async def test_another_worker_that_has_a_place_takes_what_waits(workers: tuple[Managed, Managed]) -> None:
    one, two = workers
    first = await one.start()
    await one.until_text(first.record, "Half of the")
    told_first = await one.start()  # hangs on the other worker
    await two.until_text(told_first.record, "Half of the")
    run = await one.store.runs.find(told_first.record.id)
    assert run is not None
    assert run.worker == "two"
    waiting = await one.start()
    await two.manager.cancel(told_first.record)
    assert (await one.told(waiting.record)).text == "By two."


async def test_what_a_worker_leaves_when_it_stops_is_claimed_at_once(workers: tuple[Managed, Managed]) -> None:
    one, two = workers
    live = await one.start(CODE_QUESTION)
    await one.until_text(live.record, "Half of the")
    draining = asyncio.create_task(one.manager.drain())
    await settle()
    one.clock.advance(10)
    await draining
    await until_status(two.store, live.record.id, "running")
    await two.manager.cancel(live.record)  # the model of the other worker hangs as well
    told = await two.told(live.record)
    assert (told.record.worker, told.record.epoch) == ("two", 2)
    assert told.text.startswith("Half of the")


async def test_what_was_claimed_and_not_begun_is_given_back(store: Store) -> None:
    async with managed(store, [HANGING], options=ONE) as it:
        first = await it.start()
        await it.until_text(first.record, "Half of the")
        waiting = await it.start()
        draining = asyncio.create_task(it.manager.drain())
        await settle()
        (claimed,) = await store.claims.claim(1)
        it.manager._upkeep.take(claimed)
        await until_status(store, waiting.record.id, "queued")
        it.clock.advance(10)
        await draining
    left = await store.runs.find(waiting.record.id)
    assert left is not None
    assert (left.status, left.attempts) == ("queued", 0)
