"""An answer that comes before the request's body has.

A refusal (401, 404, 413) is often sent while the client is still sending. Such a connection is not used again: what
still comes is the body of a request that is over. It is not closed at once either, because a connection that is closed
on unread bytes is reset, and the client may lose the answer with it. So the answer has `Connection: close`, goes out
whole, and the connection is closed when the body has ended or after a short time, whichever comes first (RFC 9112,
section 9.6, calls this a lingering close).
"""

import asyncio
import contextlib
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LINGER_S = 2.0
"""How long the rest of a body is read and dropped."""
LINGER_BYTES = 8_000_000
"""How much of it is."""


class EarlyAnswers:
    """Closes the connection after an answer that the client has not waited for.

    Args:
        app: what answers.
        is_whole: whether the request has come to its end.
        linger_s: how long the rest of it is read and dropped.
    """

    def __init__(self, app: ASGIApp, *, is_whole: Callable[[], bool], linger_s: float = LINGER_S) -> None:
        self._app = app
        self._is_whole = is_whole
        self._linger_s = linger_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        is_early = False

        async def marked(message: Message) -> None:
            nonlocal is_early
            if message["type"] == "http.response.start":
                is_early = not self._is_whole()
                if is_early:
                    message = {**message, "headers": [*_without_connection(message), (b"connection", b"close")]}
            elif is_early and not message.get("more_body", False):
                await send({**message, "more_body": True})
                await self._linger(receive)
                message = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(message)

        await self._app(scope, receive, marked)

    async def _linger(self, receive: Receive) -> None:
        left = LINGER_BYTES
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._linger_s):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if not message.get("more_body"):  # the end of the body, or of the connection
                        return


def _without_connection(message: Message) -> list[tuple[bytes, bytes]]:
    return [(name, value) for name, value in message.get("headers", ()) if name.lower() != b"connection"]
