"""Runs that wait for people alone: a row, until a person answers."""

import asyncio

import pytest
from sqlalchemy import update

from oracle.runs.options import RunOptions
from oracle.runs.storage import schema
from oracle.runs.storage.interrupts import interrupt
from oracle.testing import ScriptedCall, ScriptedTurn
from tests.oracle.server.api.asking import write_trees
from tests.oracle.server.api.conftest import running_service

NOTE = {"path": "a.md", "body": "One."}
WRITES = [ScriptedTurn(text="I write. ", tool_calls=(ScriptedCall("vault_write", NOTE),)), ScriptedTurn(text="Done.")]


async def parked(service, run_id):
    """Wait until the run is a row, and nothing else."""
    async with asyncio.timeout(20):
        while (found := await service.parts.store.runs.find(run_id)).status != "parked" or service.parts.runs.active:
            await service.parts.store.write(lambda _: None)
    return found


async def ended(service, run_id):
    async with asyncio.timeout(20):
        while (found := await service.parts.store.runs.find(run_id)).status != "finished":
            await service.parts.store.write(lambda _: None)
    return found


async def answer(service, run_id, **decision):
    [waiting] = (await service.client.get("/api/oracle/pending")).json()["pending"]
    body = {"id": waiting["interrupt"]["id"], **decision}
    response = await service.client.post(f"/api/oracle/runs/{run_id}/deliveries", json=body)
    assert response.status_code == 200
    return response


@pytest.fixture
async def service(start, tmp_path):
    write_trees(tmp_path)
    return await start(WRITES, options=RunOptions(reader_grace_s=0.0))


