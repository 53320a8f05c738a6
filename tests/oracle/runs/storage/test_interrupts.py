"""What runs ask people, and of two answers one that counts."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from typing import Any

import pytest
from sqlalchemy import update

from bt_runtime.text import iso
from oracle.core.chunks import Interrupt
from oracle.runs.storage import schema
from oracle.runs.storage.errors import RunLostError
from oracle.runs.storage.interrupts import (
    LONGEST_S,
    Answerer,
    AnswerError,
    Delivery,
    NotOpenError,
)
from oracle.runs.storage.records import RunCommand, RunEnd, RunRecord
from oracle.runs.storage.store import Store, open_store
from tests.oracle.runs.storage.runs_made import begun, ended

ANN, BOB, OLGA = Answerer("ann"), Answerer("bob"), Answerer("olga", is_operator=True)
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
PAST = "2020-01-01T00:00:00.000Z"


def asked(name: str = "i1", **more: Any) -> dict[str, Any]:
    """An approval of a call, unless said otherwise."""
    fields: dict[str, Any] = {
        "reason": "tool_call",
        "message": "May I write?",
        "may": ("approve", "refuse", "edit"),
        "response_schema": PATH,
        "on_expiry": "refuse",
        "tool_name": "vault_write",
        "arguments": {"path": "a \0 ünï.md"},
    }
    return Interrupt(id=name, **(fields | more)).to_wire()


def question(name: str = "q1", **more: Any) -> dict[str, Any]:
    return asked(
        name, reason="input_required", may=("answer",), response_schema={"type": "integer"}, tool_name=None, **more
    )


async def waiting(store: Store, *interrupts: dict[str, Any], park: bool = True, **more: Any) -> RunRecord:
    """A parked run that waits for these."""
    run: RunRecord = (await begun(store, **more))[0]
    for each in interrupts:
        await store.write(store.interrupts.noting(run, each))
    if park:
        assert await parked(store, run) == "parked"
    return run


async def parked(store: Store, run: RunRecord, *, delivered: Collection[str] = ()) -> str:
    """Leave a run that waits for people alone; returns how it stands."""
    row = store.interrupts.parking(run.id, delivered=delivered)
    await store.log.writer(run).leave(is_parked=True, decide=row)
    return await status_of(store, run)


async def status_of(store: Store, run: RunRecord) -> str:
    found = await store.runs.find(run.id)
    assert found is not None
    return found.status


async def pending(store: Store, user_id: str | None = None) -> list[str]:
    return [each.id for each in await store.interrupts.pending(user_id=user_id, limit=100)]


@pytest.fixture
async def other_worker(store: Store, store_url: str) -> AsyncIterator[Store]:
    """A second worker on PostgreSQL; on SQLite the same one."""
    if not store.is_shared:
        yield store
        return
    async with open_store(store_url, worker="worker-2") as opened:
        yield opened


async def test_an_answer_wakes_a_parked_run_and_is_delivered(store: Store) -> None:
    run = await waiting(store, asked(), question())
    assert await pending(store, "ann") == ["i1", "q1"]
    [kept] = await store.interrupts.answer(run.id, [Delivery("i1", "approve", comment="Go.")], by=ANN)
    assert (kept.status, kept.answered_by) == ("approved", "ann")
    assert await status_of(store, run) == "queued"
    delivered = await store.interrupts.undelivered(run.id, delivered=())
    assert delivered["i1"] == {"decision": "approve", "for": "once", "comment": "Go.", "by": "ann"} | {
        "at": delivered["i1"]["at"]
    }
    assert await store.interrupts.undelivered(run.id, delivered=["i1"]) == {}
    assert await pending(store) == ["q1"]
    assert kept.to_json()["answered_at"] == delivered["i1"]["at"]
    assert kept.to_json()["arguments"] == {"path": "a \0 ünï.md"}


async def test_a_run_under_way_gets_a_command(store: Store) -> None:
    got: list[RunCommand] = []
    run = await waiting(store, asked(), park=False)
    store.commands.subscribe(got.append)
    await store.interrupts.answer(run.id, [Delivery("i1", "refuse")], by=ANN)
    while not got:
        await store.write(lambda _: None)
    assert [(each.run_id, each.kind) for each in got] == [(run.id, "answers")]
    assert await status_of(store, run) == "running"


async def test_a_run_is_not_parked_while_there_is_an_answer_that_it_does_not_know(store: Store) -> None:
    run = await waiting(store, asked(), park=False)
    await store.interrupts.answer(run.id, [Delivery("i1", "refuse")], by=ANN)
    assert await parked(store, run) == "queued"
    [claimed] = await store.claims.claim(1)
    assert await parked(store, claimed, delivered=["i1"]) == "parked"
    with pytest.raises(RunLostError):
        await parked(store, run)


async def test_several_answers_are_written_together_or_not_at_all(store: Store) -> None:
    run = await waiting(store, asked(), question())
    with pytest.raises(AnswerError) as refused:
        await store.interrupts.answer(run.id, [Delivery("i1", "approve"), Delivery("q1", "answer", answer="x")], by=ANN)
    assert [place for place, _ in refused.value.parts] == [("body", 1, "answer")]
    assert await pending(store) == ["i1", "q1"]
    assert await status_of(store, run) == "parked"
    both = [Delivery("q1", "answer", answer=7), Delivery("i1", "edit", arguments={"path": "b.md"})]
    kept = await store.interrupts.answer(run.id, both, by=ANN)
    assert [each.status for each in kept] == ["answered", "edited"]
    assert len(await store.interrupts.undelivered(run.id, delivered=())) == 2


async def test_the_same_answer_again_has_the_same_result_and_another_one_names_the_first(store: Store) -> None:
    run = await waiting(store, asked())
    first = await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN)
    assert await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN) == first
    for other in (Delivery("i1", "refuse"), Delivery("i1", "approve", comment="No!")):
        with pytest.raises(NotOpenError, match=r"'i1' was approved by ann at 20") as refused:
            await store.interrupts.answer(run.id, [other], by=ANN)
        assert refused.value.status == 409


async def test_of_two_answers_at_once_one_counts(store: Store, other_worker: Store) -> None:
    runs = [await waiting(store, asked(f"i{n}")) for n in range(10)]
    for n, run in enumerate(runs):
        answers = [
            store.interrupts.answer(run.id, [Delivery(f"i{n}", "approve")], by=ANN),
            other_worker.interrupts.answer(run.id, [Delivery(f"i{n}", "refuse")], by=ANN),
        ]
        results = await asyncio.gather(*answers, return_exceptions=True)
        assert sorted(type(each).__name__ for each in results) == ["NotOpenError", "list"]
        assert await status_of(store, run) == "queued"


async def test_an_answer_is_seen_by_who_parks_the_run_or_wakes_it(store: Store, other_worker: Store) -> None:
    for n in range(10):
        run = await waiting(store, asked(f"i{n}"), park=False)
        await asyncio.gather(
            parked(store, run), other_worker.interrupts.answer(run.id, [Delivery(f"i{n}", "approve")], by=ANN)
        )
        assert await status_of(store, run) == "queued"


@pytest.mark.parametrize(
    ("answerers", "right", "wrong"),
    [("user", ANN, OLGA), ("operator", OLGA, ANN), ("not_asker", OLGA, ANN), ("not_asker", OLGA, BOB)],
)
async def test_who_may_answer(store: Store, answerers: str, right: Answerer, wrong: Answerer) -> None:
    run = await waiting(store, asked(answerers=answerers))
    with pytest.raises(AnswerError, match="is to be answered by") as refused:
        await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=wrong)
    assert refused.value.status == 403
    assert await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=right)


async def test_an_operator_who_has_asked_is_not_somebody_else(store: Store) -> None:
    run = await waiting(store, asked(answerers="not_asker"), user_id="olga")
    with pytest.raises(AnswerError, match="other than the user who asked"):
        await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=OLGA)


@pytest.mark.parametrize(
    ("decision", "place", "problem"),
    [
        (Delivery("none", "approve"), (0, "id"), "asked nothing of this id"),
        (Delivery("\0", "approve"), (0, "id"), "asked nothing of this id"),
        (Delivery("i1", "answer", answer=1), (0, "decision"), "takes approve, refuse, edit, not answer"),
        (Delivery("i1", "edit"), (0, "arguments"), "needs 'arguments'"),
        (Delivery("i1", "approve", arguments={}), (0, "arguments"), "the decision 'edit' is the only one that takes"),
        (Delivery("i1", "refuse", scope="conversation"), (0, "for"), "only the approval of a tool call"),
        (Delivery("i1", "edit", arguments={"path": 1}), (0, "arguments", "path"), "not of type"),
        (Delivery("q1", "answer", answer="x"), (0, "answer"), "not of type"),
        (Delivery("bad", "answer", answer="x"), (0, "answer"), "no JSON schema"),
    ],
)
async def test_what_an_interrupt_does_not_take_is_refused_with_its_place(
    store: Store, decision: Delivery, place: tuple[str | int, ...], problem: str
) -> None:
    run = await waiting(store, asked(), question(), question("bad") | {"response_schema": {"type": "nonsense"}})
    with pytest.raises(AnswerError, match=problem) as refused:
        await store.interrupts.answer(run.id, [decision], by=ANN)
    assert refused.value.parts[0][0] == ("body", *place)
    assert await status_of(store, run) == "parked"


async def test_nobody_answers_after_the_time(store: Store) -> None:
    run = await waiting(store, asked(expires_at=PAST), asked("later"))
    with pytest.raises(NotOpenError, match="expired at 2020"):
        await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN)
    assert await store.interrupts.expire() == 1
    assert await store.interrupts.expire() == 0
    assert await status_of(store, run) == "queued"
    [answer] = (await store.interrupts.undelivered(run.id, delivered=())).values()
    assert (answer["decision"], answer["by"]) == ("expire", "")
    with pytest.raises(NotOpenError, match="expired at 2020"):
        await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN)
    assert await pending(store) == ["later"]


async def test_two_workers_expire_each_interrupt_once(store: Store, other_worker: Store) -> None:
    for n in range(20):
        await waiting(store, asked(f"i{n}", expires_at=PAST), asked(f"j{n}", expires_at=PAST))
    assert sum(await asyncio.gather(store.interrupts.expire(), other_worker.interrupts.expire())) == 40


async def test_one_that_names_no_time_expires_all_the_same(store: Store) -> None:
    await waiting(store, asked(), asked("far", expires_at="9999-12-31T23:59:59Z"), asked("odd", expires_at="soon"))
    for each in await store.interrupts.pending(user_id="ann", limit=10):
        assert each.expires_at == pytest.approx(each.at + LONGEST_S)


async def test_a_worker_whose_clock_is_wrong_gives_people_as_much_time(store_url: str) -> None:
    late_s = 3_600.0
    async with open_store(store_url, worker="w", now=lambda: time.time() - late_s) as store:
        run = await waiting(store, asked(expires_at=iso(time.time() - late_s + 1_800)))
        assert await store.interrupts.expire() == 0
        [each] = await store.interrupts.pending(user_id="ann", limit=10)
        assert each.expires_at - each.at == pytest.approx(1_800, abs=10)
        assert await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN)


async def test_what_an_ended_run_has_asked_is_not_open(store: Store) -> None:
    run, log = await begun(store)
    await store.write(store.interrupts.noting(run, asked(expires_at=PAST)))
    await log.finish(b"{}", RunEnd("user_cancelled", "", 0, 0, False, "m"))
    assert await pending(store) == []
    for decision in (Delivery("i1", "approve"), Delivery("none", "approve")):
        with pytest.raises(NotOpenError):
            await store.interrupts.answer(run.id, [decision], by=ANN)
    assert await store.interrupts.expire() == 1
    assert (await store.interrupts.of_run(run.id))["i1"].status == "withdrawn"
    assert await status_of(store, run) == "finished"


async def test_a_run_withdraws_what_it_has_asked(store: Store) -> None:
    run = await waiting(store, asked(), park=False)
    await store.write(store.interrupts.noting(run, asked(status="withdrawn")))
    with pytest.raises(NotOpenError, match="withdrawn") as refused:
        await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN)
    assert refused.value.status == 410
    assert await store.interrupts.undelivered(run.id, delivered=()) == {}


async def test_each_user_lists_own_ones_page_by_page(store: Store) -> None:
    for n in range(3):
        await waiting(store, asked(f"a{n}", expires_at=f"2090-01-0{3 - n}T00:00:00Z"))
    await waiting(store, asked("b0"), user_id="bob")
    assert await pending(store, "bob") == ["b0"]
    assert sorted(await pending(store)) == ["a0", "a1", "a2", "b0"]
    first = await store.interrupts.pending(user_id="ann", limit=2)
    assert [each.id for each in first] == ["a0", "a1"] or [each.id for each in first] == ["a2", "a1"]
    last = first[-1]
    rest = await store.interrupts.pending(user_id="ann", limit=2, after=(last.run_id, last.id))
    assert {each.id for each in (*first, *rest)} == {"a0", "a1", "a2"}


async def test_a_grant_is_listed_and_withdrawn(store: Store) -> None:
    run = await waiting(store, asked())
    await store.interrupts.answer(run.id, [Delivery("i1", "approve", scope="conversation")], by=ANN)
    [grant] = await store.interrupts.grants("ann")
    assert (grant["action"], grant["by"], grant["context_id"]) == ("vault_write", "ann", run.context_id)
    assert await store.interrupts.grants("bob") == []
    assert not await store.interrupts.revoke(grant["id"], user_id="bob")
    assert not await store.interrupts.revoke("\0", user_id="ann")
    assert await store.interrupts.revoke(grant["id"], user_id="ann")
    assert await store.interrupts.grants("ann") == []


Removal = Callable[[Store, RunRecord], Any]


@pytest.mark.parametrize(
    "remove",
    [
        lambda store, run: store.conversations.forget("ann", run.context_id),
        lambda store, run: store.runs.abandon(run.id, created_conversation=run.context_id),
        lambda store, _: store.retention.prune(older_than_s=-1, most_bytes=None),
        lambda store, _: store.retention.drop_texts(older_than_s=-1, new_reducer=lambda: lambda _: None),
    ],
    ids=["the conversation is forgotten", "the run is removed", "the run is old", "its texts are old"],
)
async def test_with_the_texts_of_a_run_goes_what_it_has_asked(store: Store, remove: Removal) -> None:
    run = await ended(store)
    await store.write(store.interrupts.noting(run, asked()))
    await remove(store, run)
    assert await store.interrupts.of_run(run.id) == {}


async def test_with_a_conversation_go_its_grants(store: Store) -> None:
    run, log = await begun(store)
    await store.write(store.interrupts.noting(run, asked()))
    await store.interrupts.answer(run.id, [Delivery("i1", "approve", scope="conversation")], by=ANN)
    await log.finish(b"{}", RunEnd("completed", "", 0, 0, False, "m"))
    await store.conversations.forget("ann", run.context_id)
    assert await store.interrupts.grants("ann") == []


async def test_the_deadline_of_a_parked_run_stands_still(store: Store) -> None:
    run = await waiting(store, asked())
    await store.interrupts.answer(run.id, [Delivery("i1", "approve")], by=ANN)
    woken = await store.runs.find(run.id)
    assert woken is not None
    assert woken.parked_at is not None
    assert run.deadline_at <= woken.deadline_at < run.deadline_at + 60
    [claimed] = await store.claims.claim(1)
    assert claimed.deadline_at == woken.deadline_at


async def test_nobody_is_asked_by_what_shadows_a_run(store: Store) -> None:
    run = await waiting(store, asked(), park=False)
    shadows = update(schema.run).where(schema.run.c.id == run.id).values(shadow_of="another")
    await store.write(lambda connection: connection.execute(shadows).close())
    assert await pending(store) == await pending(store, "ann") == []
