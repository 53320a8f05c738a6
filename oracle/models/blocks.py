"""The blocks of an assistant's message as the provider takes them back. Pure; nothing given is changed.

The provider refuses a message that ends in thinking ("The final block in an assistant message cannot be `thinking`"),
and one whose own search has no result. Both happen: a turn is cut off or paused while it thinks, or it thinks after its
last call. What is cut here is cut once, when the turn ends, so that what was sent stays the beginning of what is sent
next.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

Block = Mapping[str, Any]

THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_SERVER_TOOL: Final = "server_tool_use"


def without_loose_end(blocks: Sequence[Block], *, goes_on: bool = False) -> tuple[Block, ...]:
    """The blocks up to the last one that can stand at the end of a message, without searches that brought nothing.

    Args:
        blocks: a message's content, in order.
        goes_on: the provider goes on with this message, and still owes the results of its own tools.
    """
    kept = list(blocks) if goes_on else _without_owed(blocks)
    while kept and kept[-1].get("type") in THINKING:
        kept.pop()
    return tuple(kept)


def without_thinking_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks that are no thinking."""
    return tuple(block for block in blocks if block.get("type") not in THINKING)


def can_go_on(blocks: Sequence[Block]) -> bool:
    """Whether the provider can go on with a message that it has paused, when it gets these blocks back.

    It takes a message back only if a tool of its own ran in it; with no blocks at all the request is simply made again.
    """
    return not blocks or any(str(block.get("type")).startswith(("server_tool_", "web_search_")) for block in blocks)


def _without_owed(blocks: Sequence[Block]) -> list[Block]:
    """Without calls of the provider's own tools that have no result.

    Beside calls of ours they stay: there the provider brings the result in its next message.
    """
    if any(block.get("type") == "tool_use" for block in blocks):
        return list(blocks)
    answered = {block.get("tool_use_id") for block in blocks}
    return [block for block in blocks if block.get("type") != _SERVER_TOOL or block.get("id") in answered]
