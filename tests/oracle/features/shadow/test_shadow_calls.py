"""Shadow runs over HTTP: a report and pairs for operators, and nothing for users."""

import pytest

from oracle.features.shadow.calls import PairList
from oracle.features.shadow.pairs import PairFigures, ShadowPair, SideFigures
from oracle.features.shadow.report import ShadowReport, pairs_of
from oracle.runs.storage.records import NewRun
from oracle.testing import ScriptedTurn
from tests.oracle.server.api.conftest import ALICE, OLGA, OPERATOR, TOKENS

OTHER = PairFigures(SideFigures("completed", 1, 0, 90, 5, 9), SideFigures("no_progress", 3, 4, 900, 50, 99), 0.25)
SAME = PairFigures(OTHER.primary, OTHER.primary, 1.0)


@pytest.fixture
async def service(start):
    return await start([ScriptedTurn(text="Hello.")], tokens=TOKENS | OPERATOR, operators=("olga",))


async def shadow_of(service, run_id, figures) -> str:
    """A pair as a shadow would have left it, without its run's log."""
    store = service.parts.store
    primary = await store.runs.find(run_id)
    new = NewRun(
        id=f"shadow-of-{run_id}",
        user_id=primary.user_id,
        context_id=f"shadow-of-{run_id}",
        tree="default",
        input=primary.input,
        limits=primary.limits,
        timeout_s=60,
        begins_conversation=False,
        shadow_of=run_id,
    )
    await store.runs.begin(new)
    await pairs_of(store).add(
        ShadowPair(run_id, "oracle", "oracle@aaaaaaaaaaaa", "loop", "running", primary.created_at, shadow_id=new.id)
    )
    await pairs_of(store).settle(run_id, state="finished", figures=figures)
    return new.id


async def test_operators_read_the_report_and_the_pairs_worst_first(service):
    first = await service.ask("Is it so?", headers=ALICE)
    second = await service.ask("Is it otherwise?", headers=ALICE)
    await shadow_of(service, first.run_id, SAME)
    shadow = await shadow_of(service, second.run_id, OTHER)
    report = (await service.client.get("/api/shadow/report", headers=OLGA)).json()
    (group,) = report["groups"]
    assert (group["primary"], group["shadow"], group["pairs"], report["pairs"]) == ("oracle@aaaaaaaaaaaa", "loop", 2, 2)
    assert report["groups"][0]["worst"][0]["primary_run_id"] == second.run_id
    page = (await service.client.get("/api/shadow/pairs", headers=OLGA, params={"limit": 1})).json()
    (pair,) = page["pairs"]
    assert (pair["primary_run_id"], pair["shadow_run_id"], pair["question"]) == (
        second.run_id, shadow, "Is it otherwise?",
    )  # fmt: skip
    assert pair["disagreement"] == 1.75
    rest = await service.client.get("/api/shadow/pairs", headers=OLGA, params={"after": page["next"]})
    assert [each["primary_run_id"] for each in rest.json()["pairs"]] == [first.run_id]
    assert rest.json()["next"] is None
    assert PairList.model_validate(page).model_dump(mode="json") == page
    assert ShadowReport.__name__ in str((await service.client.get("/openapi.json", headers=OLGA)).json())


async def test_what_users_think_of_the_answers_is_in_the_report(service):
    asked = await service.ask(headers=ALICE)
    await shadow_of(service, asked.run_id, SAME)
    given = {"rating": "down", "text": "It is wrong."}
    await service.client.post(f"/api/oracle/runs/{asked.run_id}/feedback", json=given, headers=ALICE)
    report = await service.client.get("/api/shadow/report", headers=OLGA)
    (group,) = report.json()["groups"]
    assert group["ratings"] == [{"rating": "down", "count": 1, "similar": 1}]
    pairs = await service.client.get("/api/shadow/pairs", headers=OLGA)
    assert pairs.json()["pairs"][0]["rating"] == "down"
    assert "It is wrong" not in report.text + pairs.text


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"tree": "oracle"}, 1),
        ({"tree": "loop"}, 1),
        ({"tree": "other"}, 0),
        ({"since": "2999-01-01"}, 0),
        ({"since": "2020-01-01T00:00:00Z"}, 1),
    ],
    ids=str,
)
async def test_pairs_are_filtered(service, params, found):
    asked = await service.ask(headers=ALICE)
    await shadow_of(service, asked.run_id, SAME)
    report = (await service.client.get("/api/shadow/report", headers=OLGA, params=params)).json()
    pairs = (await service.client.get("/api/shadow/pairs", headers=OLGA, params=params)).json()
    assert (report["pairs"], len(pairs["pairs"])) == (found, found)


async def test_pairs_are_filtered_by_their_controls(service):
    asked = await service.ask(headers=ALICE)
    await shadow_of(service, asked.run_id, SAME)
    for primary, found in (("oracle@aaaaaaaaaaaa", 1), ("oracle", 0)):
        params = {"primary": primary, "shadow": "loop"}
        page = (await service.client.get("/api/shadow/pairs", headers=OLGA, params=params)).json()
        assert len(page["pairs"]) == found


@pytest.mark.parametrize("path", ["/api/shadow/report", "/api/shadow/pairs"])
async def test_users_get_neither(service, path):
    assert (await service.client.get(path, headers=ALICE)).status_code == 403


async def test_a_shadow_does_not_exist_for_the_user_whose_question_it_has(service):
    asked = await service.ask(headers=ALICE)
    shadow = await shadow_of(service, asked.run_id, SAME)
    for method, path in (
        ("get", f"/api/oracle/runs/{shadow}"),
        ("get", f"/api/oracle/runs/{shadow}/stream"),
        ("post", f"/api/oracle/runs/{shadow}/cancel"),
        ("get", f"/api/runs/{shadow}/ticks"),
        ("get", f"/api/runs/{asked.run_id}/compare?with={shadow}"),
    ):
        assert (await service.client.request(method, path, headers=ALICE)).status_code == 404, path
    listed = (await service.client.get("/api/runs", headers=ALICE, params={"shadows": "true"})).json()
    assert [run["run_id"] for run in listed["runs"]] == [asked.run_id]


async def test_operators_list_read_and_compare_shadows(service):
    asked = await service.ask(headers=ALICE)
    shadow = await shadow_of(service, asked.run_id, SAME)
    listed = (await service.client.get("/api/runs", headers=OLGA, params={"shadows": "true"})).json()
    assert [(run["run_id"], run["shadow_of"]) for run in listed["runs"]] == [(shadow, asked.run_id)]
    plain = (await service.client.get("/api/runs", headers=OLGA)).json()
    assert [(run["run_id"], run["shadow_of"]) for run in plain["runs"]] == [(asked.run_id, None)]
    body = (await service.client.get(f"/api/oracle/runs/{shadow}", headers=OLGA)).json()
    assert body["shadow_of"] == asked.run_id
    compared = await service.client.get(f"/api/runs/{asked.run_id}/compare?with={shadow}", headers=OLGA)
    assert compared.status_code == 200
    assert compared.json()["difference"]["way"]["new"] == "had ended"
    assert (await service.client.post(f"/api/oracle/runs/{shadow}/cancel", headers=OLGA)).status_code == 202
