"""What operators set for single users, and what users read of themselves."""

import pytest

from oracle.features.spending.limits import Limits
from oracle.features.spending.meter import Spending, open_spending
from tests.oracle.features.spending.conftest import TURN
from tests.oracle.server.api.conftest import ALICE, BOB, OLGA, OPERATOR, TOKENS

MORE = "plans: {free: {per_day: {tokens: {hard: 300}}}, pro: {per_day: {tokens: {hard: 900}}}}\ndefault: free\n"


async def test_a_user_reads_what_is_left_and_an_operator_reads_it_of_everybody(limited) -> None:
    service = await limited()
    await service.ask(headers=ALICE)
    own = (await service.client.get("/api/me/spending", headers=ALICE)).json()
    assert own["limits"] == [{"unit": "tokens", "used": 120, "soft": 200, "hard": 300, "state": "ok"}]
    assert {name: own[name] for name in ("user_id", "plan", "currency", "bounds", "is_set")} == {
        "user_id": "alice",
        "plan": "free",
        "currency": None,
        "bounds": {},
        "is_set": False,
    }
    assert (await service.client.get("/api/spending?user=alice", headers=OLGA)).json() == own


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_others_neither_read_nor_set_limits(limited, method: str) -> None:
    service = await limited()
    body = {"json": {"extends": "free"}} if method == "PUT" else {}
    answered = await service.client.request(method, "/api/spending?user=alice", headers=BOB, **body)
    assert answered.status_code == 403


async def test_what_an_operator_sets_goes_before_the_file_until_it_is_cleared(limited) -> None:
    service = await limited(MORE)
    for _ in range(3):
        await service.ask(headers=ALICE)
    refused = await service.client.post("/api/oracle", json={"question": "more?"}, headers=ALICE)
    assert refused.status_code == 429
    path = "/api/spending?user=alice"
    put = await service.client.put(path, json={"extends": "pro", "bounds": {"max_iterations": 3}}, headers=OLGA)
    assert (put.json()["plan"], put.json()["is_set"], put.json()["bounds"]) == ("pro", True, {"max_iterations": 3})
    assert (await service.ask(headers=ALICE)).done["termination_reason"] == "completed"
    cleared = await service.client.delete(path, headers=OLGA)
    assert (cleared.json()["plan"], cleared.json()["is_set"], cleared.json()["limits"][0]["state"]) == (
        "free",
        False,
        "over",
    )
    await service.client.put(path, json={"per_day": {"tokens": None}}, headers=OLGA)
    assert (await service.ask(headers=ALICE)).done["termination_reason"] == "completed"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"extends": "gold"}, "there is no plan 'gold'; plans: free"),
        ({"per_day": {"money": {"hard": 1}}}, "ORACLE_PRICES"),
        ({"per_day": {"tokens": {"soft": 3, "hard": 2}}}, "'soft' must be at most 'hard'"),
        ({"per_day": {"tokens": {"hard": -1}}}, "greater than or equal to 0"),
        ({"bounds": {"max_iterations": 99}}, "from 1 to 50"),
        ({"bounds": {f"b{n}": 1 for n in range(1_000)}}, "at most 20 items"),
        ({"extends": "x" * 1_000}, "at most 64 characters"),
        ({"plan": "free"}, "plan"),
        ([], "dict"),
    ],
)
async def test_what_cannot_be_is_refused(limited, body, told: str) -> None:
    service = await limited()
    answered = await service.client.put("/api/spending?user=alice", json=body, headers=OLGA)
    assert answered.status_code == 422, answered.text
    assert told in answered.text
    assert not (await service.client.get("/api/spending?user=alice", headers=OLGA)).json()["is_set"]


async def test_what_was_set_and_does_not_fit_the_file_any_more_is_left_out(limited) -> None:
    service = await limited(MORE)
    await service.client.put("/api/spending?user=alice", json={"extends": "pro"}, headers=OLGA)
    service.parts.of(Spending).limits = Limits()
    assert (await service.client.get("/api/me/spending", headers=ALICE)).json()["limits"] == []


async def test_a_service_without_a_file_limits_nobody_and_says_so(start) -> None:
    service = await start((TURN,), tokens=TOKENS | OPERATOR, operators=("olga",), opens=(open_spending,))
    await service.ask(headers=ALICE)
    assert (await service.client.get("/api/me/spending", headers=ALICE)).json()["limits"] == []
    refused = await service.client.put("/api/spending?user=alice", json={}, headers=OLGA)
    assert (refused.status_code, "ORACLE_LIMITS" in refused.json()["detail"]) == (404, True)
