"""Who is let in: tokens, JWTs, and every way to get by without a good one."""

import asyncio
import base64
import hmac
import json
import time
from typing import Any

import jwt
import pytest

from tests.acceptance.scripts import answers
from tests.service.provider import Desk
from tests.service.server import Client, Server
from tests.service.users import JWT_SECRET, TOKENS

pytestmark = pytest.mark.asyncio(loop_scope="session")


def encoded(part: Any) -> str:
    raw = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def signed(header: dict[str, Any], claims: Any, *, key: str = JWT_SECRET, digest: str = "sha256") -> str:
    """A token with any header and claims, signed by hand."""
    body = f"{encoded(header)}.{encoded(claims)}"
    return f"{body}.{encoded(hmac.new(key.encode(), body.encode(), digest).digest())}"


def now_and(seconds: float) -> int:
    return int(time.time() + seconds)


HS256 = {"alg": "HS256", "typ": "JWT"}
BAD_JWTS = {
    "alg none": f"{encoded({'alg': 'none'})}.{encoded({'sub': 'alice'})}.",
    "alg none in capitals": f"{encoded({'alg': 'NONE'})}.{encoded({'sub': 'alice'})}.",
    "alg none but signed": signed({"alg": "none"}, {"sub": "alice"}),
    "no alg": signed({"typ": "JWT"}, {"sub": "alice"}),
    "HS512": signed({"alg": "HS512"}, {"sub": "alice"}, digest="sha512"),
    "HS256 named as RS256": signed({"alg": "RS256"}, {"sub": "alice"}),
    "HS256 named as ES256": signed({"alg": "ES256"}, {"sub": "alice"}),
    "alg as list": signed({"alg": ["HS256"]}, {"sub": "alice"}),
    "wrong key": signed(HS256, {"sub": "alice"}, key="x" * 64),
    "empty key": signed(HS256, {"sub": "alice"}, key=""),
    "key by kid": signed(HS256 | {"kid": "/dev/null"}, {"sub": "alice"}, key=""),
    "key in the header": signed(
        HS256 | {"jwk": {"kty": "oct", "k": encoded(b"x" * 64)}}, {"sub": "alice"}, key="x" * 64
    ),
    "no signature": ".".join(signed(HS256, {"sub": "alice"}).split(".")[:2]) + ".",
    "changed claims": ".".join(
        [encoded(HS256), encoded({"sub": "alice"}), signed(HS256, {"sub": "mallory"}).split(".")[2]]
    ),
    "no sub": signed(HS256, {"name": "alice"}),
    "empty sub": signed(HS256, {"sub": ""}),
    "sub as number": signed(HS256, {"sub": 7}),
    "sub as list": signed(HS256, {"sub": ["alice"]}),
    "sub with NUL": signed(HS256, {"sub": "alice\x00"}),
    "sub with line break": signed(HS256, {"sub": "alice\nbob"}),
    "sub of 256 characters": signed(HS256, {"sub": "a" * 256}),
    "sub of 10 000 characters": signed(HS256, {"sub": "a" * 10_000}),
    "claims are no object": signed(HS256, ["sub", "alice"]),
    "expired": signed(HS256, {"sub": "alice", "exp": now_and(-3600)}),
    "expired long ago": signed(HS256, {"sub": "alice", "exp": 0}),
    "not yet": signed(HS256, {"sub": "alice", "nbf": now_and(3600)}),
    "exp is no number": signed(HS256, {"sub": "alice", "exp": "never"}),
    "exp is a list": signed(HS256, {"sub": "alice", "exp": [1]}),
    "exp is infinite": signed(HS256, b'{"sub": "alice", "exp": 1e999}'),
    "nested deeply": signed(HS256, b'{"sub": "alice", "x": ' + b"[" * 3000 + b"]" * 3000 + b"}"),
    "must be understood": signed(HS256 | {"crit": ["x"], "x": 1}, {"sub": "alice"}),
    "rubbish": "a.b.c",
    "dots": "..",
}


async def status(client: Client, authorization: str | bytes, path: str = "/api/runs") -> int:
    response = await client.http.get(path, headers={"Authorization": authorization})
    return response.status_code


@pytest.mark.parametrize("token", BAD_JWTS.values(), ids=BAD_JWTS)
async def test_an_invalid_jwt_is_refused(stranger: Client, token: str) -> None:
    assert await status(stranger, f"Bearer {token}") == 401


