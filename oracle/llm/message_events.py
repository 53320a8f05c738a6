"""The events of one streamed message, converted from the provider's JSON to model events. Pure: no network, no SDK.

Rules:

- Each event is converted at once; nothing is buffered that can be emitted.
- The content blocks are kept unmodified, with unknown fields, because they must go back to the provider so. Blocks that
  the provider would reject are left out: unfinished blocks other than text, and text of white space only.
- Invalid data of the provider raises `ValueError` and no other exception.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Final, Literal, get_args

import structlog

from bt_runtime.text.data import dataclass
from oracle.core.chunks import Source
from oracle.llm.blocks import THINKING
from oracle.llm.protocol import (
    CacheMiss,
    ModelEvent,
    ServerToolCalled,
    ServerToolReturned,
    SourceCited,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCallRequested,
    ToolUse,
    Usage,
    UsageReported,
)
from oracle.llm.tool_names import own_name
from oracle.llm.wire import MOST_CALLS, arguments_of, token_count

PAUSED: Final = "pause_turn"
"""The provider's stop reason for a turn that it will continue when it is sent back."""

MAX_SNIPPET_CHARACTERS = 300
_MAX_RESULT_CHARACTERS = 4000
_NOTHING: tuple[ModelEvent, ...] = ()
_STOP_REASONS = frozenset(get_args(StopReason))
_MISSES: tuple[CacheMiss, ...] = get_args(CacheMiss)
_LONGEST_ID = 200


_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _OpenBlock:
    """An unfinished content block: its start, and the pieces received since."""

    block: dict[str, Any]
    pieces: list[str] = field(default_factory=list)
    signature: list[str] = field(default_factory=list)


class MessageReader:
    """Reads the events of one message.

    Args:
        model: the model that was asked.
        tools: the names of the offered tools by those on the wire, where they differ.

    After the last event `content`, `usage`, `stop_reason`, `message_id` and `model` describe the message. `has_answer`
    is true once a block other than thinking has begun.
    """

    def __init__(self, *, model: str, tools: Mapping[str, str] | None = None) -> None:
        self.model = model
        self._tools = tools or {}
        self.usage = Usage()
        self.message_id = ""
        self.stop_reason: str | None = None
        self.stop_detail: str | None = None
        self.has_answer = False
        self._open: dict[int, _OpenBlock] = {}
        self._done: dict[int, dict[str, Any]] = {}
        self._calls = 0

    @property
    def content(self) -> tuple[dict[str, Any], ...]:
        """The blocks that can go back to the provider, in the message's order, including text that was cut off."""
        blocks = dict(self._done)
        for index, opened in self._open.items():
            if opened.block.get("type") == "text":
                blocks[index] = _closed_text(opened)
        return tuple(block for _, block in sorted(blocks.items()) if _can_go_back(block))

    def feed(self, event: Mapping[str, Any]) -> Sequence[ModelEvent]:
        """Convert an event to model events.

        Raises:
            ValueError: the event violates the protocol.
        """
        try:
            kind = event["type"]
            if kind == "content_block_delta":
                return self._delta(event["index"], event["delta"])
            if kind == "content_block_start":
                return self._start(event["index"], event["content_block"])
            if kind == "content_block_stop":
                return self._stop(event["index"])
            if kind == "message_start":
                message = event["message"]
                self.model = str(message.get("model") or self.model)
                self.message_id = _text(message.get("id") or "")[:_LONGEST_ID]
                self.usage = replace(self.usage, cache_miss=_miss_of(message))
                return self._use(message.get("usage"))
            if kind == "message_delta":
                return self._message_delta(event)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"a {event.get('type')!r} event with missing or invalid fields") from error
        return _NOTHING  # `ping`, `message_stop`, and events that the provider may add

    def ended_as(self) -> StopReason:
        """The stop reason; `broken` if the provider sent none."""
        reason = self.stop_reason
        if reason is None:
            return "broken"
        if reason in _STOP_REASONS:
            return reason  # type: ignore[return-value]  # checked against the literal's own values
        _log.warning("stop_reason.unknown", stop_reason=reason)
        return "tool_use" if any(block.get("type") == "tool_use" for block in self._done.values()) else "end_turn"

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Sequence[ModelEvent]:
        kind = delta["type"]
        if kind == "text_delta":
            text = _text(delta["text"])
            self._open[index].pieces.append(text)
            return (TextDelta(text),) if text else _NOTHING
        if kind == "thinking_delta":
            text = _text(delta["thinking"])
            self._open[index].pieces.append(text)
            return (ThinkingDelta(text),) if text else _NOTHING
        if kind == "input_json_delta":
            self._open[index].pieces.append(_text(delta["partial_json"]))
            return _NOTHING
        if kind == "signature_delta":
            self._open[index].signature.append(_text(delta["signature"]))
            return _NOTHING
        if kind == "citations_delta":
            return self._cite(index, delta["citation"])
        return _NOTHING

    def _start(self, index: int, block: Mapping[str, Any]) -> Sequence[ModelEvent]:
        if not isinstance(index, int):
            raise TypeError("the index is not an integer")
        kind = block["type"]
        begun = _text(block.get(kind) or "") if kind in {"text", "thinking"} else ""
        self._open[index] = _OpenBlock(dict(block), [begun] if begun else [])
        self.has_answer = self.has_answer or kind not in THINKING
        if not begun:
            return _NOTHING
        return (TextDelta(begun) if kind == "text" else ThinkingDelta(begun),)

    def _stop(self, index: int) -> Sequence[ModelEvent]:
        opened = self._open.pop(index)
        block = self._done[index] = opened.block
        kind = block["type"]
        if opened.signature:
            block["signature"] = (block.get("signature") or "") + "".join(opened.signature)
        if kind == "text":
            self._done[index] = _closed_text(opened)
        elif kind == "thinking":
            block["thinking"] = "".join(opened.pieces)
        elif kind == "tool_use":
            self._calls += 1
            if self._calls > MOST_CALLS:
                del self._done[index]
                return _NOTHING
            block["input"], malformed = _arguments(opened)
            block["name"] = own_name(str(block["name"]), self._tools)
            return (ToolCallRequested(ToolUse(str(block["id"]), block["name"], block["input"], malformed)),)
        elif kind == "server_tool_use":
            block["input"], _ = _arguments(opened)
            return (ServerToolCalled(str(block["id"]), str(block["name"]), block["input"]),)
        elif kind.endswith("_tool_result"):
            return (_server_result(block),)
        return _NOTHING

    def _cite(self, index: int, citation: Mapping[str, Any]) -> Sequence[ModelEvent]:
        block = self._open[index].block
        block["citations"] = block.get("citations") or []
        block["citations"].append(dict(citation))
        url = citation.get("url")
        if not isinstance(url, str) or not url:
            return _NOTHING
        text = citation.get("cited_text") or citation.get("title")
        return (SourceCited(Source(path=url, source_type="web", snippet=_snippet(text))),)

    def _message_delta(self, event: Mapping[str, Any]) -> Sequence[ModelEvent]:
        delta = event["delta"]
        if delta.get("stop_reason") is not None:
            self.stop_reason = str(delta["stop_reason"])
        details = delta.get("stop_details")
        if details:
            detail = details.get("explanation") or details.get("category")
            self.stop_detail = None if detail is None else str(detail)
        return self._use(event.get("usage"))

    def _use(self, usage: Mapping[str, Any] | None) -> Sequence[ModelEvent]:
        if not usage:
            return _NOTHING
        old = self.usage
        self.usage = Usage(
            input_tokens=_count(usage, "input_tokens", old.input_tokens),
            cache_creation_tokens=_count(usage, "cache_creation_input_tokens", old.cache_creation_tokens) or 0,
            cache_read_tokens=_count(usage, "cache_read_input_tokens", old.cache_read_tokens) or 0,
            output_tokens=_count(usage, "output_tokens", old.output_tokens),
            cache_miss=old.cache_miss,
        )
        return (UsageReported(self.usage),)


