"""A request to the stand-in provider as its rules and its cache read it: blocks, their places, and cache marks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any

from oracle.features.claude.facts import ModelFacts
from oracle.llm.blocks import THINKING
from tests.support.provider.models import Documented, documented

Body = Mapping[str, Any]

EMPTY_TEXT = "text content blocks must be non-empty"

_BLOCK_PARAMS: Mapping[str, str] = {
    "text": "TextBlockParam",
    "thinking": "ThinkingBlockParam",
    "redacted_thinking": "RedactedThinkingBlockParam",
    "image": "ImageBlockParam",
    "document": "DocumentBlockParam",
    "tool_use": "ToolUseBlockParam",
    "tool_result": "ToolResultBlockParam",
    "server_tool_use": "ServerToolUseBlockParam",
    "web_search_tool_result": "WebSearchToolResultBlockParam",
    "tool_addition": "beta.BetaRequestToolAdditionBlockParam",
    "tool_removal": "beta.BetaRequestToolRemovalBlockParam",
}
"""The blocks that the product sends, with their types in `anthropic.types`."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as the rules read it.

    Args:
        body: the JSON object.
        betas: the values of the `anthropic-beta` header.
        known_betas: the values that the provider, or a gateway in front of it, accepts.
        has_web_search: whether the organisation has enabled the provider's web search.
        facts: about the requested model.
        has_system_messages: whether a gateway in front of the provider knows system messages in a conversation.
        has_diagnostics: whether it knows cache diagnostics.
    """

    body: Body
    betas: frozenset[str]
    known_betas: frozenset[str]
    has_web_search: bool
    facts: ModelFacts
    has_system_messages: bool = True
    has_diagnostics: bool = True

    @property
    def documented(self) -> Documented:
        """What else is known about the requested model."""
        return documented(self.body.get("model"))

    @property
    def takes_system_messages(self) -> bool:
        """Whether the conversation may have system messages."""
        return self.has_system_messages and self.facts.system_messages

    @property
    def thinking_type(self) -> str:
        """The requested type of thinking, or the model's default."""
        thinking = self.body.get("thinking")
        if isinstance(thinking, Mapping):
            return str(thinking.get("type"))
        return "adaptive" if self.facts.thinks_unasked else "disabled"

    @property
    def messages(self) -> Sequence[Body]:
        """The messages; empty if they are not a list of objects."""
        found = self.body.get("messages")
        return found if isinstance(found, list) and all(isinstance(each, Mapping) for each in found) else ()

    @property
    def tools(self) -> Sequence[Body]:
        """The tools; empty if there are none."""
        found = self.body.get("tools")
        return found if isinstance(found, list) else ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A cache mark: its place, its block, and its `cache_control`."""

    place: str
    block: Body
    control: Body

    @property
    def ttl(self) -> str:
        """The lifetime of what it marks: `5m` or `1h`."""
        return str(self.control.get("ttl", "5m"))


def blocks_of(message: Body) -> Sequence[Body]:
    """The content of a message as blocks; a string is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def message_blocks(messages: Sequence[Body]) -> Iterator[tuple[str, Body]]:
    """All blocks of the messages with their places."""
    for index, message in enumerate(messages):
        for position, block in enumerate(blocks_of(message)):
            yield f"messages.{index}.content.{position}", block


def request_blocks(body: Body) -> Iterator[tuple[str, Body]]:
    """All blocks of a request with their places, in the order of the cache: tools, system prompt, messages."""
    for index, tool in enumerate(body.get("tools") or ()):
        yield f"tools.{index}", tool
    for index, block in enumerate(blocks_of({"content": body.get("system")})):
        yield f"system.{index}", block
    yield from message_blocks(body.get("messages") or ())


def cache_marks(body: Body) -> Iterator[Mark]:
    """The explicit cache marks of a request, in the order of the cache."""
    for place, block in request_blocks(body):
        control = block.get("cache_control")
        if control is not None:
            yield Mark(place, block, control)


def deferred_tools(body: Body) -> dict[str, Body]:
    """The tools that are no part of the prefix before a message names them, by name."""
    return {str(tool.get("name")): tool for tool in body.get("tools") or () if tool.get("defer_loading")}


def last_cacheable(body: Body) -> str | None:
    """The place of the block that automatic caching marks: the last one that accepts a mark ("Automatic caching")."""
    for place, block in reversed(list(request_blocks(body))):
        if block.get("type") not in THINKING and (block.get("type") != "text" or block.get("text")):
            return place
    return None


@cache
def sdk_fields(name: str) -> frozenset[str]:
    """The fields of a type in `anthropic.types`."""
    import anthropic.types  # noqa: PLC0415  it takes most of a second, and only the checks need it

    return frozenset(attrgetter(name)(anthropic.types).__annotations__)


def unknown_fields(place: str, block: Body) -> Iterator[str]:
    """The fields that the type of the block does not have."""
    kind = str(block.get("type"))
    if kind not in _BLOCK_PARAMS:
        yield f"{place}.type: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        return
    for name in block:
        if name not in sdk_fields(_BLOCK_PARAMS[kind]):
            yield f"{place}.{kind}.{name}: Extra inputs are not permitted"


def unmarked(value: object) -> object:
    """The value without cache marks, which are neither cached nor signed."""
    if isinstance(value, Mapping):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def is_count(value: object, *, least: int) -> bool:
    """Whether the value is an integer of at least `least`."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
