"""`POST /mcp`: the Model Context Protocol over HTTP, stateless; see `docs/mcp.md`.

The library is an extra. It is imported when the first request comes, and without it the answer says what to install.
"""

import asyncio
from collections.abc import Collection
from importlib.util import find_spec
from typing import Any

from fastapi import APIRouter, HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from oracle.core.loading import imported
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.adapters import MOST_BODY_BYTES, Refusal
from oracle.server.api.answers import json_answer

router = APIRouter()

MISSING = "this needs the package 'mcp', which is not installed: pip install 'oracle-bt[mcp]'"


def refused(refusal: Refusal) -> Response:
    """The refusal as an error of JSON-RPC, which belongs to no request."""
    code = -32602 if refusal.status == 422 else -32600
    error = {"code": code, "message": refusal.message}
    return json_answer({"jsonrpc": "2.0", "id": None, "error": error}, status=refusal.status)


@router.post("/mcp")
async def serve_mcp(request: Request, parts: Parts, caller: CallerNow) -> Response:
    """Answer one message."""
    if find_spec("mcp") is None:
        raise HTTPException(501, f"/mcp is not served: {MISSING}")
    _refuse_foreign_page(request, parts.settings.cors_origins)
    del caller  # the server asks for it itself
    server_of = await asyncio.to_thread(imported, "oracle.server.connect.mcp.serving:server_of")
    return _Answered(await server_of(request.app.state, parts))


def _refuse_foreign_page(request: Request, origins: Collection[str]) -> None:
    """The protocol asks for this also where a token is needed, which no foreign page has."""
    own = f"//{request.headers.get('host', '')}".casefold()
    for origin in request.headers.getlist("origin"):
        if not origin.casefold().endswith(own) and origin not in origins:
            raise HTTPException(403, "pages of this origin may not call the service (ORACLE_CORS_ORIGINS)")


class _Answered(Response):
    """What the server answers to the request."""

    def __init__(self, server: Any) -> None:  # noqa: ANN401  a type of the library
        super().__init__()
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the message answered; what is done for it ends with the request."""
        manager = imported("mcp.server.streamable_http_manager:StreamableHTTPSessionManager")(
            self._server, stateless=True, max_request_body_size=MOST_BODY_BYTES
        )
        # What surrounds a header's value is none of it (RFC 9110, 5.5), and the parser keeps what is behind it.
        scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
        async with manager.run():
            await manager.handle_request(scope, receive, send)
