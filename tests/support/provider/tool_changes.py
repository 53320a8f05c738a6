"""Tools that change in mid-conversation (platform.claude.com, "Mid-conversation system messages"; a beta).

`tool_removal` and `tool_addition` stand in system messages and name a tool of the request's `tools`; one that has
`defer_loading` is not there before a `tool_addition` names it. The placement is that of system messages. Stricter than
the documentation: a tool that is not there cannot be removed, and one that is there cannot be added.
"""

from collections.abc import Iterator, Mapping

from tests.support.provider.request import Body, Request, blocks_of, deferred_tools

TOOL_CHANGES_BETA = "mid-conversation-tool-changes-2026-07-01"
CHANGES = ("tool_addition", "tool_removal")


def deferred(request: Request) -> Iterator[str]:
    """Some tool is there from the beginning, and a deferred one has no cache mark."""
    later = deferred_tools(request.body)
    if later and len(later) == len(request.tools):
        yield "tools: All tools have defer_loading set. At least one tool must be non-deferred."
    for name, tool in later.items():
        if tool.get("cache_control") is not None:
            yield f"tools: tool '{name}' cannot have both defer_loading=true and cache_control"


def tool_changes(request: Request) -> Iterator[str]:
    """Each change names a tool that is listed, and changes something."""
    names = {str(tool.get("name")) for tool in request.tools}
    there = names - deferred_tools(request.body).keys()
    for index, message in enumerate(request.messages):
        for position, block in enumerate(blocks_of(message)):
            if block.get("type") in CHANGES:
                place = f"messages.{index}.content.{position}"
                yield from _change(request, place, message, block, names, there)


def _change(
    request: Request, place: str, message: Body, block: Body, names: set[str], there: set[str]
) -> Iterator[str]:
    kind, tool = str(block["type"]), block.get("tool")
    if not request.takes_system_messages or TOOL_CHANGES_BETA not in request.known_betas:
        yield "tool_addition/tool_removal is not supported on this model"
    elif TOOL_CHANGES_BETA not in request.betas:
        yield f"{place}.type: Input tag '{kind}' found using 'type' does not match any of the expected tags: 'text'"
    elif message.get("role") != "system":
        yield f"{place}: `{kind}` is only allowed in messages of the role 'system'"
    elif not isinstance(tool, Mapping) or set(tool) != {"type", "name"} or tool["type"] != "tool_reference":
        yield f"{place}.{kind}.tool: Input should be a tool_reference with a name"
    elif tool["name"] not in names:
        yield f"{place}.{kind}.tool: '{tool['name']}' is not declared in `tools`"
    elif (tool["name"] in there) == (kind == "tool_addition"):
        yield f"{place}.{kind}.tool: '{tool['name']}' is {'already' if tool['name'] in there else 'not'} available"
    elif kind == "tool_addition":
        there.add(tool["name"])
    else:
        there.discard(tool["name"])
