"""The calls of the console's sign-in, which need no token.

The browser keeps the PKCE verifier and `state`; the service asks the issuer, so the page needs no access to other
origins. Nothing is stored: the access token goes to the browser, which sends it as any other bearer token.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Annotated, Any, Final

import structlog
from fastapi import APIRouter
from pydantic import StringConstraints
from starlette.responses import Response

from oracle.core.encoding import from_json
from oracle.core.errors import NotFoundError, UserError
from oracle.features.sign_in import by_name
from oracle.server.api.access import Parts
from oracle.server.api.bodies import RequestBody
from oracle.server.api.errors import json_answer
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.identity import Issuer, check_callers, is_guarded

log = structlog.get_logger(__name__)

router = APIRouter()

_FRESH_S: Final = 300.0
_AGAIN_S: Final = 10.0
"""How soon an issuer is asked again that has not answered."""
_MOST_AT_ONCE: Final = 8
_WAIT_S: Final = 5.0
_MOST_BYTES: Final = 1_000_000

_places = asyncio.Semaphore(_MOST_AT_ONCE)
_found: dict[str, tuple[float, Mapping[str, str] | None]] = {}
"""By an issuer's address: when it was asked, and its endpoints; `None`: it has not answered with any."""

Short = Annotated[str, StringConstraints(min_length=1, max_length=4_000)]


class CodeBody(RequestBody):
    """What the issuer has sent to the console, and what the console has kept for it."""

    code: Short
    verifier: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~-]{43,128}$")]
    redirect_uri: Short


@router.get("/open/sign-in")
async def list_issuers(parts: Parts) -> Response:
    """The names of the issuers at which users can sign in."""
    return json_answer({"issuers": list(by_name(parts.settings["oidc_clients"]))})


@router.get("/open/sign-in/{name}")
async def read_issuer(name: str, parts: Parts) -> Response:
    """Where the browser goes to sign in, and as what."""
    issuer, client_id = _client(name, parts)
    scope = by_name(parts.settings["oidc_scopes"]).get(name, "openid")
    endpoints = await _endpoints(issuer)
    return json_answer({"address": endpoints["authorization"], "client_id": client_id, "scope": scope})


@router.post("/open/sign-in/{name}")
async def exchange_code(name: str, body: CodeBody, parts: Parts) -> Response:
    """Exchange the code of a sign-in for its access token."""
    issuer, client_id = _client(name, parts)
    endpoints = await _endpoints(issuer)
    form = {
        "grant_type": "authorization_code",
        "code": body.code,
        "code_verifier": body.verifier,
        "redirect_uri": body.redirect_uri,
        "client_id": client_id,
    }
    status, answer = await _asked(issuer, "POST", endpoints["token"], data=form)
    token = answer.get("access_token")
    if status != 200 or not isinstance(token, str):
        log.warning("sign_in.refused", issuer=name, status=status, problem=str(answer.get("error"))[:100])
        raise UserError(f"{name!r} has not accepted the sign-in. Sign in again.", status=403)
    return json_answer({"token": token}, headers={"Cache-Control": "no-store"})


def _client(name: str, parts: ServiceParts) -> tuple[Issuer, str]:
    client_id = by_name(parts.settings["oidc_clients"]).get(name)
    if client_id is None:
        raise NotFoundError("There is no such issuer to sign in at (ORACLE_OIDC_CLIENTS).")
    return next(each for each in check_callers(parts.settings) if each.name == name), client_id


async def _endpoints(issuer: Issuer) -> Mapping[str, str]:
    """Its endpoints by `authorization` and `token`, which are asked for every five minutes at most."""
    asked_s, known = _found.get(issuer.url, (float("-inf"), None))
    if time.monotonic() - asked_s >= (_AGAIN_S if known is None else _FRESH_S):
        _found[issuer.url] = time.monotonic(), known  # nobody else asks meanwhile
        address = f"{issuer.url.rstrip('/')}/.well-known/openid-configuration"
        status, document = await _asked(issuer, "GET", address)
        named = {each: document.get(f"{each}_endpoint") for each in ("authorization", "token")}
        guarded = {each: address for each, address in named.items() if is_guarded(address)}
        if status == 200 and document.get("issuer") == issuer.url and len(guarded) == len(named):
            known = guarded
        _found[issuer.url] = time.monotonic(), known
    if known is None:
        raise _unanswered(issuer)
    return known


async def _asked(
    issuer: Issuer, method: str, address: str, *, data: Mapping[str, str] | None = None
) -> tuple[int, dict[str, Any]]:
    """The status and the JSON object that the issuer answers, within bounds of size and time."""
    import httpx2  # noqa: PLC0415  only where users sign in

    if _places.locked():
        raise _unanswered(issuer)
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    received = bytearray()
    try:
        async with (
            _places,
            asyncio.timeout(_WAIT_S),
            httpx2.AsyncClient(follow_redirects=False) as client,
            client.stream(method, address, headers=headers, data=data) as response,
        ):
            async for piece in response.aiter_raw():
                received += piece
                if len(received) > _MOST_BYTES:
                    raise _unanswered(issuer)
        answer = from_json(bytes(received))
    except (httpx2.HTTPError, TimeoutError, ValueError) as error:
        log.warning("issuer.unreachable", issuer=issuer.name, problem=str(error)[:300] or type(error).__name__)
        raise _unanswered(issuer) from None
    return response.status_code, answer if isinstance(answer, dict) else {}


def _unanswered(issuer: Issuer) -> UserError:
    return UserError(f"{issuer.name!r} does not answer. Try again in a minute.", status=503)
