"""The server: its tools, resources and key, and its transports over HTTP and standard streams."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any, Final, TypeVar, cast

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import State
from starlette.requests import Request

from oracle.features.mcp_server.asking import ASK, CallAnswer, Context, McpVisit, ask
from oracle.features.mcp_server.material import call_tool, list_resources, list_templates, offered, read_resource
from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.settings.fields import LOCAL_USER

_T = TypeVar("_T")
_KEY: Final = "mcp"
_STATE_S: Final = 7 * 86_400.0
"""How long an approval may be given behind a client's question; what waits has a limit of its own."""
_FRESH: Final = CacheHint(ttl_ms=60_000, scope="private")
_INSTRUCTIONS: Final = (
    "`ask` answers questions about the project and its notes, and goes on in a conversation that is named. Runs and "
    "conversations can be read as resources."
)


async def server_of(state: State, parts: ServiceParts) -> Server[Any]:
    """The server of an app, made once.

    Raises:
        StoreUnavailableError: its key cannot be read at present.
    """
    found: Server[Any] | None = getattr(state, "mcp_server", None)
    if found is None:
        found = state.mcp_server = _made(await parts.store.keys.get(_KEY), _visit_by_http)
    return found


async def serve_stdio(parts: ServiceParts, *, is_alone: bool) -> None:
    """Serve the local user on standard input and output, until its end.

    Args:
        parts: the service's parts.
        is_alone: its database is of this process alone.
    """
    caller = Caller(LOCAL_USER, is_operator=LOCAL_USER in parts.settings.operators)
    request = Request({"type": "http", "headers": []})
    server = _made(
        await parts.store.keys.get(_KEY),
        lambda context: McpVisit(context, parts, caller, request, ends_with_request=True, is_alone=is_alone),
    )
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _visit_by_http(context: Context) -> McpVisit:
    request = cast("Request", context.request)
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    return McpVisit(context, request.app.state.parts, request.state.caller, request, ends_with_request=is_modern)


def _made(key: bytes, visit_of: Callable[[Context], McpVisit]) -> Server[Any]:
    def of_visit(handle: Callable[[McpVisit, Any], Awaitable[_T]]) -> Callable[[Context, Any], Awaitable[_T]]:
        return lambda context, params: handle(visit_of(context), params)

    server: Server[Any] = Server(
        "oracle",
        version=version("oracle-bt"),
        instructions=_INSTRUCTIONS,
        cache_hints=dict.fromkeys(("tools/list", "resources/templates/list", "server/discover"), _FRESH),
        on_list_tools=of_visit(_list_tools),
        on_call_tool=of_visit(_call),
        on_list_prompts=of_visit(_no_prompts),
        on_list_resources=of_visit(list_resources),
        on_list_resource_templates=of_visit(list_templates),
        on_read_resource=of_visit(read_resource),
    )
    # The caller stands for the principal: a state that was sealed for one user is refused from another one.
    by_user = RequestStateSecurity(keys=[key], ttl=_STATE_S, bind_principal=lambda each: visit_of(each).caller.user_id)
    server.middleware.append(RequestStateBoundary(by_user, default_audience="oracle"))
    return server


async def _list_tools(visit: McpVisit, _: object) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[ASK, *offered(visit)])


async def _call(visit: McpVisit, params: types.CallToolRequestParams) -> CallAnswer:
    return await (ask if params.name == ASK.name else call_tool)(visit, params)


async def _no_prompts(_: McpVisit, __: object) -> types.ListPromptsResult:
    """None; clients ask for them whether or not there are any."""
    return types.ListPromptsResult(prompts=[])
