"""The replies of the stand-in provider, as data and as server-sent events of the Anthropic Messages API."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from oracle.llm.protocol import ModelFault, Usage
from oracle.llm.scripted import Event, ScriptedTurn, arguments_text, content_events
from tests.support.provider.cache import CacheUse, estimated_tokens

_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
}
_TYPE_OF_FAULT: Mapping[str, str] = {
    "provider_auth": "authentication_error",
    "provider_overloaded": "overloaded_error",
    "context_too_large": "invalid_request_error",
}


@dataclass(frozen=True, slots=True)
class HttpError:
    """An error response in place of a stream.

    Args:
        error_type: the provider's type, such as `rate_limit_error`.
        message: the provider's message.
        status: `None` means the status of the type.
        headers: additional headers, such as `retry-after`.
        body: the whole body, in place of the JSON object (such as a proxy's HTML page).
    """

    error_type: str = "api_error"
    message: str = "Internal server error"
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None

    @property
    def http_status(self) -> int:
        """The HTTP status."""
        return self.status if self.status is not None else _STATUS_OF_TYPE.get(self.error_type, 500)


@dataclass(frozen=True, slots=True)
class Disturbed:
    """A turn whose stream fails or waits.

    Args:
        turn: the undisturbed turn.
        how: what happens after the first `after` events. `reset`: the connection is lost. `early_end`: the response
            ends regularly, but too early. `error_event`: the stream reports `error_type`. `hang`: no data follows.
            `wait`: the rest follows once `gate` is set.
        after: the number of events sent before; `None` means all events of the content.
        gate: for `wait`.
        error_type: for `error_event`.
        message: for `error_event`.
        garbage: for `early_end`: the last bytes sent.
    """

    turn: ScriptedTurn
    how: Literal["reset", "early_end", "error_event", "hang", "wait"]
    after: int | None = None
    gate: asyncio.Event | None = None
    error_type: str = "overloaded_error"
    message: str = "Overloaded"
    garbage: bytes = b""

    def __post_init__(self) -> None:
        if self.how == "wait" and self.gate is None:
            raise ValueError("how is 'wait', but gate is None; it must be the event that releases the rest")


Reply = ScriptedTurn | HttpError | Disturbed
"""The reply to a request. A `ScriptedTurn` is played with its `fault` and `hang`."""


def as_disturbed(turn: ScriptedTurn) -> ScriptedTurn | HttpError | Disturbed:
    """The turn, or the equivalent of its `fault`, `hang` or `broken` on the wire."""
    if turn.fault is not None:
        return _faulty(turn, turn.fault)
    if turn.hang:
        return Disturbed(turn, "hang")
    return Disturbed(turn, "early_end") if turn.ends_as == "broken" else turn


def message_events(
    turn: ScriptedTurn,
    *,
    number: int,
    model: str,
    sign: Callable[[str], str],
    cached: CacheUse | None = None,
    diagnostics: Mapping[str, Any] | None = None,
) -> tuple[list[Event], list[Event]]:
    """The events of a message: those up to the end of its content, and those after it.

    Args:
        turn: the turn to send.
        number: the turn's position in the script, from 1; for the ids.
        model: the requested model.
        sign: returns the signature of a text of thinking.
        cached: the cache use, for a turn without a usage.
        diagnostics: what it says of the cache, where the script says nothing; `None`: nothing.
    """
    if turn.usage is not None and turn.usage.cache_miss:
        diagnostics = {"cache_miss_reason": {"type": turn.usage.cache_miss}}
    started, output_tokens = _usage(turn, cached)
    message: dict[str, Any] = {
        "id": message_id(number),
        "type": "message",
        "role": "assistant",
        "model": turn.model or model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": started,
        "diagnostics": diagnostics,
    }
    content: list[Event] = [
        {"type": "message_start", "message": message},
        {"type": "ping"},
        *content_events(turn, number=number, sign=sign),
    ]
    ended: dict[str, Any] = {"stop_reason": turn.ends_as, "stop_sequence": None}
    if turn.ends_as == "refusal":
        ended["stop_details"] = {"type": "refusal", "category": None, "explanation": "The script says so."}
    end: list[Event] = [
        {"type": "message_delta", "delta": ended, "usage": {**started, "output_tokens": output_tokens}},
        {"type": "message_stop"},
    ]
    return content, end


def message_id(number: int) -> str:
    """The id of the message of a turn, by its position in the script."""
    return f"msg_{number}"


def sse(event: Event) -> bytes:
    """One server-sent event."""
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _faulty(turn: ScriptedTurn, fault: ModelFault) -> HttpError | Disturbed:
    error_type = _TYPE_OF_FAULT.get(fault.error_type, "api_error")
    message = fault.message
    if fault.error_type == "context_too_large":
        message = f"prompt is too long: 210000 tokens > 200000 maximum ({message})"
    if turn.text_pieces or turn.thinking or turn.tool_calls or turn.searches or turn.late_thinking:
        return Disturbed(turn, "error_event", error_type=error_type, message=message)
    return HttpError(error_type, message)


def _usage(turn: ScriptedTurn, cached: CacheUse | None) -> tuple[dict[str, Any], int]:
    """The `usage` at the start of a message, and the output tokens at its end."""
    usage, hour_tokens = turn.usage or Usage(), 0
    if turn.usage is None and cached is not None:
        usage = Usage(cached.input_tokens, cached.creation_tokens, cached.read_tokens, _output_tokens(turn))
        hour_tokens = cached.creation_1h_tokens
    started = {
        "input_tokens": usage.input_tokens or 0,
        "cache_creation_input_tokens": usage.cache_creation_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_creation_tokens - hour_tokens,
            "ephemeral_1h_input_tokens": hour_tokens,
        },
        "output_tokens": 1,
    }
    return started, usage.output_tokens or 0


def _output_tokens(turn: ScriptedTurn) -> int:
    arguments = "".join(arguments_text(call.arguments) for call in turn.tool_calls)
    text = "".join(turn.text_pieces)
    return estimated_tokens(turn.thinking + text + arguments + turn.late_thinking)
