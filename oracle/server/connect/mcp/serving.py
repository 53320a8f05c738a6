"""The server: its tools and resources, its key, and how it is reached over HTTP and over standard streams."""

from importlib.metadata import version
from typing import Any, Final, cast

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.datastructures import State
from starlette.requests import Request

from oracle.server.api.auth import Caller
from oracle.server.api.parts import ServiceParts
from oracle.server.connect.mcp.asking import ASK, ask
from oracle.server.connect.mcp.material import call_tool, list_resources, list_templates, offered, read_resource
from oracle.server.connect.mcp.visits import Context, McpVisit, McpVisitOf, silent
from oracle.server.settings.fields import LOCAL_USER

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


async def serve_stdio(parts: ServiceParts) -> None:
    """Serve the local user on standard input and output, until its end."""
    request = silent({"type": "http", "headers": []})
    visit = McpVisit(
        parts, Caller(LOCAL_USER, is_operator=LOCAL_USER in parts.settings.operators), request, ends_with_request=True
    )
    server = _made(await parts.store.keys.get(_KEY), lambda _: visit)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _visit_by_http(context: Context) -> McpVisit:
    request = cast("Request", context.request)
    return McpVisit(
        request.app.state.parts,
        request.state.caller,
        silent(request.scope),
        ends_with_request=context.protocol_version in MODERN_PROTOCOL_VERSIONS,
    )


def _made(key: bytes, visit_of: McpVisitOf) -> Server[Any]:
    async def list_tools(context: Context, _: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[ASK, *offered(visit_of(context))])

    async def call(
        context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        visit = visit_of(context)
        return await (ask(visit, context, params) if params.name == ASK.name else call_tool(visit, params))

    async def resources(context: Context, _: object) -> types.ListResourcesResult:
        return await list_resources(visit_of(context))

    async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await read_resource(visit_of(context), str(params.uri))

    async def no_prompts(_: Context, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[])

    server: Server[Any] = Server(
        "oracle",
        version=version("oracle-bt"),
        instructions=_INSTRUCTIONS,
        cache_hints={"tools/list": _FRESH, "resources/templates/list": _FRESH, "server/discover": _FRESH},
        on_list_tools=list_tools,
        on_call_tool=call,
        on_list_prompts=no_prompts,  # clients ask for them whether or not there are any
        on_list_resources=resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
    )
    # The caller stands for the principal: a state that was sealed for one user is refused from another one.
    by_user = RequestStateSecurity(keys=[key], ttl=_STATE_S, bind_principal=lambda each: visit_of(each).caller.user_id)
    server.middleware.append(RequestStateBoundary(by_user, default_audience="oracle"))
    return server
