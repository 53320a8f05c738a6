"""The rows of runs: begun, found, listed."""

import asyncio

import pytest
from sqlalchemy import func, select

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.runs.storage import schema
from oracle.runs.storage.errors import RunLostError, TooManyRunsError
from oracle.runs.storage.records import RunCommand, RunRecord
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import DONE, END, Hands, begun, content, heard, latest, new_run


async def test_a_run_is_found_as_it_was_begun(store: Store) -> None:
    new = new_run(input={"question": "Wo? 🌳 \x00"}, limits={"max_iterations": 3}, tree_sha="f" * 64, timeout_s=60.0)
    run = await store.runs.begin(new)
    assert (run.id, run.user_id, run.context_id, run.worker) == ("run-1", "ann", "context-of-run-1", "worker-1")
    assert (run.status, run.epoch, run.tree, run.tree_sha) == ("running", 1, "oracle", "f" * 64)
    assert (run.input, run.limits) == ({"question": "Wo? 🌳 \x00"}, {"max_iterations": 3})
    assert run.deadline_at == run.created_at + 60.0
    assert run.termination_reason is run.answer is run.error is run.finished_at is None
    assert await store.runs.find("run-1") == run
    assert await store.runs.open_of("context-of-run-1") == run


async def test_a_run_is_found_by_its_user_alone(store: Store) -> None:
    await store.runs.begin(new_run())
    assert await store.runs.find("run-1", user_id="ann") is not None
    assert await store.runs.find("run-1", user_id="bob") is None
    assert await latest(store, user_id="bob", limit=9) == []
    assert len(await latest(store, user_id=None, limit=9)) == 1


@pytest.mark.parametrize("run_id", ["nobody", "", "a\x00b", "\ud800", "ü", "x" * 1000], ids=ascii)
async def test_what_is_no_name_names_nothing(store: Store, run_id: str) -> None:
    assert await store.runs.find(run_id) is None
    assert await store.runs.open_of(run_id) is None
    assert await latest(store, user_id="ann", limit=5, before=run_id) == []
    with pytest.raises(UnknownConversationError):
        await store.runs.begin(new_run(context_id=run_id, begins_conversation=False))


async def test_the_conversation_of_another_user_does_not_exist(store: Store) -> None:
    await begun(store, "first", context_id="c")
    messages = []
    for context_id in ("c", "d"):
        with pytest.raises(UnknownConversationError) as caught:
            await store.runs.begin(new_run("bobs", user_id="bob", context_id=context_id, begins_conversation=False))
        messages.append(str(caught.value).replace(repr(context_id), "…"))
    assert messages[0] == messages[1]


async def test_a_user_has_as_many_runs_as_one_may(store: Store) -> None:
    news = [new_run(f"run-{number}") for number in range(6)]
    results = await asyncio.gather(*(store.runs.begin(new, most_per_user=2) for new in news), return_exceptions=True)
    assert [type(result) for result in results] == [RunRecord] * 2 + [TooManyRunsError] * 4
    assert await store.runs.begin(new_run("bobs", user_id="bob"), most_per_user=2)
    await store.log.writer(results[0]).finish(DONE, END)  # type: ignore[arg-type]
    assert await store.runs.begin(new_run("next"), most_per_user=2)


async def test_an_abandoned_run_leaves_no_trace(store: Store) -> None:
    log = await begun(store)
    log.chunk(content("a"))
    await log.flush()
    await store.commands.send(RunCommand("run-1", "cancel"))
    for _ in range(2):
        await store.runs.abandon("run-1", created_conversation=new_run().created_conversation)
    for table in (schema.run, schema.event, schema.conversation, schema.command):
        query = select(func.count()).select_from(table)
        assert await store.database.read(lambda connection, query=query: connection.scalar(query)) == 0


async def test_an_abandoned_run_leaves_a_conversation_that_was_there_before(store: Store) -> None:
    log = await begun(store, "first", context_id="c")
    await log.finish(DONE, END)
    await store.runs.begin(new_run("second", context_id="c", begins_conversation=False))
    await store.runs.abandon("second")
    assert await store.runs.begin(new_run("third", context_id="c", begins_conversation=False))


async def test_an_abandoned_run_leaves_an_empty_conversation_that_it_has_not_created(store: Store) -> None:
    made = await store.conversations.create("ann")
    new = new_run(context_id=made.context_id, begins_conversation=False)
    await store.runs.begin(new)
    await store.runs.abandon(new.id, created_conversation=new.created_conversation)
    assert await store.conversations.load("ann", made.context_id) == made


async def test_the_latest_runs_come_in_pages(timed_sqlite: Store, clock: Hands) -> None:
    for number in range(7):
        await timed_sqlite.runs.begin(new_run(f"run-{number}"))
        clock.at_s += number % 2  # some have the same time
    pages, before = list[list[str]](), None
    while page := await latest(timed_sqlite, user_id="ann", limit=3, before=before):
        pages.append([run.id for run in page])
        before = pages[-1][-1]
    assert pages == [["run-6", "run-5", "run-4"], ["run-3", "run-2", "run-1"], ["run-0"]]


async def test_what_begins_after_the_clock_went_back_is_still_the_newest(store_url: str, clock: Hands) -> None:
    async with open_store(store_url, worker="worker-1", now=clock) as store:
        for at_s, name in ((1_000.0, "first"), (400.0, "second"), (700.0, "third")):
            clock.at_s = at_s
            await store.runs.begin(new_run(name))
        runs = await latest(store, user_id="ann", limit=9)
        assert [run.id for run in runs] == ["third", "second", "first"]
        assert [run.id for run in await latest(store, user_id=None, limit=9, before="second")] == ["first"]
        listed = await store.conversations.list("ann")
        assert [each.context_id for each in listed] == [f"context-of-{run.id}" for run in runs]


async def test_the_runs_of_one_conversation_are_listed_alone(store: Store) -> None:
    for name in ("one", "two"):
        await (await begun(store, name)).finish(DONE, END)
    await begun(store, "more", context_id="context-of-one", begins_conversation=False)
    found = await latest(store, user_id="ann", limit=9, context_id="context-of-one")
    assert [run.id for run in found] == ["more", "one"]
    assert await latest(store, user_id="bob", limit=9, context_id="context-of-one") == []


async def test_the_mark_of_a_page_is_ones_own_run(store: Store) -> None:
    await store.runs.begin(new_run())
    await store.runs.begin(new_run("bobs", user_id="bob"))
    assert await latest(store, user_id="ann", limit=5, before="bobs") == []


async def test_who_has_lost_a_run_writes_nothing_more(store: Store) -> None:
    told = list[str]()
    log = await begun(store)
    log.on_lost = lambda: told.append("lost")
    log.chunk(content("a"))
    await log.flush()
    (taken,) = await store.claims.take_over(None)
    log.chunk(content("never"))
    with pytest.raises(RunLostError, match="another worker has taken the run 'run-1' over"):
        await log.flush()
    with pytest.raises(RunLostError):
        await log.finish(DONE, END)
    assert (log.is_lost, told) == (True, ["lost"])
    assert await store.log.last_chunk("run-1") == 1
    await store.log.writer(taken, seq=1, chunk_n=1).finish(DONE, END)
    assert await heard(store) == [1, 2]
