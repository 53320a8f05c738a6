"""Which runs a list has, on each kind of database."""

import pytest
from sqlalchemy import update

from oracle.runs.storage import schema
from oracle.runs.storage.archive import open_archive
from oracle.runs.storage.records import RunEnd, RunSummary
from oracle.runs.storage.run_pages import RunFilter
from oracle.runs.storage.store import Store
from tests.oracle.runs.storage.runs_made import begun, ended

DONE = b'{"type":"done"}'


async def asked(store: Store, question: str, *, reason: str = "completed", errors: int = 0, **fields: str) -> str:
    record, log = await begun(store, question=question, **fields)
    await log.finish(DONE, RunEnd(reason, "", 1, 5, False, "m", summary=RunSummary(node_errors=errors)))
    return record.id


async def listed(url: str, **wanted: object) -> list[str]:
    async with open_archive(url) as archive:
        return [record.id for record in await archive.matching(RunFilter(**wanted), limit=10)]


async def test_runs_are_listed_by_what_they_are(store: Store, store_url: str) -> None:
    first = await asked(store, "Why?", reason="stuck", errors=2, tree="a", tree_sha="abc1", user_id="anna")
    second = await asked(store, "How?", tree="b", tree_sha="abd1", user_id="bob")
    running, _ = await begun(store, question="When?", tree="a", user_id="bob")
    old = await ended(store, tree="a")  # without a summary
    assert await listed(store_url) == [old.id, running.id, second, first]
    assert await listed(store_url, reasons=("stuck",)) == [first]
    assert await listed(store_url, reasons=("running",)) == [running.id]
    assert await listed(store_url, reasons=("stuck", "running")) == [running.id, first]
    assert await listed(store_url, tree="b") == [second]
    assert await listed(store_url, version="abc") == [first]
    assert await listed(store_url, version="%") == []
    assert await listed(store_url, user_id="bob") == [running.id, second]
    assert await listed(store_url, with_errors=True) == [first]
    assert await listed(store_url, since=running.created_at + 60) == []
    assert await listed(store_url, slow_s=60) == []
    assert len(await listed(store_url, slow_s=0)) == 4
    assert await listed(store_url, reasons=("stuck",), user_id="bob") == []


async def test_runs_that_wait_are_listed_and_counted_by_what_they_wait_for(store: Store, store_url: str) -> None:
    ids = {}
    for status in ("queued", "running", "parked"):
        record, _ = await begun(store, question="When?")
        stands = update(schema.run).where(schema.run.c.id == record.id).values(status=status)
        await store.write(lambda connection, stands=stands: connection.execute(stands).close())
        ids[status] = record.id
    done = await asked(store, "Why?")
    assert await listed(store_url, reasons=("parked",)) == [ids["parked"]]
    assert await listed(store_url, reasons=("queued", "completed")) == [done, ids["queued"]]
    assert await listed(store_url, statuses=("parked", "running")) == [ids["parked"], ids["running"]]
    assert await listed(store_url, statuses=("finished",)) == [done]
    counts = await store.runs.count(RunFilter())
    assert counts.by_reason == {"queued": 1, "running": 1, "parked": 1, "completed": 1}


@pytest.mark.parametrize("text", ["refund", "REFUND parcel", 'my "late" parcel', "ÜBER"])
async def test_the_words_of_a_question_are_found_in_any_order_and_case(store: Store, store_url: str, text: str) -> None:
    wanted = await asked(store, 'A Refund\nüber my "late" parcel?')
    await asked(store, "A parcel")
    assert await listed(store_url, text=text) == [wanted]


async def test_a_run_is_found_by_the_beginning_of_its_id(store: Store, store_url: str) -> None:
    wanted = await asked(store, "A refund")
    await asked(store, "A parcel")
    assert await listed(store_url, text=f" {wanted.upper()} ") == [wanted]
    assert await listed(store_url, text=f"{wanted} refund") == []
    assert await listed(store_url, text=wanted[:5]) == []


@pytest.mark.parametrize("text", ["question", "%", "_efund", '"', "limits refund"])
async def test_only_the_question_is_searched_and_text_is_no_pattern(store: Store, store_url: str, text: str) -> None:
    await asked(store, "A refund")
    assert await listed(store_url, text=text) == []


async def test_a_filter_reads_on_until_it_has_enough(store: Store, store_url: str) -> None:
    wanted = [await asked(store, f"needle {n}") for n in range(3)]
    async with open_archive(store_url) as archive:
        found = await archive.matching(RunFilter(text="needle"), limit=2)
    assert [record.id for record in found] == wanted[:0:-1]
