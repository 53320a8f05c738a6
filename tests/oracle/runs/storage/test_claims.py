"""Who runs what: heartbeats, locks, and claims of runs that wait or have lost their worker."""

import asyncio
import json

import psycopg
import pytest
from sqlalchemy import update

from bt_runtime.testing import FakeClock
from oracle.runs.storage import schema
from oracle.runs.storage.claims import Presence, Sighting
from oracle.runs.storage.records import Places
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.making import DONE, END, Hands, beats, begun, heard, new_run
from tests.oracle.runs.storage.proxy import proxied
from tests.support.waiting import until

_END_HOLDERS = """
    SELECT pg_terminate_backend(pid) FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


async def beat_of(store: Store, worker: str) -> float | None:
    query = schema.worker.select().where(schema.worker.c.name == worker)
    row = await store.database.read(lambda connection: connection.execute(query).first())
    return None if row is None else row.beat_at


async def holds(store: Store) -> None:
    """Wait until the worker holds its lock, and has said so."""
    await until(lambda: store.claims.presence.has_lock)
    await store.claims.beat()


async def test_the_only_worker_has_a_heartbeat_while_it_runs_something(timed_sqlite: Store, clock: Hands) -> None:
    await timed_sqlite.claims.beat()
    assert await beat_of(timed_sqlite, "worker-1") is None
    clock.at_s = 1_000.0
    log = await begun(timed_sqlite)
    for at_s in (1_001.0, 1_002.0):
        clock.at_s = at_s
        await timed_sqlite.claims.beat()
        assert await beat_of(timed_sqlite, "worker-1") == at_s
    await log.finish(DONE, END)
    clock.at_s = 1_003.0
    await timed_sqlite.claims.beat()
    assert await beat_of(timed_sqlite, "worker-1") == 1_002.0


async def test_workers_that_are_not_heard_of_for_a_day_are_forgotten(timed_sqlite: Store, clock: Hands) -> None:
    for name, at_s in (("long ago", 1.0), ("yesterday", 60_000.0)):
        row = {"name": name, "beat_at": at_s, "has_lock": False}
        await timed_sqlite.write(lambda connection, row=row: connection.execute(schema.worker.insert(), row).close())
    clock.at_s = 100_000.0
    await begun(timed_sqlite)
    await timed_sqlite.claims.beat()
    assert [await beat_of(timed_sqlite, name) for name in ("long ago", "yesterday", "worker-1")] == [
        None,
        60_000.0,
        100_000.0,
    ]


async def test_at_the_start_of_the_only_server_every_running_run_is_taken(sqlite_url: str) -> None:
    async with open_store(sqlite_url, worker="before") as store:
        for number in range(3):
            await store.runs.begin(new_run(f"run-{number}"))
        await (await begun(store, "ended")).finish(DONE, END)
    async with open_store(sqlite_url, worker="after") as store:
        taken = await store.claims.take_over(None, most=2)
        assert [(run.id, run.worker, run.epoch) for run in taken] == [(f"run-{n}", "after", 2) for n in range(2)]
        assert await store.runs.find("run-1") == taken[1]


async def test_runs_of_this_worker_are_not_silent_however_long_it_slept(timed_sqlite: Store, clock: Hands) -> None:
    await timed_sqlite.runs.begin(new_run())
    clock.at_s += 1_000
    assert await beats(timed_sqlite) == {}
    assert await timed_sqlite.claims.take_over({"worker-1": 1_000.0}) == []


async def test_the_time_until_the_first_claim_does_not_count(timed_sqlite: Store, clock: Hands) -> None:
    clock.at_s = 1_000.0
    await timed_sqlite.runs.begin(new_run(timeout_s=60), places=Places(here=0))
    clock.at_s += 500
    (claimed,) = await timed_sqlite.claims.claim(8)
    assert claimed.deadline_at == 1_560.0
    clock.at_s += 20
    (taken,) = await timed_sqlite.claims.take_over(None)
    assert taken.deadline_at == 1_560.0


async def test_what_may_have_killed_workers_is_taken_over_by_itself_the_least_suspect_first(store: Store) -> None:
    for name, claims in (("deadly", 3), ("unlucky", 2), ("new", 1), ("busy", 2)):
        log = await begun(store, name)
        attempts = update(schema.run).where(schema.run.c.id == name).values(attempts=claims, worker="gone")
        await store.write(lambda connection, attempts=attempts: connection.execute(attempts).close())
        if name == "busy":
            log.append("tool_end", b"{}", step_key="call")
            await log.flush()
    dead = {"gone": 0.0}
    others = await store.claims.take_over(dead, suspects=False)
    assert [(run.id, run.attempts) for run in others] == [("new", 2), ("busy", 1)]
    assert await store.claims.take_over(dead, suspects=False) == []
    found = [await store.claims.take_over(dead, most=1, suspects=True) for _ in range(3)]
    assert [(run.id, run.attempts) for runs in found for run in runs] == [("unlucky", 3), ("deadly", 4)]


async def test_who_waits_is_told_its_place_in_the_commit_that_begins_the_run(store: Store) -> None:
    told = list[str]()
    store.claims.subscribe(lambda: told.append("look"))
    for number in range(3):
        new = new_run(f"run-{number}")
        await store.runs.begin(new, places=Places(here=0), notice=lambda place: json.dumps({"place": place}).encode())
    pages = [await store.log.page(f"run-{number}") for number in range(3)]
    assert [page and [(chunk.n, json.loads(chunk.data)) for chunk in page.chunks] for page in pages] == [
        [(1, {"place": place})] for place in (1, 2, 3)
    ]
    assert told.count("look") >= 3
    (claimed,) = await store.claims.claim(1)
    await store.log.writer(claimed, seq=1, chunk_n=1).finish(DONE, END)
    assert await heard(store, claimed.id) == [1, 2]


async def test_one_run_is_claimed_whoever_else_waits(store: Store) -> None:
    for number in range(2):
        await store.runs.begin(new_run(f"run-{number}"), places=Places(here=0))
    assert [run.id for run in await store.claims.claim(1, Places(here=0), only="run-1")] == ["run-1"]
    assert await store.claims.claim(1, only="run-1") == []
    log = await begun(store, "asks")
    await log.leave(is_parked=True)
    assert [run.id for run in await store.claims.claim(1, only="asks")] == ["asks"]


async def test_a_thousand_that_wait_are_claimed_once_each(two: tuple[Store, Store]) -> None:
    one, other = two
    for start in range(0, 200, 50):
        news = (new_run(f"run-{number}", user_id=f"user-{number % 7}") for number in range(start, start + 50))
        await asyncio.gather(*(one.runs.begin(new, places=Places(here=0)) for new in news))

    async def claims(store: Store) -> list[str]:
        found = list[str]()
        while (await store.claims.sightings()).has_queued:
            found += [run.id for run in await store.claims.claim(8, Places(in_all=1_000))]
        return found

    shares = await asyncio.gather(claims(one), claims(other))
    assert sorted(run for share in shares for run in share) == sorted(f"run-{number}" for number in range(200))


async def test_the_bound_of_all_holds_for_all_workers_together(two: tuple[Store, Store]) -> None:
    places = Places(in_all=3)
    news = [new_run(f"run-{number}") for number in range(12)]
    begun_runs = await asyncio.gather(*(two[at % 2].runs.begin(new, places=places) for at, new in enumerate(news)))
    assert sum(run.status == "running" for run in begun_runs) == 3
    claims = await asyncio.gather(*(store.claims.claim(8, places) for store in two * 3))
    assert [run for runs in claims for run in runs] == []


async def test_a_worker_that_dies_leaves_its_lock(postgresql_url: str, two: tuple[Store, Store]) -> None:
    one, other = two
    await begun(one)
    await holds(one)
    assert (await other.claims.sightings()).workers == {"one": Sighting(await beat_of(one, "one") or 0.0)}
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(_END_HOLDERS)
    async with asyncio.timeout(20):
        while not (await other.claims.sightings()).workers["one"].is_free and one.claims.presence.has_lock:
            pass
    await until(lambda: not one.claims.presence.can_judge)  # it has noticed, and may have the lock again
    await holds(one)
    assert not (await other.claims.sightings()).workers["one"].is_free
    assert not one.claims.presence.can_judge  # the locks of others may have gone with its own


async def test_a_worker_without_its_lock_is_judged_by_its_heartbeat(two: tuple[Store, Store]) -> None:
    one, other = two
    await begun(one)
    assert (await other.claims.sightings()).workers == {"one": Sighting(0.0)}  # it has not written any yet
    await holds(one)
    unheld = update(schema.worker).where(schema.worker.c.name == "one").values(has_lock=False)
    await one.write(lambda connection: connection.execute(unheld).close())
    one.claims.presence.lost()
    assert not (await other.claims.sightings()).workers["one"].is_free


def test_who_has_just_regained_its_lock_does_not_judge_others_by_theirs() -> None:
    clock = FakeClock(jump=False)
    presence = Presence(clock)
    assert not presence.can_judge
    presence.gained()
    assert presence.can_judge
    presence.lost()
    assert not presence.can_judge
    presence.gained()
    clock.advance(2.9)
    assert not presence.can_judge
    clock.advance(0.1)
    assert presence.can_judge


@pytest.mark.long("waits for a server that comes and goes")
async def test_a_lock_is_taken_again_with_the_next_connection(postgresql_url: str) -> None:
    async with proxied(postgresql_url) as (url, proxy), open_store(url, worker="one") as one:
        await holds(one)
        proxy.cut()
        await until(lambda: not one.claims.presence.has_lock)
        await holds(one)
