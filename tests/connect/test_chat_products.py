"""Open WebUI and LibreChat as they connect: one key for all users, whom a signed header or a named one tells apart."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import openai
import pytest
import pytest_asyncio

from oracle.testing import ScriptedTurn
from tests.connect.stage import Stage, staged

pytestmark = pytest.mark.asyncio(loop_scope="session")

RECORDED = Path(__file__).parents[1] / "data" / "clients"
TASKS = {"title", "tags", "follow_ups", "queries", "other"}
SECRET = "a-secret-that-open-webui-and-we-share-0123"
KEYS = {"open_webui": "key-of-open-webui", "librechat": "key-of-librechat"}


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def products(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """A service that both products may use."""
    settings = {
        "ORACLE_TOKENS": "key-of-open-webui=webui,key-of-librechat=librechat,key-of-anna=anna",
        "ORACLE_OPERATORS": "anna",
        "ORACLE_CHAT_BACKENDS": "webui,librechat",
        "ORACLE_OPENWEBUI_JWT_SECRET": SECRET,
        "ORACLE_USER_HEADER": "X-User-Id",
    }
    async with staged(tmp_path_factory.mktemp("products"), **settings) as stage:
        yield stage


def naming(product: str, user: str, *, secret: str = SECRET) -> dict[str, str]:
    """The headers by which a product names a user."""
    if product == "librechat":
        return {"X-User-Id": user}
    claims = {"iss": "open-webui", "sub": user, "role": "user", "exp": int(time.time()) + 300}
    return {"X-OpenWebUI-User-Jwt": jwt.encode(claims, secret, algorithm="HS256")}


def user_client(stage: Stage, product: str, user: str) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {KEYS[product]}", **naming(product, user)}
    return httpx2.AsyncClient(base_url=stage.url, headers=headers, timeout=60, trust_env=False, verify=False)


async def run_ids(stage: Stage, product: str, user: str) -> set[str]:
    async with user_client(stage, product, user) as client:
        runs = (await client.get("/api/runs")).json()["runs"]
    return {run["run_id"] for run in runs}


@pytest.mark.parametrize("product", KEYS)
async def test_recorded_requests_of_two_users_make_their_own_runs(products: Stage, product: str) -> None:
    rows: list[dict[str, Any]] = json.loads((RECORDED / f"{product}.json").read_text(encoding="utf-8"))
    products.desk.play(*(ScriptedTurn(text=f"Answer {n}.") for n in range(1, len(rows) + 1)))
    for row in rows:
        before = {user: await run_ids(products, product, user) for user in ("u-1", "u-2")}
        async with user_client(products, product, row["user"]) as client:
            response = await client.post("/v1/chat/completions", json=row["body"], headers=row["headers"])
        assert response.status_code == 200, response.text
        made = {user: len(await run_ids(products, product, user) - before[user]) for user in before}
        assert made.pop(row["user"]) == (0 if row["makes"] in TASKS else 1), row["name"]
        assert list(made.values()) == [0], row["name"]
    theirs = [await run_ids(products, product, user) for user in ("u-1", "u-2")]
    assert all(theirs)
    assert not theirs[0] & theirs[1]


@pytest.mark.parametrize(
    ("key", "headers"),
    [
        ("key-of-open-webui", naming("open_webui", "u-1", secret="another secret that nobody has told us")),
        ("key-of-open-webui", {}),
        ("key-of-anna", naming("open_webui", "u-1")),
        ("key-of-anna", {"X-User-Id": "u-1"}),
        ("key-of-librechat", {"X-User-Id": "{{LIBRECHAT_USER_ID}}"}),
    ],
    ids=["forged", "nobody", "no backend", "no backend, plain", "a template"],
)
async def test_who_is_not_proved_to_be_somebody_is_refused_with_the_sdks_own_error(
    products: Stage, key: str, headers: dict[str, str]
) -> None:
    products.desk.play()
    http = httpx2.AsyncClient(trust_env=False, verify=False)
    async with openai.AsyncOpenAI(
        base_url=f"{products.url}/v1", api_key=key, default_headers=headers, http_client=http
    ) as sdk:
        with pytest.raises(openai.PermissionDeniedError) as raised:
            await sdk.chat.completions.create(model="oracle", messages=[{"role": "user", "content": "hello?"}])
    assert raised.value.type == "permission_error"
    assert "ORACLE_" in raised.value.body["message"] or "not" in raised.value.body["message"]
    assert not products.desk.requests
