"""Web search: only a name and a description, because the provider runs it."""

from collections.abc import Mapping
from typing import Any

from oracle.tools.errors import ToolError
from oracle.tools.protocol import Tool, ToolResult


async def _refuse(arguments: Mapping[str, Any]) -> ToolResult:
    raise ToolError(f"web_search is run by the model's provider and cannot be called here (given {dict(arguments)!r}).")


WEB_SEARCH = Tool(
    name="web_search",
    description="Search the web. Returns extracts of current pages with their addresses.",
    when_to_use="For anything outside the project: news, versions, third-party libraries, general knowledge.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to search the web for."}},
        "required": ["query"],
        "additionalProperties": False,
    },
    call=_refuse,
    group="web",
    is_server_side=True,
    labels=frozenset({"untrusted", "outward"}),
)


def web_tools(*, has_web_search: bool) -> tuple[Tool, ...]:
    """The web tools of a provider; none if it cannot search the web."""
    return (WEB_SEARCH,) if has_web_search else ()
