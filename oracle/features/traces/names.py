"""Names and content in our spans: those of OpenTelemetry's conventions for generative AI, and our own below `oracle.`.

The conventions are under development (https://opentelemetry.io/docs/specs/semconv/gen-ai/); these are their names as of
1.41.
Questions, answers, arguments and results are bounded, and in the form that the conventions give to content.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from oracle.core.encoding import scrub, to_json

SCOPE: Final = "oracle"
"""The instrumentation scope."""

INVOKE_AGENT: Final = "invoke_agent"
CHAT: Final = "chat"
EXECUTE_TOOL: Final = "execute_tool"

OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT: Final = "gen_ai.agent.name"
AGENT_VERSION: Final = "gen_ai.agent.version"
REQUEST_MODEL: Final = "gen_ai.request.model"
MAX_TOKENS: Final = "gen_ai.request.max_tokens"
STREAM: Final = "gen_ai.request.stream"
RESPONSE_MODEL: Final = "gen_ai.response.model"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHE_READ_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_CREATION_TOKENS: Final = "gen_ai.usage.cache_creation.input_tokens"
TOOL: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL: Final = "gen_ai.tool.call.id"
ERROR_TYPE: Final = "error.type"

INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"

RUN: Final = "oracle.run.id"
REASON: Final = "oracle.termination_reason"
TURNS: Final = "oracle.turns"
BUDGET_TOKENS: Final = "oracle.budget_tokens"
RECOVERED: Final = "oracle.recovered"
CANCELLED: Final = "oracle.cancelled"
NODE: Final = "oracle.node.path"
TURN: Final = "oracle.turn"
IS_SIDE: Final = "oracle.turn.is_side"
FIRST_TEXT_MS: Final = "oracle.first_text_ms"
SIGNAL: Final = "oracle.signal"
SERVER_TOOLS: Final = "oracle.server_tools"
REQUEST_IDS: Final = "oracle.provider_request_ids"


LONGEST: Final = 16_384
"""Characters of one text."""


def text(value: str, *, longest: int = LONGEST) -> str:
    """The text as an attribute can have it: of bounded length, and Unicode that can be encoded."""
    left_out = len(value) - longest
    return scrub(value) if left_out <= 0 else f"{scrub(value[:longest])}… ({left_out:,} more characters)"


def message(role: str, said: str, calls: Sequence[tuple[str, str, Mapping[str, Any]]] = (), *, reason: str = "") -> str:
    """One message, as the JSON of a list of messages.

    Args:
        role: `user` or `assistant`.
        said: its text.
        calls: tool calls: id, name, arguments.
        reason: why the model stopped; empty if that is not known.
    """
    parts: list[dict[str, Any]] = [{"type": "text", "content": text(said)}] if said else []
    parts += [
        {"type": "tool_call", "id": call_id, "name": name, "arguments": _bounded(given)}
        for call_id, name, given in calls
    ]
    return _json([{"role": role, "parts": parts, **({"finish_reason": reason} if reason else {})}])


def arguments(given: Mapping[str, Any]) -> str:
    """The arguments of a tool call as JSON; too long ones are cut off."""
    return text(_json(dict(given)))


def _bounded(given: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON data
    encoded = _json(dict(given))
    return dict(given) if len(encoded) <= LONGEST else text(encoded)


def _json(value: Any) -> str:  # noqa: ANN401  what a model wrote
    try:
        return to_json(value).decode()
    except (TypeError, ValueError, RecursionError):
        return '"(not JSON)"'