def _miss_of(message: Mapping[str, Any]) -> CacheMiss | Literal[""]:
    """Why the cache was missed (platform.claude.com, "Cache diagnostics"); the comparison knows of no use of the cache.

    So where something was read from it, only a difference that was found says anything.
    """
    diagnostics = message.get("diagnostics")
    found = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, Mapping) else None
    if not isinstance(found, Mapping):
        return ""
    reason: CacheMiss = next((known for known in _MISSES if known == found.get("type")), "unavailable")
    was_read = (message.get("usage") or {}).get("cache_read_input_tokens")
    return "" if was_read and not reason.endswith("_changed") else reason


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("the text is not a string")


def _closed_text(opened: _OpenBlock) -> dict[str, Any]:
    block = {**opened.block, "text": "".join(opened.pieces)}
    if not block.get("citations"):
        block.pop("citations", None)
    return block


def _can_go_back(block: Mapping[str, Any]) -> bool:
    return block.get("type") != "text" or bool(block["text"].strip())


def _arguments(opened: _OpenBlock) -> tuple[dict[str, Any], str | None]:
    """The tool's arguments, and why they are not a JSON object; `None` if they are."""
    text = "".join(opened.pieces)
    if not text.strip():
        given = opened.block.get("input")
        return (given, None) if isinstance(given, dict) else ({}, None)
    return arguments_of(text)


def _server_result(block: Mapping[str, Any]) -> ServerToolReturned:
    content = block.get("content")
    call_id = str(block.get("tool_use_id"))
    if isinstance(content, Mapping) and str(content.get("type", "")).endswith("_error"):
        return ServerToolReturned(call_id, f"The search failed: {content.get('error_code')}.", is_error=True)
    if block["type"] != "web_search_tool_result" or not isinstance(content, Sequence):
        return ServerToolReturned(
            call_id, json.dumps(content, ensure_ascii=False)[:_MAX_RESULT_CHARACTERS], is_error=False
        )
    hits = [hit for hit in content if isinstance(hit, Mapping) and isinstance(hit.get("url"), str)]
    lines = [f"{hit.get('title') or hit['url']} — {hit['url']}" for hit in hits]
    sources = tuple(Source(path=hit["url"], source_type="web", snippet=_snippet(hit.get("title"))) for hit in hits)
    text = "\n".join(lines)[:_MAX_RESULT_CHARACTERS] or "The search found nothing."
    return ServerToolReturned(call_id, text, is_error=False, sources=sources)


def _snippet(text: object) -> str | None:
    return text[:MAX_SNIPPET_CHARACTERS] if isinstance(text, str) and text else None


def _count(usage: Mapping[str, Any], name: str, known: int | None) -> int | None:
    count = token_count(usage.get(name))
    return known if count is None else count
