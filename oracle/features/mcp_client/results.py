"""What a server says of its tools and answers to calls, as ours: data, bounded, and nothing that could be obeyed."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from mcp import types

from bt_runtime.text.phrases import clipped
from oracle.core.control_notes import neutralised
from oracle.core.encoding import to_json
from oracle.features.mcp_client.pins import OfferedTool
from oracle.tools.foreign import LONGEST_DESCRIPTION, arguments_schema, plain_description
from oracle.tools.protocol import ToolResult

_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,96}")
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def offered_tool(tool: types.Tool) -> OfferedTool:
    """A tool as its server describes it.

    Raises:
        ValueError: it cannot be offered.
    """
    if not _NAME.fullmatch(tool.name):
        raise ValueError("its name is none: up to 96 letters, digits, '_', '-', '.' and '/'")
    said = _CONTROL.sub("", (tool.description or tool.title or "")[: 2 * LONGEST_DESCRIPTION])
    description = neutralised(plain_description(said))
    reads = tool.annotations is not None and tool.annotations.read_only_hint is True
    if len(description) > LONGEST_DESCRIPTION:
        description = description[: LONGEST_DESCRIPTION - 1] + "…"
    schema = dict(arguments_schema(tool.input_schema))
    return OfferedTool(name=tool.name, description=description, input_schema=schema, is_called_reading=reads)


def result_of(result: types.CallToolResult | types.InputRequiredResult | types.Result) -> ToolResult:
    """The result of a call: its texts, and in words what else it has."""
    if not isinstance(result, types.CallToolResult):
        return ToolResult("Not done: the server asks for something that only its own user could give.", is_error=True)
    parts = list(_parts(result.content))
    has_text = any(isinstance(each, types.TextContent) for each in result.content)
    if result.structured_content is not None and not has_text:
        parts.append(to_json(result.structured_content).decode())
    text = "\n".join(parts)
    if not text.strip() and result.is_error:
        text = "The server says that it failed, and not why."
    return ToolResult(text, is_error=bool(result.is_error), is_empty=not text.strip())


def _parts(content: Iterable[Any]) -> Iterator[str]:
    for each in content:
        if isinstance(each, types.TextContent):
            yield each.text
        elif isinstance(each, types.EmbeddedResource) and isinstance(each.resource, types.TextResourceContents):
            yield each.resource.text
        elif isinstance(each, types.ResourceLink):
            yield f"[A resource of the server, which is not read here: {clipped(str(each.uri), 300)}]"
        else:
            kind = getattr(each, "mime_type", None) or each.type
            yield f"[Left out: {clipped(str(kind), 80)}. Only text can be read here.]"
