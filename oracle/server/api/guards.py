"""Middleware in front of the calls: plain ASGI, so that a stream needs no further task and no queue.

From the outside in (in front of all, `OwnRefusals` of `oracle.server.api.adapters` puts refusals into words):

1. `Edge`: request id, log line, headers that protect browsers, and an answer to unexpected errors.
2. CORS, if the operator has named origins (Starlette's).
3. `LoopbackGuard`, only without authentication: requests must come from this machine's own pages.
4. `AuthGuard`: everything below `/api/` and the paths of adapters needs a caller, and callers are rate-limited.
5. `BodyLimit`: bounds the size of a body and the time that it takes.
"""

import asyncio
import contextlib
import math
import re
import time
import traceback
from collections.abc import Callable, Collection, Sequence
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from oracle.server.api.adapters import Adapter, adapter_of
from oracle.server.api.auth import Authenticator, UnauthorizedError
from oracle.server.api.errors import bounded, json_answer, later
from oracle.server.api.load import Bucket, Buckets, OwnBuckets
from oracle.server.api.named import NamingError
from oracle.server.api.protected import challenge

log = structlog.get_logger(__name__)

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_HOST = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_DRAINED, _DRAIN_S = 8, 2.0
"""How much of a body that is too large is read and forgotten, in bodies of the greatest size, and for how long."""
_PROBES = frozenset({"/healthz", "/readyz", "/metrics"})  # asked every few seconds, by machines
_FAILED = 400
_GONE = 499  # in the log alone
_OF_BACKENDS = re.compile(r"/v1/models(/.*)?")
"""What a chat backend may read without naming a user."""
_READS = 10  # to one request that changes something
_CANCEL_PATH = re.compile(
    r"(/api/oracle/runs|/v1/responses)/[^/]+/cancel|/api/chat/.+/stop|/agui/threads/.+/cancel", re.DOTALL
)

_PROTECTION = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}


