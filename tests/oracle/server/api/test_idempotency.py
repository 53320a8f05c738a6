"""A request that is sent again attaches to the run of the first: nothing is said twice, and nothing is paid twice."""

import asyncio

import pytest
from sqlalchemy import event

from oracle.runs.options import RunOptions
from oracle.testing import ScriptedModel, ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, TOKENS, in_shared_loop, running_service

KEY = {"Idempotency-Key": "6f1b1d1e-3c1f-4a53-9d0e-0b6f2f1c9a77"}
QUESTION = {"question": "hello"}
TURN = ScriptedTurn(text=("One ", "two ", "three."))


def headers_of(response) -> tuple[str, str]:
    return response.headers["x-run-id"], response.headers["location"]


async def test_a_stream_that_is_asked_for_again_is_the_same_run_from_its_first_chunk(start, database_url):
    model = ScriptedModel([TURN])
    service = await start(model=model, url=database_url)
    first = await service.ask(headers=KEY)
    again = await service.ask(headers=KEY)
    assert again.raw == first.raw
    assert headers_of(again.response) == headers_of(first.response)
    assert headers_of(again.response) == (first.run_id, f"/api/oracle/runs/{first.run_id}")
    assert len(model.requests) == 1


async def test_what_a_retrying_client_reads_is_each_chunk_once(start, database_url):
    """POST, the connection drops in mid-stream, POST again with `Last-Event-ID`: as fetch-event-source does it."""
    model = ScriptedModel([HANGS])
    service = await start(model=model, url=database_url)
    async with service.asking(headers=KEY) as dropped:
        await dropped.until("It begins ")
    seen = {"Last-Event-ID": str(dropped.ids[-1])}
    async with service.asking(headers=KEY | seen) as again:
        await service.client.post(f"/api/oracle/runs/{dropped.run_id}/cancel")
        await again.rest()
    ids = dropped.ids + again.ids
    assert ids == list(range(1, len(ids) + 1))
    whole = await service.resume(dropped.run_id)
    assert dropped.chunks + again.chunks == whole.chunks
    assert again.done["termination_reason"] == "user_cancelled"
    assert len(model.requests) == 1


async def test_a_run_that_needs_no_reader_is_begun_once_and_is_not_the_run_of_a_stream(start, database_url):
    model = ScriptedModel([TURN])
    service = await start(model=model, url=database_url)
    first, again = [await service.client.post("/api/oracle/runs", json=QUESTION, headers=KEY) for _ in range(2)]
    assert (first.status_code, again.status_code, headers_of(again)) == (202, 202, headers_of(first))
    assert (await service.resume(first.json()["run_id"])).text == "One two three."
    ended = await service.client.post("/api/oracle/runs", json=QUESTION, headers=KEY)
    assert (ended.status_code, ended.json()["status"]) == (202, "finished")
    assert (await service.client.post("/api/oracle/stream", json=QUESTION, headers=KEY)).status_code == 422
    assert len(model.requests) == 1


async def test_the_last_id_may_stand_in_the_query_and_behind_done_the_stream_is_empty(service):
    first = await service.ask(headers=KEY)
    again = await service.client.post("/api/oracle/stream?after=1", json=QUESTION, headers=KEY)
    assert again.text.startswith("id: 2\n")
    seen = {"Last-Event-ID": str(first.ids[-1])}
    ended = await service.client.post("/api/oracle/stream", json=QUESTION, headers=KEY | seen)
    assert (ended.status_code, ended.content) == (200, b"")
    assert ended.headers["content-type"].startswith("text/event-stream")
    assert headers_of(ended) == headers_of(first.response)


async def test_a_whole_answer_is_given_again_and_waited_for_together(start, database_url):
    model = ScriptedModel([HANGS])
    service = await start(model=model, url=database_url)
    waiting = [asyncio.create_task(service.client.post("/api/oracle", json=QUESTION, headers=KEY)) for _ in range(5)]
    async with service.asking(headers=KEY) as streamed:
        await streamed.until("here")
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    answers = await asyncio.gather(*waiting)
    later = await service.client.post("/api/oracle", json=QUESTION, headers=KEY)
    assert {(each.status_code, each.text) for each in answers} == {(200, later.text)}
    assert {headers_of(each) for each in answers} == {headers_of(streamed.response)}
    assert later.json()["answer"] == streamed.text
    assert len(model.requests) == 1


async def test_of_many_first_requests_at_once_one_begins_a_run(start, database_url):
    model = ScriptedModel([TURN])
    service = await start(model=model, url=database_url)
    streams = await asyncio.gather(*(service.ask(headers=KEY) for _ in range(12)))
    assert len({streamed.raw for streamed in streams}) == 1
    assert len({streamed.run_id for streamed in streams}) == 1
    assert len(model.requests) == 1


async def test_a_key_names_its_run_on_every_worker_and_after_a_restart(tmp_path, postgresql_url):
    model = ScriptedModel([HANGS])
    async with (
        running_service(tmp_path, model=model, url=postgresql_url) as one,
        running_service(tmp_path, url=postgresql_url, worker="worker-2") as two,
        one.asking(headers=KEY) as first,
        two.asking(headers=KEY) as second,
    ):
        await first.until("here")
        await second.until("here")
        await two.client.post(f"/api/oracle/runs/{first.run_id}/cancel")
        await asyncio.gather(first.rest(), second.rest())
    assert (first.raw, first.run_id) == (second.raw, second.run_id)
    async with running_service(tmp_path, url=postgresql_url, worker="worker-3") as three:
        assert (await three.ask(headers=KEY)).raw == first.raw
    assert len(model.requests) == 1


