"""The chunks of one streamed chat completion, converted to model events. Pure: no network, no SDK.

Servers of this format differ in what the format leaves open:

- Pieces of tool calls may share an index, or have none; a call may have no id, or repeat id and name with each piece.
  A piece that cannot continue a call begins another one.
- Arguments may be no JSON, or a JSON object in place of its text.
- Thinking is `reasoning_content` or `reasoning`. It is shown, and sent back only where a server has asked for it.
- Usage may be missing, or come with each chunk; then the last one counts. A count of 0 or of billions is ignored.
- `finish_reason` may be missing; then the end of the stream (`[DONE]`) tells a whole answer from one that broke off.

Calls that a model writes as text stay text. Invalid data raises `ValueError` and no other exception.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import structlog

from bt_runtime.text.data import dataclass
from oracle.llm.protocol import (
    ModelEvent,
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

_STOP_REASONS: Final[Mapping[str, StopReason]] = {
    "stop": "end_turn",
    "tool_calls": "end_turn",  # `tool_use` where there are any
    "function_call": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "abort": "broken",  # vLLM, of a request that was cancelled there
    "error": "broken",  # OpenRouter, of a provider behind it
}
_MOST_CHECKS: Final = 200
"""How often arguments are parsed to find out whether a piece begins another call."""
_LONGEST_CHECKED: Final = 100_000
_MOST_PIECES: Final = 10_000
_NEARLY: Final = 8
"""Tokens by which a server's count may be below the limit that it has kept to."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Call:
    id: str
    name: str
    pieces: list[str] = field(default_factory=list)


