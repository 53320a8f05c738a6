"""Where a client finds out who issues access tokens for the service (RFC 9728).

Behind a proxy that ends TLS the service does not know its own scheme. What the proxy says of it (`X-Forwarded-Proto`),
and `Host`, are taken as they are: they come back to whoever has sent them, and decide nothing.
"""

import re
from typing import Final

from fastapi import APIRouter
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from oracle.core.features import features
from oracle.server.api.access import Parts
from oracle.server.api.adapters import adapters_of
from oracle.server.api.errors import json_answer

router = APIRouter(include_in_schema=False)

_METADATA: Final = "/.well-known/oauth-protected-resource"
_HOST: Final = re.compile(r"[A-Za-z0-9.:\[\]-]{1,260}")


@router.get(_METADATA + "{path:path}")
async def describe_resource(path: str, request: Request, parts: Parts) -> Response:
    """The issuers of tokens for the calls below a path: an adapter's, or all."""
    origin, issuers = _origin(request.scope), [entry.partition("=")[2] for entry in parts.settings.oidc_issuers]
    paths = ("", *(each.path for each in adapters_of(features(parts.settings.features))))
    if not issuers or origin is None or path not in paths:
        raise HTTPException(404, "No issuer of tokens is configured for this (ORACLE_OIDC_ISSUERS).")
    body = {"resource": origin + path, "authorization_servers": issuers, "bearer_methods_supported": ["header"]}
    return json_answer(body)


def challenge(scope: Scope, path: str) -> str:
    """The `WWW-Authenticate` of a refusal that says where that is; `path` is an adapter's."""
    origin = _origin(scope)
    return "Bearer" if origin is None else f'Bearer resource_metadata="{origin}{_METADATA}{path}"'


def _origin(scope: Scope) -> str | None:
    headers = Headers(scope=scope)
    host, is_behind = headers.get("host", ""), headers.get("x-forwarded-proto") == "https"
    return f"{'https' if is_behind else scope['scheme']}://{host}" if _HOST.fullmatch(host) else None
