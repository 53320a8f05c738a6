"""A request that is sent again finds its run: once for each key and user, on every worker, for a day."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from oracle.agent.conversations.protocol import UnknownConversationError
from oracle.runs.storage.errors import AlreadyBegunError, KeyReusedError, TooManyRunsError
from oracle.runs.storage.request_keys import RequestKey, request_key
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import DONE, END, begun, latest, new_run

KEY = RequestKey("ann-1", "question-1")
DAY_S = 24 * 3600.0


async def kept(store: Store) -> list[tuple]:
    columns = request_key.c
    query = select(columns.id, columns.run_id, columns.body).order_by(columns.id)
    return await store.database.read(lambda connection: [tuple(row) for row in connection.execute(query)])


async def test_a_key_names_the_run_that_it_has_begun(store: Store) -> None:
    assert await store.request_keys.run_of(KEY) is None
    await begun(store, "first", claims=(KEY,))
    with pytest.raises(AlreadyBegunError) as repeated:
        await begun(store, "second", claims=(KEY,))
    assert repeated.value.run_id == "first"
    assert await store.request_keys.run_of(KEY) == "first"
    assert await store.runs.find("second") is None


async def test_a_key_of_another_name_begins_another_run(store: Store) -> None:
    await begun(store, "first", claims=(KEY,))
    await begun(store, "second", claims=(replace(KEY, id="bob-1"),))
    assert await kept(store) == [("ann-1", "first", "question-1"), ("bob-1", "second", "question-1")]


async def test_a_key_with_another_request_is_refused(store: Store) -> None:
    await begun(store, "first", claims=(KEY,))
    other = replace(KEY, body="question-2")
    with pytest.raises(KeyReusedError):
        await begun(store, "second", claims=(other,))
    with pytest.raises(KeyReusedError):
        await store.request_keys.run_of(other)


async def test_of_many_requests_with_one_key_at_once_one_begins_a_run(store: Store) -> None:
    begins = [begun(store, f"run-{number}", claims=(KEY,)) for number in range(20)]
    ended = await asyncio.gather(*begins, return_exceptions=True)
    (first,) = [each for each in ended if not isinstance(each, AlreadyBegunError)]
    assert {each.run_id for each in ended if isinstance(each, AlreadyBegunError)} == {first.run_id}
    assert len(await latest(store, user_id="ann", limit=99)) == 1


async def test_of_many_requests_with_one_key_to_two_workers_one_begins_a_run(postgresql_url: str) -> None:
    async with open_store(postgresql_url, worker="one") as one, open_store(postgresql_url, worker="two") as two:
        for key in range(10):
            begins = [
                begun(store, f"run-{key}-{number}-{store.worker}", claims=(RequestKey(f"key-{key}", "body"),))
                for number in range(5)
                for store in (one, two)
            ]
            ended = await asyncio.gather(*begins, return_exceptions=True)
            assert sum(not isinstance(each, AlreadyBegunError) for each in ended) == 1
        assert len(await latest(one, user_id="ann", limit=99)) == 10


async def test_a_key_names_its_run_after_a_restart_and_on_another_worker(store_url: str) -> None:
    async with open_store(store_url, worker="one") as store:
        await begun(store, "first", claims=(KEY,))
    async with open_store(store_url, worker="two") as store:
        assert await store.request_keys.run_of(KEY) == "first"


async def test_a_run_that_could_not_be_begun_leaves_its_key_free(store: Store) -> None:
    with pytest.raises(UnknownConversationError):
        await begun(store, "first", claims=(KEY,), context_id="never-was", begins_conversation=False)
    await begun(store, "busy")
    with pytest.raises(TooManyRunsError):
        await store.runs.begin(new_run("first", claims=(KEY,)), most_per_user=1)
    assert await kept(store) == []


async def test_an_abandoned_run_leaves_its_key_free(store: Store) -> None:
    await begun(store, "first", claims=(KEY,))
    await store.runs.abandon("first")
    assert await store.request_keys.run_of(KEY) is None
    await begun(store, "second", claims=(KEY,))
    assert await store.request_keys.run_of(KEY) == "second"


async def test_after_a_day_a_key_can_be_used_again(store_url: str) -> None:
    times = [0.0]
    async with open_store(store_url, worker="one", now=lambda: times[0]) as store:
        await begun(store, "first", claims=(KEY,))
        times[0] = DAY_S - 1
        assert await store.request_keys.run_of(KEY) == "first"
        times[0] = DAY_S
        other = replace(KEY, body="question-2")
        assert await store.request_keys.run_of(other) is None
        await begun(store, "second", claims=(other,))
        assert await kept(store) == [("ann-1", "second", "question-2")]


async def test_retention_deletes_keys_after_a_day(store_url: str) -> None:
    times = [0.0]
    async with open_store(store_url, worker="one", now=lambda: times[0]) as store:
        await begun(store, "first", claims=(KEY,))
        times[0] = 10.0
        await begun(store, "second", claims=(replace(KEY, id="ann-2"),))
        times[0] = DAY_S
        await store.retention.prune(older_than_s=None, most_bytes=None)
        assert [name for name, _, _ in await kept(store)] == ["ann-2"]


async def test_a_forgotten_conversation_leaves_no_digest_of_its_questions(store: Store) -> None:
    log = await begun(store, "first", claims=(KEY,))
    await log.finish(DONE, END)
    await store.conversations.forget("ann", "context-of-first")
    assert await kept(store) == [("ann-1", "first", "")]
    assert await store.request_keys.run_of(replace(KEY, body="whatever")) == "first"