class CompletionReader:
    """Reads the chunks of one completion.

    Args:
        max_tokens: the limit on the output that was sent.
        tools: the names of the offered tools by those on the wire, where they differ.
        keeps_reasoning: whether `content` has the thinking, for servers that want it back.

    After `end` the fields describe the message. `has_answer` is true once something other than thinking has come.
    """

    def __init__(self, *, max_tokens: int, tools: Mapping[str, str], keeps_reasoning: bool = False) -> None:
        self.usage = Usage()
        self.has_answer = False
        self.is_done = False
        """The server has said that nothing follows."""
        self.request_ids: tuple[str, ...] = ()
        self._max_tokens, self._tools = max_tokens, tools
        self._finish: str | None = None
        self._thoughts: list[str] | None = [] if keeps_reasoning else None
        self._texts: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[object, _Call] = {}
        self._checks = 0
        self._requested: list[ToolUse] = []

    def feed(self, chunk: Mapping[str, Any]) -> Sequence[ModelEvent]:
        """Convert a chunk to model events.

        Raises:
            ValueError: the chunk violates the format.
        """
        try:
            return self._read(chunk)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ValueError("a chunk with missing or invalid fields") from error

    def end(self) -> Sequence[ModelEvent]:
        """The tool calls, once everything has come; without one that the limit on the output has cut off."""
        is_cut = self._finish == "length" or self.stop_reason == "broken"
        seen: set[str] = set()
        for number, call in enumerate(self._calls, start=1):
            text = "".join(call.pieces)
            arguments, malformed = arguments_of(text) if text.strip() else ({}, None)
            if is_cut and number == len(self._calls) and (malformed or not text.strip()):
                break
            call_id = call.id or f"call_{number}"
            call_id = f"{call_id}_{number}" if call_id in seen else call_id
            seen.add(call_id)
            self._requested.append(ToolUse(call_id, own_name(call.name, self._tools), arguments, malformed))
        return [ToolCallRequested(each) for each in self._requested]

    @property
    def content(self) -> tuple[Mapping[str, Any], ...]:
        """Thinking, if it is kept, text and tool calls as blocks."""
        text = "".join(self._texts)
        spoken = [{"type": "text", "text": text}] if text.strip() else []
        calls = ({"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in self._requested)
        blocks: tuple[Mapping[str, Any], ...] = (*spoken, *calls)
        if not blocks or not self._thoughts:
            return blocks
        return ({"type": "thinking", "thinking": "".join(self._thoughts), "signature": ""}, *blocks)

    @property
    def stop_detail(self) -> str | None:
        """The server's words for a refusal."""
        if self._refusal:
            return "".join(self._refusal)
        return "its provider's filter has stopped it" if self._finish == "content_filter" else None

    @property
    def stop_reason(self) -> StopReason:
        """Why the message ended."""
        if self._refusal:
            return "refusal"
        if self._finish is None and not self.is_done:
            return "broken"
        reason = _STOP_REASONS.get(self._finish or "stop")
        if reason is None:
            log.warning("stop_reason.unknown", stop_reason=self._finish)
            reason = "end_turn"
        if reason == "max_tokens" and (self.usage.output_tokens or self._max_tokens) + _NEARLY < self._max_tokens:
            return "model_context_window_exceeded"
        return "tool_use" if reason == "end_turn" and self._calls else reason

    def _read(self, chunk: Mapping[str, Any]) -> Sequence[ModelEvent]:
        made: list[ModelEvent] = []
        for choice in (chunk.get("choices") or ())[:1]:
            if choice.get("finish_reason"):
                self._finish = str(choice["finish_reason"])
            self._read_delta(choice.get("delta") or {}, made)
        if usage := chunk.get("usage"):
            self.usage = _usage(usage)
            made.append(UsageReported(self.usage))
        return made

    def _read_delta(self, delta: Mapping[str, Any], made: list[ModelEvent]) -> None:
        if thought := _text(delta.get("reasoning_content") or delta.get("reasoning")):
            made.append(ThinkingDelta(thought))
            if self._thoughts is not None:
                self._thoughts.append(thought)
        if text := _text(delta.get("content")):
            self.has_answer = True
            self._texts.append(text)
            made.append(TextDelta(text))
        if refusal := _text(delta.get("refusal")):
            self.has_answer = True
            self._refusal.append(refusal)
        for piece in delta.get("tool_calls") or ():
            self.has_answer = True
            self._read_call(piece)

    def _read_call(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function") or {}
        index, call_id, name = piece.get("index"), str(piece.get("id") or ""), str(function.get("name") or "")
        call = self._continued(index, call_id, name)
        if call is None:
            call = _Call(call_id, name)
            if len(self._calls) < MOST_CALLS:
                self._calls.append(call)
        call.id, call.name = call.id or call_id, call.name or name
        self._by_index[index] = call
        if call.id:
            self._by_id[call.id] = call
        arguments = function.get("arguments")
        if arguments is not None:
            call.pieces.append(arguments if isinstance(arguments, str) else json.dumps(arguments))

    def _continued(self, index: object, call_id: str, name: str) -> _Call | None:
        """The call that a piece continues; `None`: it begins one."""
        if not self._calls:
            return None
        call = self._by_index.get(index, None if index is not None else self._calls[-1])
        if index is None and call_id:
            call = self._by_id.get(call_id, call)
        if call is None or (call_id and call.id and call_id != call.id):
            return None
        if name and call.name and not call_id and (name != call.name or self._is_whole(call)):
            return None
        return call

    def _is_whole(self, call: _Call) -> bool:
        """Whether the arguments so far are a JSON object, so that nothing can continue them."""
        if not call.pieces or not call.pieces[-1].rstrip().endswith("}"):
            return False
        self._checks += 1
        if self._checks > _MOST_CHECKS or len(call.pieces) > _MOST_PIECES:
            return False
        size = sum(map(len, call.pieces))
        return size <= _LONGEST_CHECKED and arguments_of("".join(call.pieces))[1] is None


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError("the text is not a string")


def _usage(usage: Mapping[str, Any]) -> Usage:
    prompt = token_count(usage.get("prompt_tokens")) or None  # servers that do not count say 0
    completion = token_count(usage.get("completion_tokens")) or None
    cached = token_count((usage.get("prompt_tokens_details") or {}).get("cached_tokens")) or 0
    fresh = None if prompt is None else max(0, prompt - cached)
    return Usage(input_tokens=fresh, cache_read_tokens=min(cached, prompt or 0), output_tokens=completion)