@pytest.mark.parametrize("path", ["/api/oracle", "/api/oracle/stream"])
async def test_a_key_with_another_body_is_refused(service, path):
    first = await service.ask(headers=KEY)
    for other in (
        {"question": "other"},
        QUESTION | {"limits": {"token_budget": 2_000}},
        QUESTION | {"project_id": "p"},
    ):
        response = await service.client.post(path, json=other, headers=KEY)
        assert response.status_code == 422
        (mistake,) = response.json()["detail"]
        assert mistake["loc"] == ["header", "Idempotency-Key"]
        assert "another request" in mistake["msg"]
    runs = (await service.client.get("/api/runs")).json()["runs"]
    assert [run["run_id"] for run in runs] == [first.run_id]


async def test_equivalent_bodies_are_the_same_request(service):
    first = await service.client.post("/api/oracle", json=QUESTION | {"limits": {"token_budget": 9_000}}, headers=KEY)
    same = {"limits": {"tokenBudget": 9_000.0}, "context_id": None, "question": "hello"}
    again = await service.client.post("/api/oracle", json=same, headers=KEY)
    assert (again.status_code, again.json()) == (200, first.json())


async def test_the_key_of_another_user_is_another_key(start):
    model = ScriptedModel([TURN, TURN])
    service = await start(model=model, tokens=TOKENS)
    alices, bobs = await service.ask(headers=KEY | ALICE), await service.ask("other", headers=KEY | BOB)
    assert alices.run_id != bobs.run_id
    assert len(model.requests) == 2


async def test_requests_without_a_key_begin_runs_of_their_own(service):
    assert (await service.ask()).run_id != (await service.ask(headers={"Last-Event-ID": "3"})).run_id


@pytest.mark.parametrize(
    "key", ["", "x" * 201, "a\tb", "schlüssel".encode("latin-1")], ids=["empty", "long", "a tab", "not ASCII"]
)
@in_shared_loop
async def test_a_malformed_key_is_a_422_with_the_right_form(shared, key):
    for path in ("/api/oracle", "/api/oracle/stream"):
        response = await shared.client.post(path, json=QUESTION, headers={"Idempotency-Key": key})
        assert response.status_code == 422
        (mistake,) = response.json()["detail"]
        assert mistake["loc"] == ["header", "Idempotency-Key"]
        assert "1-200 printable ASCII characters" in mistake["msg"]


@in_shared_loop
async def test_two_keys_are_none_and_the_longest_is_one(shared):
    both = [("Idempotency-Key", "a"), ("Idempotency-Key", "b"), ("Content-Type", "application/json")]
    response = await shared.client.post("/api/oracle", content=b'{"question":"hello"}', headers=both)
    assert response.status_code == 422
    assert response.json()["detail"][0]["input"] == "a, b"
    longest = await shared.client.post("/api/oracle", json=QUESTION, headers={"Idempotency-Key": "~" * 200})
    assert longest.status_code == 200


async def test_what_was_refused_may_be_sent_again(start):
    service = await start([HANGS], runs_per_user=1)
    async with service.asking() as streamed:
        await streamed.until("here")
        refused = await service.client.post("/api/oracle", json=QUESTION, headers=KEY)
        assert refused.status_code == 429
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    async with service.asking(headers=KEY) as streamed:
        assert streamed.status == 200


async def test_a_repeated_request_counts_as_a_reader_and_not_as_a_query(start):
    service = await start([HANGS], runs_per_user=1, options=RunOptions(most_per_user=1))
    async with service.asking(headers=KEY) as first, service.asking(headers=KEY) as second:
        await first.until("here")
        await second.until("here")
        assert service.parts.runs.active == 1


async def test_a_run_that_was_forgotten_is_not_begun_again_by_its_key(service):
    streamed = await service.ask("a secret question", headers=KEY)
    await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    for path in ("/api/oracle", "/api/oracle/stream"):
        again = await service.client.post(path, json={"question": "a secret question"}, headers=KEY)
        assert again.status_code == 410


async def test_a_request_that_finds_a_run_that_cannot_be_opened_is_refused_like_the_first(service):
    """The service begins to stop after the run has its row, and before it is opened."""
    engine, runs = service.parts.store.database.write_engine, service.parts.runs

    def begin_to_stop(connection, cursor, statement, *_):
        if statement.startswith("INSERT INTO request_key"):
            runs.is_draining = True

    event.listen(engine, "after_cursor_execute", begin_to_stop)
    try:
        asked = [service.client.post("/api/oracle/stream", json=QUESTION, headers=KEY) for _ in range(4)]
        responses = await asyncio.gather(*asked)
    finally:
        event.remove(engine, "after_cursor_execute", begin_to_stop)
    assert {response.status_code for response in responses} == {503}
    runs.is_draining = False
    assert (await service.client.get("/api/runs")).json()["runs"] == []
    assert (await service.ask(headers=KEY)).done["termination_reason"] == "completed"
