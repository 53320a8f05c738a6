"""`GET /api/tool-servers`: the MCP servers, and which of their tools queries are offered; for operators."""

from itertools import islice
from typing import Any, Final

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from bt_runtime.text.phrases import clipped
from oracle.features.mcp_client.servers import ServerState
from oracle.server.api.access import OperatorNow, Parts
from oracle.server.api.described import DescribedRoute, refusals
from oracle.server.api.errors import json_answer
from oracle.server.api.replies import ReplyBody

router = APIRouter(tags=["tools"], route_class=DescribedRoute)

_LONGEST: Final = 400
_MOST_LEFT_OUT: Final = 128


class ServedTool(ReplyBody):
    """A tool that queries are offered."""

    name: str = Field(description="`server.tool`.")
    description: str = Field(
        description=f"The server's description, cut after {_LONGEST} characters: plain data, not markup."
    )
    writes: bool
    needs_approval: bool = Field(
        description="Whether a person must approve each call of the model, whatever the tree says."
    )


class LeftOutTool(ReplyBody):
    """A tool of a server that queries are not offered."""

    name: str = Field(description="The name that the server uses.")
    problem: str


class ToolServer(ReplyBody):
    """An MCP server."""

    name: str
    is_connected: bool
    problem: str = Field(description="Why it cannot be reached; empty if it can, or was not tried yet.")
    tools: list[ServedTool]
    left_out: list[LeftOutTool] = Field(description="Whether it is refused, or differs from what was approved.")


class ToolServers(ReplyBody):
    """The MCP servers, as they stand in the process that answers."""

    servers: list[ToolServer]


@router.get("/api/tool-servers", summary="MCP servers and tools", response_model=ToolServers, responses=refusals())
async def list_tool_servers(parts: Parts, _: OperatorNow) -> Response:
    """How each server stands, which tools queries are offered now, and why others are not; for operators."""
    return json_answer({"servers": [_server(each) for each in getattr(parts.oracle.changing, "states", list)()]})


def _server(state: ServerState) -> dict[str, Any]:
    tools = [
        {name: getattr(each, name) for name in ServedTool.model_fields}
        | {"description": clipped(each.description, _LONGEST)}
        for each in state.tools
    ]
    left_out = [{"name": name, "problem": why} for name, why in islice(state.left_out.items(), _MOST_LEFT_OUT)]
    stands = {"name": state.name, "is_connected": state.is_connected, "problem": state.problem}
    return stands | {"tools": tools, "left_out": left_out}
