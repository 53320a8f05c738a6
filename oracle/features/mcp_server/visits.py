"""Who sends a message, as the tools and resources see it."""

from typing import Any, NamedTuple

from mcp.server.context import ServerRequestContext
from mcp_types import CallToolResult, InputRequiredResult
from starlette.requests import Request

from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts

Context = ServerRequestContext[Any, Any]
CallAnswer = CallToolResult | InputRequiredResult
"""What a call of a tool is answered with."""


class McpVisit(NamedTuple):
    """A message, its sender, and the service that is called.

    Args:
        context: the SDK's context of the message.
        parts: the service's parts.
        caller: whose runs and conversations are reached.
        request: its headers may name a trace.
        ends_with_request: a request that ends early cancels its run, because that is how its protocol cancels.
        is_alone: the runs are in a database of this process alone, so only this client can decide what they ask.
    """

    context: Context
    parts: ServiceParts
    caller: Caller
    request: Request
    ends_with_request: bool
    is_alone: bool = False
