"""Sign-in at a real issuer on loopback, as the console does it, and what an issuer may answer."""

import base64
import hashlib
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from pydantic import ValidationError

from oracle.features.sign_in import calls
from oracle.server.settings.fields import Settings
from tests.oracle.server.api.conftest import TOKENS
from tests.support.issuer import issuing

VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
BACK = "http://127.0.0.1:8000/"


@pytest.fixture
def issuer():
    calls._found.clear()
    with issuing() as server:
        yield server


@pytest.fixture
async def service(issuer, start):
    return await start(
        (),
        tokens=TOKENS,
        oidc_issuers=(f"corp={issuer.url}",),
        oidc_audiences=("corp=oracle",),
        oidc_clients=("corp=console",),
        oidc_scopes=("corp=openid api://oracle/use",),
    )


async def code_of(service, **more) -> str:
    """The code that the issuer sends to the browser of a user who has signed in there."""
    found = (await service.client.get("/open/sign-in/corp")).json()
    asked = {
        "response_type": "code",
        "client_id": found["client_id"],
        "scope": found["scope"],
        "state": "s",
        "redirect_uri": BACK,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        **more,
    }
    async with httpx2.AsyncClient() as browser:
        sent = await browser.get(found["address"], params=asked)
    return parse_qs(urlsplit(sent.headers["location"]).query)["code"][0]


def body(code: str, **more: str) -> dict[str, dict[str, str]]:
    return {"json": {"code": code, "verifier": VERIFIER, "redirect_uri": BACK, **more}}


async def test_a_code_becomes_the_token_of_its_user(service) -> None:
    assert (await service.client.get("/open/sign-in")).json() == {"issuers": ["corp"]}
    code = await code_of(service)
    exchanged = await service.client.post("/open/sign-in/corp", **body(code))
    assert exchanged.headers["cache-control"] == "no-store"
    me = await service.client.get("/api/me", headers={"Authorization": f"Bearer {exchanged.json()['token']}"})
    assert me.json()["user_id"] == "corp:anna"
    again = await service.client.post("/open/sign-in/corp", **body(code))
    assert (again.status_code, again.json()) == (403, {"detail": "'corp' has not accepted the sign-in. Sign in again."})


@pytest.mark.parametrize("wrong", [{"verifier": "w" * 43}, {"redirect_uri": "https://elsewhere.example/"}])
async def test_a_code_without_what_belongs_to_it_is_worth_nothing(service, wrong) -> None:
    exchanged = await service.client.post("/open/sign-in/corp", **body(await code_of(service), **wrong))
    assert exchanged.status_code == 403


@pytest.mark.parametrize(
    "given", [{}, body("c", verifier="short"), body("c" * 4_001), body("", redirect_uri=""), {"json": ["code"]}]
)
async def test_a_wrong_body_is_refused(service, given) -> None:
    assert (await service.client.post("/open/sign-in/corp", **given)).status_code == 422


async def test_an_issuer_that_users_cannot_sign_in_at_is_not_found(service) -> None:
    assert (await service.client.get("/open/sign-in/other")).status_code == 404
    assert (await service.client.post("/open/sign-in/other", **body("c"))).status_code == 404
    assert (await service.client.get("/open/else")).status_code == 404


@pytest.mark.parametrize(
    "answer",
    [
        (500, {}, b"{}"),
        (200, {}, b"[]"),
        (200, {}, b"no JSON"),
        (200, {}, b" " * 1_000_001),
        (302, {"Location": "http://127.0.0.1:1/"}, b""),
        (
            200,
            {},
            b'{"issuer": "https://other.example", "authorization_endpoint": "https://a.b/", "token_endpoint": "https://a.b/"}',
        ),
    ],
)
async def test_an_issuer_that_answers_something_else_is_not_gone_to(service, issuer, answer) -> None:
    issuer.answers[issuer.discovery_path] = answer
    found = await service.client.get("/open/sign-in/corp")
    assert (found.status_code, found.json()) == (503, {"detail": "'corp' does not answer. Try again in a minute."})


async def test_an_issuer_is_asked_where_to_go_once(service, issuer) -> None:
    for _ in range(3):
        await service.client.get("/open/sign-in/corp")
    assert issuer.fetches == 1
    issuer.stop()
    assert (await service.client.post("/open/sign-in/corp", **body("code-0"))).status_code == 503


@pytest.mark.parametrize("address", ["javascript:alert(1)", "http://login.example.com/", 7, None])
async def test_no_browser_is_sent_to_an_address_that_is_not_guarded(service, issuer, address) -> None:
    document = {"issuer": issuer.url, "authorization_endpoint": address, "token_endpoint": f"{issuer.url}/token"}
    issuer.answers[issuer.discovery_path] = (200, {}, httpx2.Request("POST", "http://a", json=document).content)
    assert (await service.client.get("/open/sign-in/corp")).status_code == 503


async def test_only_so_many_ask_an_issuer_at_once(service, monkeypatch) -> None:
    await service.client.get("/open/sign-in/corp")
    monkeypatch.setattr(calls, "_places", calls.asyncio.Semaphore(0))
    assert (await service.client.post("/open/sign-in/corp", **body("code-0"))).status_code == 503


def test_each_client_belongs_to_an_issuer() -> None:
    with pytest.raises(ValidationError) as error:
        Settings(
            oidc_issuers="corp=https://login.example.com",
            oidc_audiences="corp=oracle",
            oidc_clients="corp=console,other=console,corp=",
            oidc_scopes="corp",
        )
    said = str(error.value)
    assert said.count("must be 'name=value' with a name of ORACLE_OIDC_ISSUERS, not") == 3
    assert "'other=console'" in said
