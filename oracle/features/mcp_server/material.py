"""The material for clients: the reading tools that the operator has opened, and the caller's own data as resources."""

import re
from typing import Final

import mcp_types as types
from mcp.shared.exceptions import MCPError

from oracle.core.encoding import from_json, to_json
from oracle.core.errors import NotFoundError
from oracle.features.mcp_server.asking import McpVisit
from oracle.runs.storage.run_pages import RunFilter
from oracle.server.api.access import conversation_id, find_run, with_texts
from oracle.server.api.conversations import read_conversation
from oracle.server.api.errors import ForgottenRunError
from oracle.server.api.me import named_trees
from oracle.server.api.queries import read_run
from oracle.server.api.trees import read_tree
from oracle.tools import Tool

_NAMES: Final = {"read_note": "vault_read"}
"""Tools that have another name here."""
_MOST_LISTED: Final = 25
_MOST_MESSAGES: Final = 200
_JSON: Final = "application/json"
_URI: Final = re.compile(r"oracle://(trees|runs|conversations)/([A-Za-z0-9._-]{1,64})")
_NOT_THERE: Final = (NotFoundError, ForgottenRunError)


def offered(visit: McpVisit) -> list[types.Tool]:
    """The tools that the operator has opened and the caller has. Tools that change something are excluded."""
    reads = types.ToolAnnotations(read_only_hint=True)
    return [
        types.Tool(name=name, description=tool.description, input_schema=dict(tool.input_schema), annotations=reads)
        for name, tool in _opened(visit).items()
    ]


async def call_tool(visit: McpVisit, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Call one of them.

    Raises:
        MCPError: there is no such tool, or it is not offered.
    """
    tool = _opened(visit).get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:80]!r}.")
    tools = visit.parts.oracle.tools_for(visit.caller.user_id)
    result = await tools.call(tool.name, params.arguments or {})
    return types.CallToolResult(content=[types.TextContent(text=result.text)], is_error=result.is_error)


def _opened(visit: McpVisit) -> dict[str, Tool]:
    tools = visit.parts.oracle.tools_for(visit.caller.user_id)
    found = {name: tools.get(_NAMES.get(name, name)) for name in visit.parts.settings["mcp_tools"]}
    return {
        name: tool
        for name, tool in found.items()
        if tool and not (tool.writes or tool.needs_approval or tool.is_server_side or tool.is_client_side)
    }


async def list_templates(_: McpVisit, __: object) -> types.ListResourceTemplatesResult:
    """All that can be read, by its name."""
    about = {"trees": "A control that can answer", "runs": "A run and its answer", "conversations": "What was said"}
    found = [
        types.ResourceTemplate(name=kind, uri_template=f"oracle://{kind}/{{name}}", description=text, mime_type=_JSON)
        for kind, text in about.items()
    ]
    return types.ListResourceTemplatesResult(resource_templates=found)


async def list_resources(visit: McpVisit, _: object) -> types.ListResourcesResult:
    """All trees that may be named, and the latest of the caller's conversations and runs."""
    parts, user_id = visit.parts, visit.caller.user_id
    conversations = await parts.store.conversations.list(user_id, limit=_MOST_LISTED) or ()
    runs = (await parts.store.runs.page(RunFilter(user_id=user_id), limit=_MOST_LISTED)).runs
    found = [
        *(_resource("trees", each["name"], each["name"], each["description"]) for each in named_trees(parts)),
        *(_resource("conversations", each.context_id, each.title) for each in conversations),
        *(_resource("runs", run.id, str(run.input.get("question", ""))) for run in runs if run.kept == "whole"),
    ]
    return types.ListResourcesResult(resources=found)


def _resource(kind: str, name: str, title: str, description: str = "") -> types.Resource:
    shown = " ".join(title.split())[:100] or name
    return types.Resource(
        name=name, title=shown, uri=f"oracle://{kind}/{name}", description=description or None, mime_type=_JSON
    )


async def read_resource(visit: McpVisit, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """One of them, as JSON.

    Raises:
        MCPError: there is none, or it is another user's.
    """
    uri = str(params.uri)
    try:
        found = _URI.fullmatch(uri)
        text = await _read(visit, *found.groups()) if found is not None else None
    except _NOT_THERE:
        text = None
    if text is None:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri[:500]})
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type=_JSON, text=text)])


async def _read(visit: McpVisit, kind: str, name: str) -> str:
    parts, caller = visit.parts, visit.caller
    if kind == "trees":
        try:
            response = await read_tree(name, parts, caller)
        except NotFoundError:
            for each in named_trees(parts):
                if each["name"] == name:  # a control in Python
                    return to_json(each).decode()
            raise
    elif kind == "conversations":
        context_id = await conversation_id(name)
        response = await read_conversation(context_id, parts, caller, limit=_MOST_MESSAGES, before=None)
    else:
        run = with_texts(await find_run(name, parts, user_id=caller.user_id))
        body = from_json(bytes((await read_run(run, parts, caller)).body))
        return to_json({**body, "question": run.input.get("question"), "answer": run.answer}).decode()
    return bytes(response.body).decode()
