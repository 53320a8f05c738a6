"""What a conversation keeps of a run besides the answer: notifications, and tool calls with their results.

This is bounded, because a conversation outlives its runs: results and arguments are shortened, with a mark that says
how much is missing, and at most `MOST_CALLS` calls are kept. The run's stream has them whole for as long as its texts
are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oracle.core.chunks import SystemNotice, ToolCall, ToolCalled, ToolReturned
from oracle.core.encoding import scrub, to_json

MOST_CALLS = 200
"""Tool calls that are kept of one query."""
RESULT_CHARS = 2_000
"""Characters that are kept of the result of a call."""
ARGUMENTS_CHARS = 2_000
"""The same for the arguments of a call, as JSON."""


@dataclass(frozen=True, slots=True)
class ConversationStep:
    """A notification, a tool call or a result.

    Args:
        at: ISO 8601, UTC.
    """

    at: str
    chunk: SystemNotice | ToolCalled | ToolReturned


def notices_of(steps: Sequence[ConversationStep]) -> Iterator[SystemNotice]:
    """The notifications, in order."""
    return (step.chunk for step in steps if isinstance(step.chunk, SystemNotice))


def tool_calls_of(steps: Sequence[ConversationStep]) -> list[dict[str, Any]]:
    """Each tool call with its result, as JSON objects with the field names of the chunks."""
    results = {step.chunk.tool_call_id: step.chunk for step in steps if isinstance(step.chunk, ToolReturned)}
    calls = [(step.at, step.chunk.tool_call) for step in steps if isinstance(step.chunk, ToolCalled)]
    return [_use(at, call, results.get(call.id)) for at, call in calls[:MOST_CALLS]]


def _use(at: str, call: ToolCall, result: ToolReturned | None) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": _arguments(call.arguments),
        "tool_result": shortened(result.tool_result, RESULT_CHARS) if result else "",
        "is_error": result is None or result.is_error,
        "duration_ms": result.duration_ms if result else 0,
        "timestamp": at,
    }


def shortened(text: str, most_chars: int) -> str:
    """The text, or its beginning with a mark that says how much is missing."""
    if len(text) <= most_chars:
        return text
    return f"{text[:most_chars]}\n[... {len(text) - most_chars:,} more characters are not kept here]"


def _arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if len(to_json(dict(arguments))) <= ARGUMENTS_CHARS:
        return arguments
    names = list(arguments)[:20]
    share = ARGUMENTS_CHARS // len(names)
    return {shortened(scrub(name), 100): _value(arguments[name], share) for name in names}


def _value(value: object, most_chars: int) -> object:
    text = value if isinstance(value, str) else to_json(value).decode()
    return value if len(text) <= most_chars else shortened(text, most_chars)
