"""Refusals below an adapter's path, whoever refuses: in the words of its protocol."""

import pytest

from oracle.core.features import features
from oracle.server.api.adapters import Adapter, adapter_of, adapters_of
from tests.oracle.server.api.conftest import ALICE, TOKENS
from tests.oracle.server.connect.base.conftest import PLAIN


def fault(response):
    assert response.headers["x-request-id"]
    assert response.json().keys() == {"fault", "again_after_s"}
    found = response.json()["fault"]
    assert found["code"] == response.status_code
    return response.status_code, found["message"], found["where"]


@pytest.fixture
def database_url():
    return None


async def test_no_token_is_needed_by_a_path_of_its_own_and_without_one_nothing_is_answered(plain):
    client = await plain(tokens=TOKENS)
    response = await client.post("hi")
    assert fault(response)[0] == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert (await client.service.client.post("/plain/ask", json=client.body("hi"), headers=ALICE)).status_code == 200


async def test_the_guard_of_a_service_without_auth_stands_in_front_as_well(plain):
    client = (await plain()).service.client
    assert fault(await client.post("/plain/ask", headers={"Host": "evil.example"}, json={}))[0] == 400
    assert fault(await client.post("/plain/ask", headers={"Origin": "https://evil.example"}, json={}))[0] == 403


async def test_callers_are_rate_limited_together_with_the_services_own_calls(plain):
    client = await plain(requests_per_minute=1)
    assert (await client.service.client.post("/api/trees/check", json={"source": "root: finish"})).status_code == 200
    response = await client.post("hi")
    assert fault(response)[0] == 429
    assert response.json()["again_after_s"] == int(response.headers["retry-after"]) > 0


async def test_bodies_may_be_larger_than_elsewhere_and_are_bounded(plain):
    client = (await plain()).service.client
    large, huge = b'{"x":"%b"}' % (b"x" * 3_000_000), b'{"x":"%b"}' % (b"x" * 9_000_000)
    headers = {"Content-Type": "application/json"}
    assert (await client.post("/api/oracle", content=large, headers=headers)).status_code == 413
    assert fault(await client.post("/plain/none", content=large, headers=headers))[0] == 404
    status, message, _ = fault(await client.post("/plain/ask", content=huge, headers=headers))
    assert (status, message) == (413, "A body may have at most 8,000,000 bytes.")


async def test_errors_of_calls_and_of_the_router_come_in_that_form_too(plain):
    client = (await plain(provider_answers=False)).service.client
    post = client.post
    assert fault(await post("/plain/ask", json={"question": "hi", "model": "other"})) == (
        422,
        "model: the offline model answers, so no other model can be named; leave `model` out",
        ["body", "model"],
    )
    assert fault(await post("/plain/ask", content=b"[", headers={"Content-Type": "application/json"}))[0] == 422
    assert fault(await client.get("/plain/runs/none")) == (404, "There is no such run.", [])
    assert fault(await client.get("/plain/ask"))[0] == 405
    assert fault(await post("/plain/ask", json={"question": "hi", "unknown": 1}))[0] == 500
    assert (await post("/plain/ask?unknown=1", json={"question": "hi"})).status_code == 200
    assert (await client.get("/plainly")).json() == {"detail": "Not Found"}


@pytest.mark.parametrize(
    ("path", "found"), [("/v1", 1), ("/v1/", 1), ("/v1/models", 1), ("/v10", None), ("/x/v1", None), ("/V1/m", None)]
)
def test_an_adapter_has_its_path_and_what_is_below(path, found):
    adapter = adapter_of(path, [PLAIN, Adapter("/v1", "one")])
    assert (adapter is None) == (found is None)


def test_every_adapter_gets_the_requests_below_its_path() -> None:
    adapters = adapters_of(features())
    assert len(adapters) == 4
    assert [adapter_of(f"{each.path}/any", adapters) for each in adapters] == [*adapters]
