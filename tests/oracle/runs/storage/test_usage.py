"""What runs have used, added up on each kind of database."""

import asyncio

import pytest
from sqlalchemy import update

from oracle.core.chunks import TokenUsage
from oracle.runs.storage import schema
from oracle.runs.storage.records import RunEnd
from oracle.runs.storage.run_pages import RunFilter
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import Hands
from tests.oracle.runs.storage.runs_made import begun

DAY_S = 86_400
DONE = b'{"type":"done"}'
USAGE = TokenUsage(100, 10, 1000, 50)


async def used(
    store: Store,
    at: float,
    usage: TokenUsage = USAGE,
    *,
    model: str = "m",
    cache_miss: str | None = None,
    **more: str,
) -> str:
    """A run that has ended at a time."""
    record, log = await begun(store, **more)
    end = RunEnd("completed", "", 2, usage.counted, False, model, usage=usage, cache_miss=cache_miss)
    await log.finish(DONE, end)
    await change(store, record.id, finished_at=at)
    return record.id


async def change(store: Store, run_id: str, **values: object) -> None:
    stands = update(schema.run).where(schema.run.c.id == run_id).values(**values)
    await store.write(lambda connection: connection.execute(stands).close())


async def test_runs_are_added_up_by_day_user_and_model(store: Store) -> None:
    for user, model in (("ann", "m"), ("ann", "m"), ("ann", "n"), ("bob", "m")):
        await used(store, 10 * DAY_S + 5.0, user_id=user, model=model)
    await begun(store, user_id="ann")  # has not ended
    rows = await store.usage.by_day(10, 10, user_id=None, limit=10)
    assert [(row.day, row.user_id, row.model, row.runs) for row in rows] == [
        (10, "ann", "m", 2),
        (10, "ann", "n", 1),
        (10, "bob", "m", 1),
    ]
    assert rows[0].by_kind == USAGE + USAGE
    assert (rows[0].turns, rows[0].tokens_used, rows[0].is_estimated) == (4, 320, False)
    assert {row.user_id for row in await store.usage.by_day(10, 10, user_id="bob", limit=10)} == {"bob"}
    assert len(await store.usage.by_day(10, 10, user_id=None, limit=2)) == 2


async def test_runs_that_missed_the_cache_are_counted_by_their_reason(store: Store) -> None:
    for reason in ("tools_changed", "tools_changed", "unavailable", None):
        await used(store, 0.0, cache_miss=reason)
    await used(store, 0.0, model="n")
    rows = await store.usage.by_day(0, 0, user_id=None, limit=5)
    assert [row.cache_misses for row in rows] == [{"tools_changed": 2, "unavailable": 1}, {}]


@pytest.mark.parametrize(
    ("at", "day"),
    [
        (10 * DAY_S, 10),
        (11 * DAY_S - 1e-5, 10),
        (11 * DAY_S - 0.4, 10),
        (11 * DAY_S, 11),
        (20_000 * DAY_S - 0.001, 19_999),
    ],
)
async def test_a_day_begins_and_ends_at_midnight(store: Store, at: float, day: int) -> None:
    await used(store, at)
    assert [row.day for row in await store.usage.by_day(day, day, user_id=None, limit=5)] == [day]
    assert await store.usage.by_day(day - 1, day - 1, user_id=None, limit=5) == []
    assert await store.usage.by_day(day + 1, day + 1, user_id=None, limit=5) == []


async def test_a_run_without_tokens_has_none_of_any_kind(store: Store) -> None:
    await used(store, 0.0, TokenUsage(), model="")
    (row,) = await store.usage.by_day(0, 0, user_id=None, limit=5)
    assert (row.tokens_used, row.by_kind, row.model) == (0, TokenUsage(), "")


async def test_a_shadow_is_no_users(store: Store) -> None:
    shadow = await used(store, 0.0)
    await change(store, shadow, shadow_of="run-1")
    assert await store.usage.by_day(0, 0, user_id=None, limit=5) == []


async def test_what_chat_products_ask_for_themselves_is_added_to_the_users_figures(
    empty_store_url: str,
) -> None:
    clock = Hands()
    clock.at_s = 11 * DAY_S - 0.5
    async with open_store(empty_store_url, worker="worker-1", now=clock) as store:
        await used(store, 10 * DAY_S + 5.0, user_id="ann", model="m")
        adding = [("ann", "m")] * 20 + [("ann", "n"), ("bob", "m")]
        await asyncio.gather(*(store.usage.add_auxiliary(user, model=model, usage=USAGE) for user, model in adding))
        clock.at_s += 0.5
        await store.usage.add_auxiliary("ann", model="m", usage=TokenUsage(1))
        rows = await store.usage.by_day(10, 10, user_id=None, limit=10)
        assert [(row.user_id, row.model, row.runs, row.turns, row.auxiliary_requests) for row in rows] == [
            ("ann", "m", 1, 2, 20),
            ("ann", "n", 0, 0, 1),
            ("bob", "m", 0, 0, 1),
        ]
        assert rows[0].by_kind == TokenUsage(*(21 * getattr(USAGE, kind) for kind in schema.KINDS))
        assert [(row.tokens_used, row.is_estimated) for row in rows] == [
            (21 * USAGE.counted, False),
            (USAGE.counted, False),
            (USAGE.counted, False),
        ]
        assert [row.model for row in await store.usage.by_day(10, 10, user_id="bob", limit=10)] == ["m"]
        (next_day,) = await store.usage.by_day(11, 11, user_id="ann", limit=10)
        assert (next_day.by_kind, next_day.runs) == (TokenUsage(1), 0)
        assert len(await store.usage.by_day(10, 11, user_id=None, limit=9)) == 4
        assert await store.usage.by_day(12, 12, user_id=None, limit=9) == []


async def test_the_figures_stay_when_texts_are_deleted(store: Store) -> None:
    await used(store, 0.0, user_id="ann")
    (listed,) = (await store.runs.page(RunFilter(), limit=5)).runs
    assert await store.conversations.forget("ann", listed.context_id)
    (row,) = await store.usage.by_day(0, 0, user_id="ann", limit=5)
    assert row.by_kind == USAGE
