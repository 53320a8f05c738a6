"""`POST /mcp`: the Model Context Protocol over HTTP, stateless; see `docs/chat.md`.

The library is an extra. It is imported when the first request comes, and without it the answer says what to install.
"""

import asyncio
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, Final

from fastapi import APIRouter, HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from oracle.core.encoding import from_json
from oracle.core.loading import imported
from oracle.server.api.access import CallerNow, Parts
from oracle.server.api.adapters import MOST_BODY_BYTES, Refusal
from oracle.server.api.errors import json_answer
from oracle.server.connect.base.chain import check_amount

router = APIRouter()

_MOST_VALUES: Final = 5_000
"""Of a message; the library makes an error of every wrong one, or several."""

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
    # The protocol asks for this also where a token is needed, which no foreign page has.
    own = f"//{request.headers.get('host', '')}".casefold()
    for origin in request.headers.getlist("origin"):
        if not origin.casefold().endswith(own) and origin not in parts.settings.cors_origins:
            raise HTTPException(403, "pages of this origin may not call the service (ORACLE_CORS_ORIGINS)")
    del caller  # the server asks for it itself
    server_of = await asyncio.to_thread(imported, "oracle.features.mcp_server.serving:server_of")
    body = await request.body()
    with suppress(ValueError):  # the server says what is wrong with it
        check_amount(from_json(body), most_values=_MOST_VALUES)
    return _Answered(await server_of(request.app.state, parts), body)


class _Answered(Response):
    """What the server answers to the request."""

    def __init__(self, server: Any, body: bytes) -> None:  # noqa: ANN401  a type of the library
        super().__init__()
        self._server = server
        self._messages = iter([{"type": "http.request", "body": body}])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have the message answered; what is done for it ends with the request."""
        manager = imported("mcp.server.streamable_http_manager:StreamableHTTPSessionManager")(
            self._server, stateless=True, max_request_body_size=MOST_BODY_BYTES
        )
        # White space around a header's value is not part of it (RFC 9110, 5.5); the parser keeps what is behind it.
        scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}

        async def again() -> Message:
            return next(self._messages, None) or await receive()

        async with manager.run():
            await manager.handle_request(scope, again, send)
