"""The outbox: a message is there exactly if what it tells of is, and one worker has it at a time."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from sqlalchemy import select, update

from oracle.runs.storage import schema
from oracle.runs.storage.errors import RunLostError
from oracle.runs.storage.store import Store, open_store
from oracle.runs.storage.webhooks import CLAIM_S, KEPT_S, webhook
from tests.oracle.runs.storage.making import DONE, END, begun, new_run

URL, OTHER = "https://hooks.example.com/a", "https://other.example.com/b"
_table = webhook
ASKED = {
    "id": "ask-1",
    "reason": "tool_call",
    "message": "May I write the note about Ann?",
    "may": ["approve", "refuse"],
    "response_schema": {},
    "on_expiry": "refuse",
    "tool_name": "vault_write",
    "arguments": {"body": "a secret"},
    "expires_at": "2026-12-01T00:00:00Z",
}


@pytest.fixture
async def stores(store_url: str) -> AsyncIterator[list[Store]]:
    """Two on PostgreSQL, one on SQLite; both tell two addresses."""
    async with AsyncExitStack() as stack:
        names = ("one", "two") if store_url.startswith("postgresql") else ("one",)
        yield [
            await stack.enter_async_context(open_store(store_url, worker=name, webhook_urls=(URL, OTHER)))
            for name in names
        ]


async def rows(store: Store) -> list[Any]:
    return await store.database.read(
        lambda connection: list(connection.execute(select(_table).order_by(_table.c.created_at, _table.c.url)))
    )


async def age(store: Store, seconds: float) -> None:
    """Make all messages older, and due."""
    change = update(_table).values(created_at=_table.c.created_at - seconds, due_at=_table.c.due_at - seconds)
    await store.write(lambda connection: connection.execute(change))


async def test_the_end_of_a_run_is_told_to_each_address_without_its_texts(stores: list[Store]) -> None:
    store = stores[0]
    log = await begun(store)
    assert await rows(store) == []
    await log.finish(DONE, END)
    first, second = await rows(store)
    assert (first.url, second.url) == (URL, OTHER)
    assert first.id != second.id
    assert first.body == second.body
    body = json.loads(first.body)
    assert (body["type"], body["timestamp"][-1]) == ("run.finished", "Z")
    assert body["data"] == {
        "run_id": "run-1",
        "context_id": "context-of-run-1",
        "user_id": "ann",
        "termination_reason": "completed",
        "error_type": None,
        "turns": 1,
        "tokens_used": 12,
        "tokens_estimated": False,
    }
    assert END.answer.encode() not in first.body


async def test_an_end_that_is_not_written_is_not_told(stores: list[Store]) -> None:
    store = stores[0]
    log = await begun(store)
    await store.write(lambda connection: connection.execute(update(schema.run).values(epoch=2)))
    with pytest.raises(RunLostError):
        await log.finish(DONE, END)
    assert await rows(store) == []


async def test_shadows_are_not_told_of_and_without_addresses_nothing_is_written(stores: list[Store]) -> None:
    store = stores[0]
    store.webhooks.urls, urls = (), store.webhooks.urls
    await (await begun(store, "quiet")).finish(DONE, END)
    store.webhooks.urls = urls
    shadow = await store.runs.begin(new_run("shadow", shadow_of="quiet"))
    await store.log.writer(shadow).finish(DONE, END)
    assert await rows(store) == []


async def test_what_waits_for_a_person_is_told_once_without_what_it_is_about(stores: list[Store]) -> None:
    store = stores[0]
    run = await store.runs.begin(new_run())
    for _ in range(2):
        await store.write(store.interrupts.noting(run, ASKED))
    first, second = await rows(store)
    assert (first.url, second.url) == (URL, OTHER)
    body = json.loads(first.body)
    assert body["type"] == "run.pending"
    assert body["data"] == {
        "run_id": "run-1",
        "context_id": "context-of-run-1",
        "user_id": "ann",
        "interrupt_id": "ask-1",
        "reason": "tool_call",
        "may": ["approve", "refuse"],
        "answerers": "user",
        "tool_name": "vault_write",
        "expires_at": "2026-12-01T00:00:00.000Z",
    }


async def test_a_message_is_claimed_by_one_worker_until_that_has_had_its_time(stores: list[Store]) -> None:
    for n in range(20):
        await (await begun(stores[0], f"run-{n}")).finish(DONE, END)
    taken = await asyncio.gather(*(store.webhooks.claim(URL, most=5) for store in stores * 4))
    ids = [message.id for messages in taken for message in messages]
    assert all(len(messages) <= 5 for messages in taken)
    while more := await stores[-1].webhooks.claim(URL, most=5):
        ids += [message.id for message in more]
    assert len(ids) == len(set(ids)) == 20
    await age(stores[0], CLAIM_S + 1)
    again = await stores[-1].webhooks.claim(URL, most=30)
    assert {(message.id, message.tries) for message in again} == {(each, 2) for each in ids}
    assert len(await stores[0].webhooks.claim(OTHER, most=30)) == 20


async def test_what_is_delivered_goes_and_what_is_given_up_stays_for_a_while(stores: list[Store]) -> None:
    outbox = stores[0].webhooks
    await (await begun(stores[0])).finish(DONE, END)
    [message] = await outbox.claim(URL, most=5)
    await outbox.failed(message, problem="no" * 1_000, again_s=0.0)
    [again] = await outbox.claim(URL, most=5)
    assert (again.id, again.body, again.tries) == (message.id, message.body, 2)
    await outbox.failed(again, problem="no", again_s=None)
    await age(stores[0], CLAIM_S)
    assert await outbox.claim(URL, most=5) == []
    [other] = await outbox.claim(OTHER, most=5)
    await outbox.delivered(other)
    [left] = await rows(stores[0])
    assert (left.id, left.problem, left.given_up_at is not None) == (message.id, "no", True)
    await outbox.failed(other, problem="no", again_s=None)
    assert len(await rows(stores[0])) == 1
    await age(stores[0], KEPT_S)
    await outbox.failed(other, problem="no", again_s=None)
    assert await rows(stores[0]) == []


async def test_who_waits_is_woken_by_a_commit(stores: list[Store]) -> None:
    news = stores[0].webhooks.news
    log = await begun(stores[0])
    assert not news.is_set()
    await log.finish(DONE, END)
    assert news.is_set()
    assert not stores[0].webhooks.news.is_set()
