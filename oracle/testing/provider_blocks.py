"""Content blocks as the stand-in provider looks at them: their fields, their cache marks, and what they say."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Body = Mapping[str, Any]

EMPTY_TEXT = "text content blocks must be non-empty"

BLOCK_FIELDS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller", "toolset_name"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"}),
    "server_tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller"}),
    "web_search_tool_result": frozenset({"type", "tool_use_id", "content", "cache_control", "caller"}),
}
"""The fields of each block that the product sends (`anthropic.types.ContentBlockParam`; a test compares them)."""

THINKING = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Mark:
    """A cache mark: where it stands, on which block, and what it says."""

    place: str
    block: Body
    control: Body

    @property
    def ttl(self) -> str:
        """How long what it marks is kept: `5m` or `1h`."""
        return str(self.control.get("ttl", "5m"))


def blocks_of(message: Body) -> Sequence[Body]:
    """The content of a message as blocks; a text is one of them."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def request_blocks(body: Body) -> Iterator[tuple[str, Body]]:
    """All blocks of a request with their places, in the order of the cache: tools, system prompt, messages."""
    for index, tool in enumerate(body.get("tools") or ()):
        yield f"tools.{index}", tool
    system = body.get("system")
    if isinstance(system, str):
        system = [{"type": "text", "text": system}]
    for index, block in enumerate(system or ()):
        yield f"system.{index}", block
    for index, message in enumerate(body.get("messages") or ()):
        for position, block in enumerate(blocks_of(message)):
            yield f"messages.{index}.content.{position}", block


def cache_marks(body: Body) -> Iterator[Mark]:
    """The explicit cache marks of a request, in the order of the cache."""
    for place, block in request_blocks(body):
        control = block.get("cache_control")
        if control is not None:
            yield Mark(place, block, control)


def last_cacheable(body: Body) -> str | None:
    """The place of the block that automatic caching marks: the last one that can bear a mark ("Automatic caching")."""
    for place, block in reversed(list(request_blocks(body))):
        if block.get("type") not in THINKING and (block.get("type") != "text" or block.get("text")):
            return place
    return None


def unknown_fields(place: str, block: Body) -> Iterator[str]:
    """The fields that a block of its type has not."""
    kind = str(block.get("type"))
    known = BLOCK_FIELDS.get(kind)
    if known is None:
        yield f"{place}.type: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        return
    for name in block:
        if name not in known:
            yield f"{place}.{kind}.{name}: Extra inputs are not permitted"


def unmarked(value: object) -> object:
    """The value without cache marks, which are no part of what is cached or signed."""
    if isinstance(value, Mapping):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def is_count(value: object, *, least: int) -> bool:
    """Whether it is a whole number of at least that."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
