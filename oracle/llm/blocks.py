"""The blocks of an assistant message in the form in which the provider accepts them again. Pure.

The provider rejects a message that ends in thinking ("The final block in an assistant message cannot be `thinking`"),
and one with a server tool call that has no result. Both occur: a turn is cut off or paused while it thinks, or it
thinks after its last call. Such blocks are removed once, at the end of the turn, so that each request remains a prefix
of the next one.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Block = Mapping[str, Any]

THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_SERVER_TOOL: Final = "server_tool_use"


def without_loose_end(blocks: Sequence[Block], *, goes_on: bool = False) -> tuple[Block, ...]:
    """The blocks without trailing thinking and without server tool calls that have no result.

    Args:
        blocks: a message's content, in order.
        goes_on: the provider will continue this message, and send the missing results.
    """
    kept = list(blocks) if goes_on else _without_owed(blocks)
    while kept and kept[-1].get("type") in THINKING:
        kept.pop()
    return tuple(kept)


def without_thinking_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks except thinking."""
    return tuple(block for block in blocks if block.get("type") not in THINKING)


def can_go_on(blocks: Sequence[Block]) -> bool:
    """Whether the provider can continue a paused message with these blocks.

    It accepts the message only if one of its own tools ran in it. Without any blocks the request is repeated as it was.
    """
    return not blocks or any(str(block.get("type")).startswith(("server_tool_", "web_search_")) for block in blocks)


def _without_owed(blocks: Sequence[Block]) -> list[Block]:
    """The blocks without server tool calls that have no result.

    If the message also calls our tools they stay: the provider then sends the result in its next message.
    """
    if any(block.get("type") == "tool_use" for block in blocks):
        return list(blocks)
    answered = {block.get("tool_use_id") for block in blocks}
    return [block for block in blocks if block.get("type") != _SERVER_TOOL or block.get("id") in answered]
