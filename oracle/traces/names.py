"""All names in our spans: those of OpenTelemetry's conventions for generative AI, and our own below `oracle.`.

The conventions are under development (https://opentelemetry.io/docs/specs/semconv/gen-ai/); these are their names as of
1.41. `ATTRIBUTES` is the table in `docs/traces.md`.
"""

from typing import Final, NamedTuple

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


class Attribute(NamedTuple):
    """An attribute of our spans."""

    name: str
    spans: str
    meaning: str


ATTRIBUTES: Final = (
    Attribute(OPERATION, "all", f"`{INVOKE_AGENT}`, `{CHAT}` or `{EXECUTE_TOOL}`"),
    Attribute(CONVERSATION, "all", "the `context_id` of the conversation"),
    Attribute(RUN, "all", "the `run_id`"),
    Attribute(PROVIDER, "run, turn", "`anthropic`, or `oracle` for the embedded model"),
    Attribute(REQUEST_MODEL, "run, turn", "the model that was asked"),
    Attribute(AGENT, "run", "the name of the tree"),
    Attribute(AGENT_VERSION, "run", "the version of the tree (its hash)"),
    Attribute(REASON, "run", "the `termination_reason`"),
    Attribute(TURNS, "run", "finished turns"),
    Attribute(RECOVERED, "run", "true if the process died and the run was ended from its log"),
    Attribute(RESPONSE_MODEL, "run, turn", "the model that answered"),
    Attribute(INPUT_TOKENS, "run, turn", "all input tokens, cached ones included; of a run, of all its turns"),
    Attribute(OUTPUT_TOKENS, "run, turn", "output tokens"),
    Attribute(BUDGET_TOKENS, "run, turn", "tokens as the token budget counts them (cache reads are free)"),
    Attribute(ERROR_TYPE, "all", "on failure: the `error_type` of the stream, or `tool_error`"),
    Attribute(CANCELLED, "turn, tool", "true if it was cancelled: by the user, a limit, or the tree"),
    Attribute(NODE, "turn, tool", "the path of the node in the tree, through subtrees"),
    Attribute(TURN, "turn", "1 for the first turn of the run, …"),
    Attribute(IS_SIDE, "turn", "true for a turn that is not part of the answer"),
    Attribute(MAX_TOKENS, "turn", "the limit on the output of the turn"),
    Attribute(STREAM, "turn", "true"),
    Attribute(FINISH_REASONS, "turn", "the provider's stop reason"),
    Attribute(CACHE_READ_TOKENS, "turn", "input tokens read from the provider's cache"),
    Attribute(CACHE_CREATION_TOKENS, "turn", "input tokens written to the provider's cache"),
    Attribute(FIRST_TEXT_MS, "turn", "from the request to the first visible text, in milliseconds"),
    Attribute(SIGNAL, "turn", "the type of the model's signal"),
    Attribute(SERVER_TOOLS, "turn", "tools that the provider ran itself"),
    Attribute(REQUEST_IDS, "turn", "the provider's ids of its requests, for its support"),
    Attribute(TOOL, "tool", "the name of the tool"),
    Attribute(TOOL_TYPE, "tool", "`function`"),
    Attribute(TOOL_CALL, "tool", "the id of the call, as in the stream"),
)
"""What is always recorded, where it applies."""

CONTENT_ATTRIBUTES: Final = (
    Attribute(INPUT_MESSAGES, "run", "the question"),
    Attribute(OUTPUT_MESSAGES, "run, turn", "the answer; of a turn, its text and tool calls"),
    Attribute(TOOL_ARGUMENTS, "tool", "the arguments, as JSON"),
    Attribute(TOOL_RESULT, "tool", "the text of the result"),
)
"""What is recorded only with `ORACLE_TRACES_CONTENT=1`."""
