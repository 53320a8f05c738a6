"""A model request as the Anthropic Messages API wants it. Pure: no network, no SDK; nothing given is changed.

What stands where decides what the provider's cache saves: tools and system prompt first and alike for all turns of a
query, then the conversation, which only grows. The marks stand at the end of the first and of the second part, and
where the request before ended, because the provider looks back over 20 blocks only, which ten calls and their results
fill.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.models.blocks import THINKING
from oracle.models.protocol import ModelRequest
from oracle.models.thinking import ThinkingSettings

DEFAULT_MODEL: Final = "claude-sonnet-5-5"
"""The model where nobody names one. It stands here because settings need it, and must not load the SDK for it."""

WEB_SEARCH_TYPE = "web_search_20250305"
"""The plain web search: every model and platform has it. The later types run code on the results, in containers."""

_CACHE_MARK: Mapping[str, str] = {"type": "ephemeral"}


def request_body(
    request: ModelRequest,
    *,
    model: str,
    max_tokens: int,
    thinking: ThinkingSettings,
    paused: Sequence[Mapping[str, Any]] = (),
    resumed: int = 0,
    max_web_searches: int = 5,
) -> dict[str, Any]:
    """The arguments of `messages.create`, `stream` and headers apart.

    Args:
        request: what is asked.
        model: the provider's name.
        max_tokens: what is left of the request's own after the parts of a paused turn.
        thinking: as `thinking_settings` answers.
        paused: the blocks of this turn so far, when the provider paused it: they go back, and it goes on.
        resumed: how many of those blocks the request before this one had sent back already.
        max_web_searches: bound on the provider's searches in one request.

    Raises:
        ValueError: the messages do not end with the user's.
    """
    if not request.messages or request.messages[-1].get("role") != "user":
        last = request.messages[-1].get("role") if request.messages else None
        raise ValueError(f"the last message has the role {last!r}; it must be the user's, for the model to answer it")
    tools = _tools(request, max_web_searches)
    system = _system(request.system)
    if not system and tools:
        tools[-1]["cache_control"] = dict(_CACHE_MARK)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": max(1, max_tokens),
        "messages": _messages(request, paused, resumed),
    }
    if system:
        body["system"] = system
    if tools:
        body["tools"] = tools
        if request.tool_choice == "none":
            body["tool_choice"] = {"type": "none"}
    if thinking.thinking is not None:
        body["thinking"] = _plain(thinking.thinking)
    if thinking.effort is not None:
        body["output_config"] = {"effort": thinking.effort}
    return body


def without_thinking(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same arguments with no thinking from earlier turns, or `None` if there is none in them.

    For the one case where the provider will not take a block back: what stands before it has changed since it was made.
    A model that thinks by a budget wants a turn of tool calls to begin with its thinking, so it does not think then.
    """
    messages, found = [], False
    for message in body["messages"]:
        content = message["content"]
        if message["role"] == "assistant" and not isinstance(content, str):
            kept = [block for block in content if block.get("type") not in THINKING]
            found = found or len(kept) < len(content)
            # An assistant message must say something.
            content = kept or [{"type": "text", "text": "(no answer)"}]
        messages.append({**message, "content": content})
    kept_fields = {name: value for name, value in body.items() if name != "thinking" or value["type"] != "enabled"}
    return {**kept_fields, "messages": messages} if found else None


def _tools(request: ModelRequest, max_web_searches: int) -> list[dict[str, Any]]:
    """In the order given: tools that are added later stand behind the others, so these stay as they were."""
    own = {"type": WEB_SEARCH_TYPE, "name": "web_search", "max_uses": max_web_searches}
    tools: list[dict[str, Any]] = [
        dict(own)
        if request.web_search and tool.name == "web_search"
        else {"name": tool.name, "description": tool.description, "input_schema": _plain(tool.input_schema)}
        for tool in request.tools
    ]
    return tools if own in tools or not request.web_search else [*tools, own]


def _system(text: str) -> list[dict[str, Any]]:
    if not text.strip():
        return []
    return [{"type": "text", "text": _plain(text), "cache_control": dict(_CACHE_MARK)}]


def _messages(request: ModelRequest, paused: Sequence[Mapping[str, Any]], resumed: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [_plain(message) for message in request.messages]
    # Where the request before this one ended, with the user's message before the last, and where this one ends.
    ends = [_blocks(message) for message in (*messages[-3:-2], messages[-1])]
    if paused:
        blocks = _plain(paused)
        messages.append({"role": "assistant", "content": blocks})
        ends += [blocks[:resumed], blocks] if resumed else [blocks]
    for end in ends[-2:]:
        _mark(end)
    return messages


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message's content, made a list of blocks if it was a text."""
    if isinstance(message["content"], str):
        message["content"] = [{"type": "text", "text": message["content"]}]
    content: list[dict[str, Any]] = message["content"]
    return content


def _mark(blocks: list[dict[str, Any]]) -> None:
    for block in reversed(blocks):
        if block.get("type") not in THINKING:
            block["cache_control"] = dict(_CACHE_MARK)
            return


def _plain(value: Any) -> Any:  # noqa: ANN401  # what JSON is
    """A deep copy in JSON's own types, whose text can be sent: a lone surrogate becomes U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item) for item in value]
    return value