async def test_a_parked_run_goes_on_when_it_is_answered_and_its_stream_has_no_gap(start, tmp_path, database_url):
    write_trees(tmp_path)
    service = await start(WRITES, url=database_url)
    async with service.asking(tree="approval") as streamed:
        await streamed.until_type("approval_requested")
        row = await parked(service, streamed.run_id)
        assert (row.worker, row.wake_at is not None) == ("", True)
        assert (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()["status"] == "parked"
        assert not (tmp_path / "vault" / "a.md").exists()
        await answer(service, streamed.run_id, decision="approve")
        await streamed.rest()
    assert streamed.ids == list(range(1, len(streamed.ids) + 1))
    assert streamed.text == "I write. \n\nDone."
    assert streamed.done["termination_reason"] == "completed"
    assert "system" not in streamed.types, "nothing was lost, so nothing is said of it"
    assert (tmp_path / "vault" / "a.md").read_text().count("One.") == 1
    assert streamed.types.count("tool_call") == streamed.types.count("tool_result") == 1


async def test_a_run_outlives_its_service_while_it_is_parked(tmp_path):
    write_trees(tmp_path)
    async with running_service(tmp_path, WRITES) as first, first.asking(tree="approval") as streamed:
        await streamed.until_type("approval_requested")
        run_id = streamed.run_id
        await parked(first, run_id)
    async with running_service(tmp_path, WRITES[1:], worker="worker-2") as second:
        assert (await second.parts.store.runs.find(run_id)).status == "parked"
        await answer(second, run_id, decision="edit", arguments=NOTE | {"path": "b.md"})
        rest = await second.resume(run_id, after=len(streamed.ids))
    assert rest.ids[0] == len(streamed.ids) + 1
    assert rest.done["termination_reason"] == "completed"
    assert (tmp_path / "vault" / "b.md").exists()
    assert not (tmp_path / "vault" / "a.md").exists()


async def test_nobody_has_to_read_a_parked_run(service):
    async with service.asking(tree="question") as streamed:
        await streamed.until_type("question")
        await parked(service, streamed.run_id)
    await service.parts.store.write(lambda _: None)
    assert (await service.parts.store.runs.find(streamed.run_id)).status == "parked"
    await answer(service, streamed.run_id, decision="answer", answer="main")
    assert (await ended(service, streamed.run_id)).answer == "It is main."


async def test_a_parked_run_is_cancelled(service):
    async with service.asking(tree="question") as streamed:
        await streamed.until_type("question")
        await parked(service, streamed.run_id)
        assert (await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")).status_code == 202
        await streamed.rest()
    assert streamed.done["termination_reason"] == "user_cancelled"
    assert (await streamed.until_type("answered"))["interrupt"]["status"] == "withdrawn"


async def test_a_cancel_that_comes_while_the_service_stops_is_left_to_the_next_one(tmp_path):
    write_trees(tmp_path)
    async with running_service(tmp_path, WRITES) as first:
        async with first.asking(tree="question") as streamed:
            await streamed.until_type("question")
            row = await parked(first, streamed.run_id)
        await first.parts.runs.drain()
        await first.parts.runs.cancel(row)
        assert (await first.parts.store.runs.find(row.id)).status == "queued"
    async with running_service(tmp_path, worker="worker-2") as second:
        assert (await ended(second, row.id)).termination_reason == "user_cancelled"


async def test_a_run_whose_question_nobody_has_answered_in_time_goes_on(service):
    async with service.asking(tree="question") as streamed:
        await streamed.until_type("question")
        await parked(service, streamed.run_id)
        late = update(interrupt).values(expires_at=1.0)
        await service.parts.store.write(lambda connection: connection.execute(late).close())
        await service.parts.store.interrupts.expire()
        await streamed.rest()
    assert (await streamed.until_type("answered"))["interrupt"]["status"] == "expired"


async def test_a_conversation_is_forgotten_whose_run_is_parked(service):
    async with service.asking(tree="question") as streamed:
        await streamed.until_type("question")
        row = await parked(service, streamed.run_id)
        gone = await service.client.delete(f"/api/oracle/conversations/{row.context_id}")
        assert gone.status_code == 204
    assert (await service.client.get("/api/oracle/pending")).json()["pending"] == []


async def test_a_run_that_has_a_deadline_waits_longer_than_that(service):
    async with service.asking(tree="question", limits={"timeout_seconds": 30}) as streamed:
        await streamed.until_type("question")
        before = await parked(service, streamed.run_id)
        early = update(schema.run).values(parked_at=before.parked_at - 86_400)
        await service.parts.store.write(lambda connection: connection.execute(early).close())
        await answer(service, streamed.run_id, decision="answer", answer="main")
        await streamed.rest()
    assert streamed.done["termination_reason"] == "completed"
    after = await service.parts.store.runs.find(streamed.run_id)
    assert after.deadline_at == pytest.approx(before.deadline_at + 86_400, abs=20)


@pytest.mark.parametrize("answered_at", [0, 1], ids=["where it was asked", "elsewhere"])
async def test_any_worker_goes_on_with_it(tmp_path, postgresql_url, answered_at):
    write_trees(tmp_path)
    options = {"url": postgresql_url, "options": RunOptions()}
    async with (
        running_service(tmp_path, WRITES, **options) as one,
        running_service(tmp_path, WRITES[1:], worker="worker-2", **options) as other,
        one.asking(tree="question") as streamed,
    ):
        await streamed.until_type("question")
        await parked(one, streamed.run_id)
        await answer((one, other)[answered_at], streamed.run_id, decision="answer", answer="release")
        await streamed.rest()
    assert streamed.text == "It is release."
    assert streamed.ids == list(range(1, len(streamed.ids) + 1))


async def test_many_answered_at_once_all_go_on(service):
    runs = []
    for _ in range(10):
        async with service.asking(tree="question") as streamed:
            await streamed.until_type("question")
            runs.append((await parked(service, streamed.run_id)).id)
    waiting = (await service.client.get("/api/oracle/pending")).json()["pending"]
    assert len(waiting) == 10

    async def post(each):
        body = {"id": each["interrupt"]["id"], "decision": "answer", "answer": "main"}
        return await service.client.post(f"/api/oracle/runs/{each['run_id']}/deliveries", json=body)

    twice = await asyncio.gather(*(post(each) for each in waiting), *(post(each) for each in waiting))
    assert {each.status_code for each in twice} == {200}
    for run_id in runs:
        assert (await ended(service, run_id)).answer == "It is main."
