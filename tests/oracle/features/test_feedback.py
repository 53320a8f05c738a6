"""`POST …/feedback`: what users think of their answers, and where it is seen."""

import pytest

from oracle.runs.record.figures import LogFigures
from tests.oracle.server.api.conftest import ALICE, BOB, HANGS, OLGA, OPERATOR, TOKENS

DOWN = {"rating": "down", "text": "The class has another name. \U0001f937"}
NOTHING = {"rating": None}


async def rated(service, run_id, body, headers=None):
    return await service.client.post(f"/api/oracle/runs/{run_id}/feedback", json=body, headers=headers)


async def seen(service, run_id, headers=None):
    """Where a run is shown: alone, in the list, in its history, and as a file."""
    client = service.client
    one = (await client.get(f"/api/oracle/runs/{run_id}", headers=headers)).json()
    listed = (await client.get("/api/runs", headers=headers)).json()["runs"]
    history, export = [
        (await client.get(f"/api/runs/{run_id}/{path}", headers=headers)).json() for path in ("history", "export")
    ]
    (row,) = [run for run in listed if run["run_id"] == run_id]
    return [each["feedback"] for each in (one, row, history["run"], export["run"])]


@pytest.mark.long("histories are made anew for each rating")
async def test_the_latest_counts_everywhere_and_null_withdraws(start):
    service = await start()
    run_id = (await service.ask()).run_id
    assert await seen(service, run_id) == [None] * 4
    for body, kept in (
        ({"rating": "up"}, {"rating": "up", "text": ""}),
        (DOWN, DOWN),
        ({"rating": "down", "text": None}, {"rating": "down", "text": ""}),
        (NOTHING, None),
        (NOTHING, None),
    ):
        response = await rated(service, run_id, body)
        assert (response.status_code, response.json()) == (200, {"run_id": run_id, "feedback": kept})
        assert await seen(service, run_id) == [kept] * 4
    text = (await service.client.get("/metrics")).text
    for rating, count in ("up", 1), ("down", 2), ("withdrawn", 2):
        assert f'oracle_feedback_total{{rating="{rating}"}} {count}.0' in text


async def test_lists_have_those_that_were_rated_so(start):
    service = await start()
    first, second = [(await service.ask()).run_id for _ in range(2)]
    await rated(service, first, DOWN)
    await rated(service, second, {"rating": "up"})
    for rating, run_id in ("down", first), ("up", second):
        found = (await service.client.get("/api/runs", params={"feedback": rating})).json()
        assert ([run["run_id"] for run in found["runs"]], found["counts"]["total"]) == ([run_id], 1)
    assert (await service.client.get("/api/runs", params={"feedback": "none"})).status_code == 422


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, ["body", "rating"]),
        ({"rating": "bad"}, ["body", "rating"]),
        ({"rating": 1}, ["body", "rating"]),
        ({"rating": "up", "text": "x" * 2_001}, ["body", "text"]),
        ({"rating": "up", "text": "a\0b"}, ["body", "text"]),
        ({"rating": "up", "text": 7}, ["body", "text"]),
        ({"rating": "up", "reason": "?"}, ["body", "reason"]),
        ({"rating": None, "text": "Why?"}, ["body"]),
    ],
)
async def test_what_is_wrong_is_refused_and_nothing_is_kept(start, body, where):
    service = await start()
    run_id = (await service.ask()).run_id
    await rated(service, run_id, DOWN)
    response = await rated(service, run_id, body)
    assert (response.status_code, [each["loc"] for each in response.json()["detail"]]) == (422, [where])
    assert await seen(service, run_id) == [DOWN] * 4


async def test_the_longest_text_is_kept(start):
    service = await start()
    run_id = (await service.ask()).run_id
    assert (await rated(service, run_id, {"rating": "up", "text": "é" * 2_000})).status_code == 200


async def test_only_its_owner_rates_a_run_and_operators_read_it(start):
    service = await start(tokens=TOKENS | OPERATOR, operators=("olga",))
    run_id = (await service.ask(headers=ALICE)).run_id
    for other in (BOB, OLGA):
        missing = await rated(service, "0" * 32, DOWN, other)
        foreign = await rated(service, run_id, DOWN, other)
        assert (foreign.status_code, foreign.json()) == (404, missing.json())
    assert (await rated(service, run_id, DOWN, ALICE)).status_code == 200
    assert await seen(service, run_id, ALICE) == await seen(service, run_id, OLGA) == [DOWN] * 4
    found = await service.client.get("/api/runs", params={"feedback": "down"}, headers=BOB)
    assert found.json()["runs"] == []


@pytest.mark.parametrize(("how", "left"), [("forgotten", None), ("texts", {"rating": "down", "text": ""})])
async def test_its_text_goes_with_the_texts_and_then_it_is_refused(start, how, left):
    service = await start()
    streamed = await service.ask()
    await rated(service, streamed.run_id, DOWN)
    if how == "forgotten":
        await service.client.delete(f"/api/oracle/conversations/{streamed.done['context_id']}")
    else:
        await service.parts.store.retention.drop_texts(older_than_s=-1.0, new_reducer=LogFigures)
    told = (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()
    assert told["feedback"] == left
    assert "another name" not in (await service.client.get("/api/runs")).text
    for body in DOWN, NOTHING:
        assert (await rated(service, streamed.run_id, body)).status_code == 410


async def test_a_run_under_way_may_be_rated(start):
    service = await start([HANGS])
    async with service.asking() as streamed:
        await streamed.until("here")
        assert (await rated(service, streamed.run_id, DOWN)).status_code == 200
        await service.client.post(f"/api/oracle/runs/{streamed.run_id}/cancel")
        await streamed.rest()
    assert (await service.client.get(f"/api/oracle/runs/{streamed.run_id}")).json()["feedback"] == DOWN


async def test_a_file_without_texts_has_the_rating_alone(start):
    service = await start()
    run_id = (await service.ask()).run_id
    await rated(service, run_id, DOWN)
    response = await service.client.get(f"/api/runs/{run_id}/export", params={"texts": "false"})
    assert response.json()["run"]["feedback"]["rating"] == "down"
    assert "another name" not in response.text