class Edge:
    """The outermost middleware: request ids, log lines, security headers, and an answer to every failure."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wanted = Headers(scope=scope).get("x-request-id", "")
        request_id = wanted if _REQUEST_ID.fullmatch(wanted) else uuid4().hex
        status = 0
        began = time.monotonic()

        async def protected(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])  # one that is an `HTTPStatus` prints its name
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in _PROTECTION.items():
                    headers.setdefault(name, value)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, protected)
            except ClientDisconnect:  # in the middle of its body: there is nobody to answer
                status = status or _GONE
            except Exception as error:
                # Formatted here: a renderer of the host's choice might print local variables, and with them texts.
                lines = "".join(traceback.format_exception(error))
                log.error("request.failed", path=bounded(scope["path"]), traceback=lines)  # noqa: TRY400
                if status:
                    raise  # the server closes the connection: the answer cannot be completed
                await json_answer({"detail": "An internal error; it has been logged."}, status=500)(
                    scope, receive, protected
                )
            write = log.debug if scope["path"] in _PROBES and status < _FAILED else log.info
            write(
                "request.finished",
                method=scope["method"],
                path=bounded(scope["path"]),
                status=status,
                ms=round((time.monotonic() - began) * 1000, 1),
            )


class LoopbackGuard:
    """Refuses requests that a foreign web page could make the user's browser send, where no token is required.

    DNS rebinding is recognised by `Host`; forms and scripts of other pages by `Origin`.

    Args:
        app: the app behind it.
        origins: other pages that the operator trusts.
    """

    def __init__(self, app: ASGIApp, *, origins: Collection[str]) -> None:
        self._app = app
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, detail = refusal
        await json_answer({"detail": detail}, status=status)(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not _LOOPBACK_HOST.fullmatch(hosts[0]):
            return 400, "Without auth this service answers only to localhost, 127.0.0.1 and [::1] (Host header)."
        if scope["method"] in _SAFE_METHODS:
            return None
        own = f"{scope['scheme']}://{hosts[0]}".casefold()
        for origin in headers.getlist("origin"):
            if origin.casefold() != own and origin not in self._origins:
                return 403, "Without auth this service refuses requests from pages of other origins (Origin header)."
        return None


class RequestLimit:
    """A rate limit: a bucket of `per_minute` requests for each user, refilled at that rate, and one of reads.

    A page of the console reads several things at once, so a user may read ten times as often. The workers of one parent
    count together; a limit over several machines belongs into a proxy in front.

    Args:
        per_minute: requests that a user may send in a minute.
        clock: monotonic seconds.
        buckets: keep what is left; `None`: this process alone.
    """

    def __init__(self, per_minute: int, *, clock: Callable[[], float], buckets: Buckets | None = None) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets = OwnBuckets() if buckets is None else buckets

    def take(self, user_id: str, *, is_read: bool = False) -> int:
        """Count a request.

        Args:
            user_id: the user whose limit the request counts against.
            is_read: whether the request only reads, for which the limit is higher.

        Returns:
            0 if the request may proceed, otherwise the seconds until the next one may.
        """
        now, wait_s = self._clock(), 0
        most = float(self._per_minute * (_READS if is_read else 1))
        per_second = most / 60

        def taken(bucket: Bucket | None) -> Bucket:
            nonlocal wait_s
            left = most if bucket is None else min(most, bucket.left + (now - bucket.at) * per_second)
            wait_s = 0 if left >= 1 else max(1, math.ceil((1 - left) / per_second))
            return Bucket(left if wait_s else left - 1, now)

        self._buckets.change(f"{user_id}\0reads" if is_read else user_id, taken)
        return wait_s


class AuthGuard:
    """Authenticates and rate-limits everything below `/api/` and what is an adapter's, before the body is read.

    Args:
        app: the app behind it; finds the caller in `scope["state"]["caller"]`.
        authenticator: finds the caller.
        limit: rate limit of a user; `None`: none.
        adapters: their paths are guarded as well, and their refusals have the protocol's form.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        authenticator: Authenticator,
        limit: RequestLimit | None,
        adapters: Sequence[Adapter] = (),
    ) -> None:
        self._app = app
        self._adapters = adapters
        self._authenticator = authenticator
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its caller, or refuse it."""
        if scope["type"] != "http" or not self._guards(scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            may_be_nobody = scope["method"] == "GET" and _OF_BACKENDS.fullmatch(scope["path"]) is not None
            caller = await self._authenticator.caller(scope["headers"], may_be_nobody=may_be_nobody)
        except NamingError as error:
            await json_answer({"detail": str(error)}, status=403)(scope, receive, send)
            return
        except UnauthorizedError as error:
            adapter = adapter_of(scope["path"], self._adapters) if self._authenticator.has_issuers else None
            refusal = json_answer(
                {"detail": str(error)},
                status=401,
                headers={"WWW-Authenticate": "Bearer" if adapter is None else challenge(scope, adapter.path)},
            )
            await refusal(scope, receive, send)
            return
        wait_s, is_read = 0, scope["method"] in {"GET", "HEAD"}
        if self._limit is not None and not _CANCEL_PATH.fullmatch(scope["path"]):  # a cancel reduces the load
            wait_s = self._limit.take(caller.user_id, is_read=is_read)
        if wait_s:
            await later(429, "You have sent too many requests; try again later.", after_s=wait_s)(scope, receive, send)
            return
        scope.setdefault("state", {})["caller"] = caller
        with structlog.contextvars.bound_contextvars(user_id=caller.user_id):
            await self._app(scope, receive, send)

    def _guards(self, path: str) -> bool:
        return path.startswith("/api/") or adapter_of(path, self._adapters) is not None


class BodyLimit:
    """Refuses bodies that are too large, by `Content-Length` or by what is received, and those that take too long.

    Args:
        app: the app behind it.
        most_bytes: the greatest size of a body, by the path of its request.
        most_s: seconds for the whole of a body, from the end of the request's head on.
    """

    def __init__(self, app: ASGIApp, *, most_bytes: Callable[[str], int], most_s: float) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._most_s = most_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; reading too much of it raises the refusal."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length, most_bytes = Headers(scope=scope).get("content-length", "0"), self._most_bytes(scope["path"])
        if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > most_bytes):
            refusal = _too_large(most_bytes)
            if len(length) <= 18 and int(length) <= _DRAINED * most_bytes:
                await self._drain(receive, most_bytes)
            await json_answer({"detail": refusal.detail}, status=413, headers=refusal.headers)(scope, receive, send)
            return
        read, is_whole = 0, False
        until_s = asyncio.get_running_loop().time() + self._most_s

        async def counted() -> Message:
            nonlocal read, is_whole
            if is_whole:  # only a disconnect can follow
                return await receive()
            message = await self._in_time(receive, until_s)
            is_whole = not message.get("more_body", False)
            read += len(message.get("body", b""))
            if read > most_bytes:
                if message.get("more_body"):
                    await self._drain(receive, most_bytes)
                raise _too_large(most_bytes)
            return message

        await self._app(scope, counted, send)

    async def _in_time(self, receive: Receive, until_s: float) -> Message:
        try:
            async with asyncio.timeout_at(until_s):
                return await receive()
        except TimeoutError:
            detail = f"The whole body of a request must arrive within {self._most_s:g} s."
            raise HTTPException(408, detail, headers={"Connection": "close"}) from None

    async def _drain(self, receive: Receive, most_bytes: int) -> None:
        """Read on for a while: a connection that is closed on unread bytes is reset, and the refusal with it lost."""
        left = _DRAINED * most_bytes
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body"):  # its end, or the client has gone
                        return


def _too_large(most_bytes: int) -> HTTPException:
    # What is still coming is not read, so the connection cannot be used again.
    return HTTPException(413, f"A body may have at most {most_bytes:,} bytes.", headers={"Connection": "close"})
