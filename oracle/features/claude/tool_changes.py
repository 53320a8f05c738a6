"""Tools that are withdrawn and offered in mid-conversation, so that the provider's cache stays (beta).

As documented (platform.claude.com, "Mid-conversation system messages and tool changes"): the `tools` stay as they are,
and a system message behind a user's says from where on a tool is gone (`tool_removal`) or there (`tool_addition`). A
tool that is offered later is listed with `defer_loading`, and is no part of the cached prefix before it is named. At
least one tool must not be deferred, and a deferred one takes no cache mark.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from oracle.llm.protocol import Offer
from oracle.llm.tool_names import wire_name

TOOL_CHANGES_BETA: Final = "mid-conversation-tool-changes-2026-07-01"


def change_tools(body: dict[str, Any], offers: Sequence[Offer]) -> bool:
    """Declare in a request's arguments, in place, which tools the model may call; returns whether that was possible.

    Args:
        body: the arguments of `messages.create`, with all tools.
        offers: as `ModelRequest.offers`. Nothing is changed where they ask for nothing, or do not fit the messages.
    """
    messages, names = body["messages"], [tool["name"] for tool in body.get("tools", ())]
    changes = [(at, note, list(_blocks(old, new, names))) for (_, _, old), (at, note, new) in pairwise(offers)]
    first = {wire_name(name) for name in offers[0][2]} if offers else set()
    fits = all(0 < at <= len(messages) and messages[at - 1]["role"] == "user" for at, _, _ in changes)
    if not (fits and any(blocks for _, _, blocks in changes) and first.intersection(names)):
        return False
    for at, note, blocks in reversed(changes):
        if at < len(messages) and messages[at]["role"] == "system":
            messages[at]["content"][note:note] = blocks
        elif blocks:
            messages.insert(at, {"role": "system", "content": blocks})
    mark = next((tool.pop("cache_control") for tool in body["tools"] if "cache_control" in tool), None)
    loaded = [tool for tool in body["tools"] if tool["name"] in first]
    loaded[-1].update({} if mark is None else {"cache_control": mark})
    for tool in body["tools"]:
        if tool["name"] not in first:
            tool["defer_loading"] = True
    body.pop("tool_choice", None)
    return True


def _blocks(before: Sequence[str], after: Sequence[str], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for kind, changed in (("tool_removal", set(before) - set(after)), ("tool_addition", set(after) - set(before))):
        for name in filter(set(map(wire_name, changed)).__contains__, names):
            yield {"type": kind, "tool": {"type": "tool_reference", "name": name}}
