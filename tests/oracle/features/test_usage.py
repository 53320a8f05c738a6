"""What was used and what it has cost, over HTTP."""

import csv
from io import StringIO
from typing import Any

import pytest
from sqlalchemy import update

from oracle.features.usage import calls as usage
from oracle.features.usage.prices import Price, Prices
from oracle.llm.protocol import Usage
from oracle.runs.storage import schema
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, BOB, OLGA, OPERATOR, TOKENS, Service

PRICE = Price(input=1.0, output=5.0, cache_creation=2.0, cache_read=0.5)
USAGE = Usage(100, cache_creation_tokens=10, cache_read_tokens=1000, output_tokens=20, cache_miss="tools_changed")
TURNS = [ScriptedTurn(text="Yes.", usage=USAGE, model=model) for model in ("m-1", "m-1", "new", "m-1")]
ASKING = (ALICE, ALICE, BOB, OLGA)


@pytest.fixture
async def service(start):
    """One that two users and an operator have asked, each once, and alice twice; the price of one model is known."""
    prices = Prices("EUR", {"m-*": PRICE})
    service = await start(TURNS, tokens=TOKENS | OPERATOR, operators=("olga",), prices=prices)
    for headers in ASKING:
        await service.ask(headers=headers)
    return service


async def change(service: Service, user: str, **values: Any) -> None:
    stands = update(schema.run).where(schema.run.c.user_id == user).values(values)
    await service.parts.store.write(lambda connection: connection.execute(stands).close())


async def read(service: Service, headers: Any = ALICE, **params: Any) -> Any:
    response = await service.client.get("/api/usage", params=params, headers=headers)
    assert response.status_code == 200, response.text
    return response.json()


async def test_users_read_their_own_and_operators_everybodys(service) -> None:
    (own,) = (await read(service))["rows"]
    assert own["user_id"] == "alice"
    assert {name: own[name] for name in ("runs", "turns", "tokens_used", "is_estimated")} == {
        "runs": 2,
        "turns": 2,
        "tokens_used": 260,
        "is_estimated": False,
    }
    kinds = [own[f"{kind}_tokens"] for kind in ("input", "cache_creation", "cache_read", "output")]
    assert kinds == [200, 20, 2000, 40]
    assert [row["user_id"] for row in (await read(service, OLGA))["rows"]] == ["alice", "bob", "olga"]
    assert [row["user_id"] for row in (await read(service, OLGA, user="bob"))["rows"]] == ["bob"]


async def test_the_commonest_reason_of_a_missed_cache_is_told_of_each_run(service) -> None:
    report = await read(service, OLGA)
    assert [row["cache_misses"]["tools_changed"] for row in report["rows"]] == [2, 1, 1]
    assert report["totals"]["cache_misses"] == {"tools_changed": 4}
    table = (await service.client.get("/api/usage?format=csv", headers=ALICE)).text
    assert [row["cache_misses"] for row in csv.DictReader(StringIO(table))] == ["tools_changed 2"]


async def test_another_users_figures_do_not_exist(service) -> None:
    other = await read(service, BOB, user="alice")
    assert other["rows"] == (await read(service, BOB, user="nobody"))["rows"] == []
    assert other["totals"]["runs"] == 0
    assert "alice" not in (await service.client.get("/api/usage?format=csv&user=alice", headers=BOB)).text
    assert (await service.client.get("/api/usage")).status_code == 401


async def test_costs_follow_the_prices_and_are_never_nothing_where_no_price_is_known(service) -> None:
    own = await read(service)
    assert own["currency"] == "EUR"
    assert own["rows"][0]["cost"] == own["totals"]["cost"] == own["totals"]["known_cost"] == pytest.approx(0.00144)
    everybody = await read(service, OLGA)
    assert [row["cost"] for row in everybody["rows"]] == [own["rows"][0]["cost"], None, own["rows"][0]["cost"] / 2]
    assert everybody["totals"]["cost"] is None


async def test_a_table_is_rfc_4180_and_has_no_formulas(service) -> None:
    await change(service, "alice", model_used='=1+"2",\r\n3')
    asked = await service.client.get("/api/usage", headers=ALICE | {"Accept": "text/csv, */*"})
    assert asked.headers["content-type"] == "text/csv; charset=utf-8"
    assert asked.headers["content-disposition"].startswith('attachment; filename="usage-')
    assert asked.text == (await service.client.get("/api/usage?format=csv", headers=ALICE)).text
    assert '"\'=1+""2"",\r\n3"' in asked.text
    names, row = csv.reader(StringIO(asked.text, newline=""))
    told = dict(zip(names, row, strict=True))
    assert (told["user_id"], told["tokens_used"], told["cost"]) == ("alice", "260", "unknown")
    assert told["model"] == '\'=1+"2",\r\n3'


@pytest.mark.parametrize(
    ("params", "place"),
    [
        ({"from": "2026-01-02", "to": "2026-01-01"}, ["query", "from"]),
        ({"from": "2024-01-01", "to": "2026-01-01"}, ["query", "from"]),
        ({"to": "1969-12-31"}, ["query", "from"]),
        ({"to": "0001-01-01"}, ["query", "from"]),
        ({"from": "yesterday"}, ["query", "from"]),
        ({"to": "2026-02-30"}, ["query", "to"]),
        ({"format": "xml"}, ["query", "format"]),
        ({"day": "2026-01-01"}, ["query", "day"]),
        ({"user": "\0"}, ["query", "user"]),
    ],
)
async def test_what_is_wrong_is_told(service, params: dict[str, str], place: list[str]) -> None:
    response = await service.client.get("/api/usage", params=params, headers=ALICE)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == place


async def test_other_days_have_nothing_and_the_last_of_all_can_be_asked_for(service) -> None:
    for first, last in (("1970-01-01", "1970-01-01"), ("9999-12-31", "9999-12-31")):
        report = await read(service, **{"from": first, "to": last})
        assert (report["first"], report["last"], report["rows"]) == (first, last, [])


async def test_too_many_rows_are_refused_and_not_cut(service, monkeypatch) -> None:
    monkeypatch.setattr(usage, "MOST_ROWS", 2)
    response = await service.client.get("/api/usage", headers=OLGA)
    assert response.status_code == 422
    assert "fewer days" in response.json()["detail"][0]["msg"]


async def test_the_metrics_count_tokens_by_kind_and_no_users(service) -> None:
    text = service.parts.metrics.exposition().decode()
    assert 'oracle_tokens_total{kind="cache_read",priced="yes"} 3000.0' in text
    assert 'oracle_tokens_total{kind="cache_read",priced="no"} 1000.0' in text
    cost = service.parts.metrics.registry.get_sample_value("oracle_cost_total", {"kind": "output"})
    assert cost == pytest.approx(0.0003)
    assert "alice" not in text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (" =1+1", "' =1+1"),
        ("a;=1+1", "a;'=1+1"),
        ("a,\t@b", "a,'\t'@b"),
        ("\uff1d1+1", "'\uff1d1+1"),
        ("\u00a0-1", "'\u00a0-1"),
        ("claude-opus-4-1", "claude-opus-4-1"),
        ("a@example.com", "a@example.com"),
    ],
)
async def test_no_part_of_a_cell_is_a_formula_wherever_a_spreadsheet_splits_it(service, text, cell) -> None:
    await change(service, "alice", model_used=text)
    asked = await service.client.get("/api/usage?format=csv", headers=ALICE)
    assert [row["model"] for row in csv.DictReader(StringIO(asked.text, newline=""))] == [cell]
