"""The body of a request to the provider, in the format of the Anthropic Messages API.

Pure: no network, no SDK; arguments are not modified.

The order matters for the provider's cache: tools and system prompt come first and are the same in all turns of a query,
then the conversation, which only grows. Cache marks are at the end of both parts, and at the end of the previous
request, because the provider looks back over 20 blocks only, which ten calls and their results fill.
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from oracle.features.claude.facts import ThinkingSettings
from oracle.llm.blocks import THINKING
from oracle.llm.protocol import ModelRequest
from oracle.llm.tool_names import wire_name

_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_ID_OF: Final = {"tool_use": "id", "tool_result": "tool_use_id"}

WEB_SEARCH_TYPE = "web_search_20250305"
"""The basic web search, available on every model and platform. Later types run code on the results, in containers."""

MAX_WEB_SEARCHES: Final = 5
"""The provider's searches in one request."""

_CACHE_MARK: Mapping[str, str] = {"type": "ephemeral"}


def request_body(
    request: ModelRequest,
    *,
    model: str,
    max_tokens: int,
    thinking: ThinkingSettings,
    paused: Sequence[Mapping[str, Any]] = (),
    resumed: int = 0,
) -> dict[str, Any]:
    """The arguments of `messages.create`, except `stream` and headers.

    Args:
        request: the model request.
        model: the provider's name of the model.
        max_tokens: the rest of the request's own limit after the parts of a paused turn.
        thinking: the result of `thinking_settings`.
        paused: the blocks of this turn so far, if the provider has paused it and is to continue.
        resumed: the number of those blocks that the previous request contained.

    Raises:
        ValueError: the last message is the model's.
    """
    last = request.messages[-1].get("role") if request.messages else None
    if last not in ("user", "system"):
        raise ValueError(f"the last message has the role {last!r}; it must be the user's, for the model to answer it")
    tools = _tools(request)
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
    """The same arguments without thinking from earlier turns; `None` if they contain none.

    For requests whose thinking blocks the provider rejects, because content before them has changed. A model with a
    thinking budget requires a turn of tool calls to begin with its thinking, so thinking is then turned off.
    """
    messages, found = [], False
    for message in body["messages"]:
        content = message["content"]
        if message["role"] == "assistant" and not isinstance(content, str):
            kept = [block for block in content if block.get("type") not in THINKING]
            found = found or len(kept) < len(content)
            # An assistant message must not be empty.
            content = kept or [{"type": "text", "text": "(no answer)"}]
        messages.append({**message, "content": content})
    kept_fields = {name: value for name, value in body.items() if name != "thinking" or value["type"] != "enabled"}
    return {**kept_fields, "messages": messages} if found else None


def drop_cache_marks(body: Mapping[str, Any]) -> None:
    """Take the marks of the provider's cache out of the arguments, in place."""
    said = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
    for block in (*body.get("system", ()), *body.get("tools", ()), *said):
        block.pop("cache_control", None)


def _tools(request: ModelRequest) -> list[dict[str, Any]]:
    """The tools in the given order, in which later tools come last, so that the cached prefix stays the same."""
    own = {"type": WEB_SEARCH_TYPE, "name": "web_search", "max_uses": MAX_WEB_SEARCHES}
    tools: list[dict[str, Any]] = [
        dict(own)
        if request.web_search and tool.name == "web_search"
        else {"name": wire_name(tool.name), "description": tool.description, "input_schema": _plain(tool.input_schema)}
        for tool in request.tools
    ]
    return tools if own in tools or not request.web_search else [*tools, own]


def _system(text: str) -> list[dict[str, Any]]:
    if not text.strip():
        return []
    return [{"type": "text", "text": _plain(text), "cache_control": dict(_CACHE_MARK)}]


def _messages(request: ModelRequest, paused: Sequence[Mapping[str, Any]], resumed: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [_plain(message) for message in request.messages]
    for message in messages:
        if not isinstance(message["content"], str):
            _rename(message["content"])
    # The user's last message, and the one before it, which was the last one of the previous request.
    ends = [_blocks(message) for message in [each for each in messages if each["role"] == "user"][-2:]]
    if paused:
        blocks = _plain(paused)
        _rename(blocks)
        messages.append({"role": "assistant", "content": blocks})
        ends += [blocks[:resumed], blocks] if resumed else [blocks]
    for end in ends[-2:]:
        _mark(end)
    return messages


def _rename(blocks: list[dict[str, Any]]) -> None:
    """Give the calls among the blocks names and ids that the provider takes; another one may have given others."""
    for block in blocks:
        if block.get("type") == "tool_use":
            block["name"] = wire_name(block["name"])
        key = _ID_OF.get(str(block.get("type")), "")
        if key and not _ID.fullmatch(block[key]):
            block[key] = f"call_{sha256(block[key].encode()).hexdigest()[:24]}"


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The message's content, converted to a list of blocks in place if it is a string."""
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
    """A deep copy of plain JSON types; lone surrogates become U+FFFD, so that it can be encoded."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item) for item in value]
    return value
