"""What the Messages API rejects in the tools of a request; `provider_rules.RULES` names the sources."""

import re
from collections.abc import Iterator, Mapping

from tests.support.provider.request import Body, Request, is_count, sdk_fields

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SERVER_TOOL_TYPE = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")
_CHOICES = frozenset({"auto", "any", "tool", "none"})


def tool_form(request: Request) -> Iterator[str]:
    """The names and fields of the tools."""
    names: set[str] = set()
    for index, tool in enumerate(request.tools):
        name = tool.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            yield f"tools.{index}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if name in names:
            yield "tools: Tool names must be unique."
        names.add(str(name))
        if _SERVER_TOOL_TYPE.fullmatch(str(tool.get("type", ""))):
            yield from _server_tool(index, tool)
        else:
            yield from _custom_tool(index, tool)


def _custom_tool(index: int, tool: Body) -> Iterator[str]:
    for name in tool:
        if name not in sdk_fields("ToolParam"):
            yield f"tools.{index}.custom.{name}: Extra inputs are not permitted"
    if not isinstance(tool.get("description", ""), str):
        yield f"tools.{index}.custom.description: Input should be a valid string"
    schema = tool.get("input_schema")
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        yield f"tools.{index}.custom.input_schema.type: Field required"
    elif any(name in schema for name in ("oneOf", "allOf", "anyOf")):
        yield f"tools.{index}.custom.input_schema: does not support oneOf, allOf, or anyOf at the top level"


def _server_tool(index: int, tool: Body) -> Iterator[str]:
    if tool.get("max_uses") is not None and not is_count(tool["max_uses"], least=1):
        yield f"tools.{index}.max_uses: Input should be greater than 0"
    if tool.get("allowed_domains") and tool.get("blocked_domains"):
        yield f"tools.{index}: only one of allowed_domains and blocked_domains may be specified"


def web_search(request: Request) -> Iterator[str]:
    """The provider's web search needs an organisation that has enabled it."""
    if request.has_web_search:
        return
    if any(str(tool.get("type", "")).startswith("web_search_") for tool in request.tools):
        yield "Web search is not enabled for this organization."


def tool_choice(request: Request) -> Iterator[str]:
    """The allowed choices, by tools, thinking and model."""
    choice = request.body.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type")
    if not request.tools:
        yield "tool_choice may only be specified while providing tools."
    elif kind not in _CHOICES:
        yield f"tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none', not {kind!r}"
    elif kind == "tool" and choice.get("name") not in [tool.get("name") for tool in request.tools]:
        yield f"Tool '{choice.get('name')}' not found in provided tools"
    elif kind in ("any", "tool") and request.thinking_type in ("enabled", "adaptive", "between_tools"):
        yield "Thinking may not be enabled when tool_choice forces tool use."
    elif kind in ("any", "tool") and not request.documented.forced_tools:
        yield "Forced tool use is not supported for this model."
