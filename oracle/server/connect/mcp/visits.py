"""Who sends a message, as the tools and resources see it."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from mcp.server.context import ServerRequestContext
from starlette.requests import Request
from starlette.types import Message

from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts

Context = ServerRequestContext[Any, Any]


class McpVisit(NamedTuple):
    """A caller, and the service that is called.

    Args:
        parts: of the service.
        caller: whose runs and conversations are reached.
        request: its headers may name a trace; it never tells that its client has gone, which the library does.
        ends_with_request: a request that ends early cancels its run, because that is how its protocol cancels.
    """

    parts: ServiceParts
    caller: Caller
    request: Request
    ends_with_request: bool


McpVisitOf = Callable[[Context], McpVisit]


def silent(scope: Any) -> Request:  # noqa: ANN401  as Starlette declares it
    """A request whose client never goes away."""

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("nothing sets it")

    return Request(scope, receive)
