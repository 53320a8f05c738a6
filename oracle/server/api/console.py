"""The web console: its page at every address that it has, and its files. All without a token: they contain no data.

An address of the console is known here as well as there, so that any other one is a 404 in JSON, as for every client.
"""

import base64
import hashlib
import secrets
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response

from oracle.console.built import PAGE_HEADERS, ConsoleFile, page_policy
from oracle.server.api.access import Parts

router = APIRouter(include_in_schema=False)

ADDRESSES = (
    "/",
    "/chat/{context_id}",
    "/runs",
    "/runs/{run_id}",
    "/compare/{run_id}/{other_id}",
    "/shadow",
    "/usage",
    "/waiting",
    "/trees",
    "/trees/{name}",
    "/settings",
)
"""The routes of `web/src/app/App.tsx`; the console asks for a token at any of them."""

_NO_CONSOLE: Final = (Path(__file__).parent / "no_console.html").read_text(encoding="utf-8")
"""The page where the console has not been built: what this is, how it is reached, and how the console is built."""
_STYLE: Final = _NO_CONSOLE.partition("<style>")[2].partition("</style>")[0]
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_NO_CONSOLE_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'"
)
"""Its own style, and nothing else."""

_FOR_EVER = "public, max-age=31536000, immutable"
"""For files that have a digest of their content in their name."""


async def page(request: Request, parts: Parts) -> Response:
    """The console's page; where it has not been built, one that says what this service is."""
    if parts.console is None:
        status = 200 if request.url.path == "/" else 404
        return HTMLResponse(_NO_CONSOLE, status, headers={"Content-Security-Policy": _NO_CONSOLE_POLICY})
    nonce = secrets.token_urlsafe(16)
    return HTMLResponse(
        parts.console.page(nonce=nonce), headers={**PAGE_HEADERS, "Content-Security-Policy": page_policy(nonce)}
    )


for _address in ADDRESSES:
    router.add_api_route(_address, page, methods=["GET", "HEAD"])


@router.head("/assets/{name}")
@router.get("/assets/{name}")
async def asset(name: str, request: Request, parts: Parts) -> Response:
    """A script, a style sheet or a font of the console."""
    return _answer(request, _file(parts, f"assets/{name}"), caching=_FOR_EVER)


@router.head("/icon.svg")
@router.get("/icon.svg")
async def icon(request: Request, parts: Parts) -> Response:
    """The icon of the console's tab; asked for again and again, and answered when it has changed."""
    return _answer(request, _file(parts, "icon.svg"), caching="no-cache")


def _file(parts: Parts, name: str) -> ConsoleFile:
    found = None if parts.console is None else parts.console.files.get(name)
    if found is None:
        raise HTTPException(404, headers={"Cache-Control": "no-store"})
    return found


def _answer(request: Request, file: ConsoleFile, *, caching: str) -> Response:
    headers = {
        "Cache-Control": caching,
        "Cross-Origin-Resource-Policy": "same-origin",
        "ETag": file.etag,
        "Vary": "Accept-Encoding",
    }
    known = request.headers.get("if-none-match", "")
    if known == "*" or file.etag in {each.strip() for each in known.split(",")}:
        return Response(status_code=304, headers=headers)
    encoded = file.in_encoding(request.headers.get("accept-encoding", ""))
    if encoded.coding is not None:
        headers["Content-Encoding"] = encoded.coding
    return Response(encoded.body, media_type=file.media_type, headers=headers)