async def test_a_good_jwt_is_the_user_of_its_sub(stranger: Client, guarded_desk: Desk, alice: Client) -> None:
    claims = {"sub": "alice", "exp": now_and(3600), "nbf": now_and(-10), "aud": "somebody", "iss": "me"}
    token = jwt.encode(claims, JWT_SECRET, algorithm="HS256")
    guarded_desk.play(answers("Yes."))
    heard = await alice.ask()
    response = await stranger.http.get(f"/api/oracle/runs/{heard.run_id}", headers={"Authorization": f"Bearer {token}"})
    assert response.status_code == 200
    other = jwt.encode({"sub": "Alice"}, JWT_SECRET, algorithm="HS256")
    response = await stranger.http.get(f"/api/oracle/runs/{heard.run_id}", headers={"Authorization": f"Bearer {other}"})
    assert response.status_code == 404  # user names are compared exactly


async def test_a_token_in_the_address_or_in_a_cookie_is_none(stranger: Client) -> None:
    token = TOKENS["alice"]
    for name in ("token", "access_token", "authorization", "api_key"):
        assert (await stranger.http.get("/api/runs", params={name: token})).status_code == 401
        assert (await stranger.http.get("/api/runs", headers={"Cookie": f"{name}={token}"})).status_code == 401
    for header in (
        "X-Api-Key",
        "Proxy-Authorization",
        "X-Authorization",
        "X-User-Id",
        "X-Forwarded-User",
        "Remote-User",
    ):
        assert (await stranger.http.get("/api/runs", headers={header: f"Bearer {token}"})).status_code == 401


SENTINEL = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def raw(server: Server, request: bytes) -> bytes:
    """All that a server answers to these very bytes, until it closes the connection."""
    host, port = server.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(request)
        async with asyncio.timeout(20):
            await writer.drain()
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def statuses(answer: bytes) -> list[int]:
    return [int(line.split()[1]) for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


GET_RUNS = b"GET /api/runs HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /healthz HTTP/1.1\r\nHost: x\r\n"
SMUGGLED = {
    "space before the colon": GET_RUNS + b"Authorization : Bearer %t\r\n\r\n",
    "folded line": GET_RUNS + b" Authorization: Bearer %t\r\n\r\n",
    "bare CR": GET_RUNS + b"X: y\rAuthorization: Bearer %t\r\n\r\n",
    "NUL": GET_RUNS + b"Authorization:\x00Bearer %t\r\n\r\n",
    "line break in the target": b"GET /api/runs?\r\nAuthorization: Bearer %t HTTP/1.1\r\nHost: x\r\n\r\n",
    "length and chunked": POST
    + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    + GET_RUNS
    + b"\r\n",
    "two lengths": POST + b"Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + GET_RUNS + b"\r\n",
    "negative length": POST + b"Content-Length: -1\r\n\r\n" + GET_RUNS + b"\r\n",
    "websocket": GET_RUNS + b"Upgrade: websocket\r\nConnection: close, Upgrade\r\n\r\n",
    "websocket by its key": GET_RUNS + b"Upgrade: websocket\r\nConnection: close, Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "TLS": b"\x16\x03\x01\x00\x00",
    "another host in the target": b"GET http://elsewhere/api/runs HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("sent", SMUGGLED.values(), ids=SMUGGLED)
async def test_smuggled_headers_and_requests_are_refused(guarded_server: Server, sent: bytes) -> None:
    answer = await raw(guarded_server, sent.replace(b"%t", TOKENS["alice"].encode()) + SENTINEL)
    assert b'"runs"' not in answer
    assert all(status < 500 for status in statuses(answer))


SPELLINGS = [
    "//api/runs",
    "/api//runs",
    "/API/runs",
    "/./api/runs",
    "/x/../api/runs",
    "/api/runs/",
    "/%61pi/runs",
    "/healthz/../api/runs",
    "/api/runs;x",
]


@pytest.mark.parametrize("path", SPELLINGS)
async def test_no_spelling_of_a_path_goes_past_the_check(guarded_server: Server, path: str) -> None:
    answer = await raw(guarded_server, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert statuses(answer)
    assert set(statuses(answer)) <= {307, 400, 401, 404}
    assert b'"runs"' not in answer
