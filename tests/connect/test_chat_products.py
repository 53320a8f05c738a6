"""Open WebUI and LibreChat as they connect: one key for all users, whom a signed header or a named one tells apart."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx2
import jwt
import openai
import pytest

from oracle.testing import ScriptedTurn
from tests.connect.stage import BACKENDS, OPENWEBUI_SECRET, PATIENCE_S, Stage, token

pytestmark = pytest.mark.asyncio(loop_scope="session")

RECORDED = Path(__file__).parents[1] / "data" / "clients"
TASKS = {"title", "tags", "follow_ups", "queries", "other"}
ROWS: dict[str, list[dict[str, Any]]] = {
    product: json.loads((RECORDED / f"{product}.json").read_text(encoding="utf-8")) for product in BACKENDS
}


def naming(product: str, user: str, *, secret: str = OPENWEBUI_SECRET) -> dict[str, str]:
    """The headers by which a product names a user."""
    if product == "librechat":
        return {"X-User-Id": user}
    claims = {"iss": "open-webui", "sub": user, "role": "user", "exp": int(time.time()) + 300}
    return {"X-OpenWebUI-User-Jwt": jwt.encode(claims, secret, algorithm="HS256")}


def user_client(stage: Stage, product: str, user: str, *, url: str = "") -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {token(BACKENDS[product])}", **naming(product, user)}
    options: Any = {"timeout": PATIENCE_S, "trust_env": False, "verify": False}
    return httpx2.AsyncClient(base_url=url or stage.url, headers=headers, **options)


async def runs_of(stage: Stage, product: str, user: str) -> dict[str, Any]:
    async with user_client(stage, product, user) as client:
        return {run["run_id"]: run for run in (await client.get("/api/runs")).json()["runs"]}


def send(client: httpx2.AsyncClient, row: dict[str, Any]) -> Any:
    """A recorded request, as a context that has the answer."""
    return client.stream("POST", "/v1/chat/completions", json=row["body"], headers=row["headers"])


@pytest.mark.parametrize("product", BACKENDS)
@pytest.mark.usefixtures("on_both_databases")
async def test_recorded_requests_of_two_users_make_their_own_runs(stage: Stage, product: str) -> None:
    """One worker answers a request, the other one the next."""
    rows = ROWS[product]
    stage.desk.play(*(ScriptedTurn(text=f"Answer {n}.") for n in range(1, len(rows) + 1)))
    for n, row in enumerate(rows):
        before = {user: await runs_of(stage, product, user) for user in ("u-1", "u-2")}
        worker = stage.workers[n % len(stage.workers)]
        async with user_client(stage, product, row["user"], url=worker.url) as client, send(client, row) as response:
            assert response.status_code == 200, await response.aread()
            await response.aread()
        made = {user: len(await runs_of(stage, product, user)) - len(before[user]) for user in before}
        assert made.pop(row["user"]) == (0 if row["makes"] in TASKS else 1), row["name"]
        assert list(made.values()) == [0], row["name"]
    theirs = [(await runs_of(stage, product, user)).keys() for user in ("u-1", "u-2")]
    assert all(theirs)
    assert not theirs[0] & theirs[1]


@pytest.mark.usefixtures("on_both_databases")
async def test_a_killed_worker_costs_products_no_answer_and_makes_no_further_run(stage: Stage) -> None:
    """What a product asks for itself in that moment is lost without a trace, and asked again by it."""
    begins = ScriptedTurn(text=("It begins ", "here "), hang=True)
    stage.desk.play(
        *[begins] * 4, *[ScriptedTurn(text="and ends.")] * 2, *[ScriptedTurn(text='{"title": "Login."}')] * 4
    )
    chats = [(product, next(row for row in ROWS[product] if row["name"] == "chat")) for product in BACKENDS]
    titles = [(product, next(row for row in ROWS[product] if row["makes"] == "title")) for product in BACKENDS]

    async def cut_off(product: str, row: dict[str, Any]) -> str:
        read: list[str] = []

        async def answer() -> None:
            async with user_client(stage, product, "k-1") as client, send(client, row) as response:
                async for piece in response.aiter_text():
                    read.append(piece)  # noqa: PERF401  what came before the error counts

        with pytest.raises(httpx2.TransportError):
            await answer()
        return "".join(read)

    asking = [asyncio.create_task(cut_off(*each)) for each in (*chats, *titles)]
    await stage.desk.wait_request(len(asking))
    await stage.kill()
    assert (await asyncio.gather(*asking))[2:] == ["", ""]
    for (product, chat), (_, title) in zip(chats, titles, strict=True):
        [first] = await runs_of(stage, product, "k-1")
        async with user_client(stage, product, "k-1") as client:
            native = (await client.get(f"/api/oracle/runs/{first}/stream")).text
            assert ("and ends." in native, '"completed"' in native) == (True, True)
            messages = [
                *chat["body"]["messages"],
                {"role": "assistant", "content": "It begins "},
            ]  # as far as it was seen
            second = {
                **chat,
                "body": {**chat["body"], "messages": [*messages, {"role": "user", "content": "And then?"}]},
            }
            for row in (title, second):
                async with send(client, row) as response:
                    assert "Login." in (await response.aread()).decode()
        runs = await runs_of(stage, product, "k-1")
        assert len(runs) == 2
        assert len({run["context_id"] for run in runs.values()}) == 1
        assert await runs_of(stage, product, "k-2") == {}


@pytest.mark.parametrize(
    ("key", "headers"),
    [
        (token("webui"), naming("open_webui", "u-1", secret="another secret that nobody has told us")),
        (token("webui"), {}),
        (token("alice"), naming("open_webui", "u-1")),
        (token("alice"), {"X-User-Id": "u-1"}),
        (token("librechat"), {"X-User-Id": "{{LIBRECHAT_USER_ID}}"}),
    ],
    ids=["forged", "nobody", "no backend", "no backend, plain", "a template"],
)
async def test_who_is_not_proved_to_be_somebody_is_refused_with_the_sdks_own_error(
    stage: Stage, key: str, headers: dict[str, str]
) -> None:
    stage.desk.play()
    http = httpx2.AsyncClient(trust_env=False, verify=False)
    async with openai.AsyncOpenAI(
        base_url=f"{stage.url}/v1", api_key=key, default_headers=headers, http_client=http
    ) as sdk:
        with pytest.raises(openai.PermissionDeniedError) as raised:
            await sdk.chat.completions.create(model="oracle", messages=[{"role": "user", "content": "hello?"}])
    assert raised.value.type == "permission_error"
    assert "ORACLE_" in raised.value.body["message"] or "not" in raised.value.body["message"]
    assert not stage.desk.requests
