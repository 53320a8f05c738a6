"""What the Anthropic Messages API rejects, so that a request which only a double would accept fails in tests.

`RULES` is the table: each rule has a name, its source in the provider's documentation or in the types of its SDK, and a
function that yields the provider's error messages. The rules for messages are in `provider_messages`.

Stricter than the provider in one point: consecutive messages of one role are rejected (the provider merges them),
because they mean that the history was built incorrectly.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from oracle.features.claude.facts import BINDING_BETA, MIN_THINKING_TOKENS, model_facts
from oracle.llm.blocks import THINKING
from tests.support.provider import messages, tool_changes, tools
from tests.support.provider.diagnostics import diagnostics_form
from tests.support.provider.request import (
    EMPTY_TEXT,
    Body,
    Request,
    cache_marks,
    is_count,
    last_cacheable,
    sdk_fields,
    unknown_fields,
)

MAX_CACHE_MARKS = 4
MAX_MESSAGES = 100_000
MAX_REQUEST_BYTES = 32 * 1024 * 1024
"""The provider answers larger requests with 413 (platform.claude.com, "Errors", "Request size limits")."""

KNOWN_BETAS = frozenset({BINDING_BETA, tool_changes.TOOL_CHANGES_BETA})
"""The values of the `anthropic-beta` header that the double accepts by default."""

_HEADERS = frozenset({"user_profile_id", "workspace_id"})
"""Parameters of the SDK that it sends as headers."""
_GONE = frozenset({"temperature", "top_p", "top_k"})
_THINKING_FIELDS: Mapping[str, frozenset[str]] = {
    "adaptive": frozenset({"type", "display", "block_binding"}),
    "enabled": frozenset({"type", "display", "block_binding", "budget_tokens"}),
    "disabled": frozenset({"type"}),
    "between_tools": frozenset({"type"}),
}

Find = Callable[[Request], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Something that the provider rejects.

    Args:
        name: the rule's name in tests.
        source: a page of platform.claude.com or a type of the SDK.
        find: yields the provider's message for each violation.
    """

    name: str
    source: str
    find: Find


def complaint(
    body: Body,
    *,
    betas: str = "",
    known_betas: frozenset[str] = KNOWN_BETAS,
    has_web_search: bool = True,
    has_system_messages: bool = True,
    has_diagnostics: bool = True,
) -> str | None:
    """The message with which the provider would answer 400, or `None` if it would accept the request.

    Args:
        body: the request's JSON object.
        betas: the `anthropic-beta` header.
        known_betas: the accepted values of that header.
        has_web_search: whether the organisation has enabled the provider's web search.
        has_system_messages: whether a gateway knows system messages in a conversation.
        has_diagnostics: whether it knows cache diagnostics.
    """
    named = frozenset(name.strip() for name in betas.split(",") if name.strip())
    facts = model_facts(str(body.get("model")))
    request = Request(body, named, known_betas, has_web_search, facts, has_system_messages, has_diagnostics)
    for rule in RULES:
        for found in rule.find(request):
            return found
    return None


def _beta_header(request: Request) -> Iterator[str]:
    if unknown := sorted(request.betas - request.known_betas):
        named = ", ".join(f"`{name}`" for name in unknown)
        yield (
            f"Unexpected value(s) {named} for the `anthropic-beta` header. "
            "Please consult our documentation at docs.claude.com or try again without the header."
        )


def _fields(request: Request) -> Iterator[str]:
    known = sdk_fields("message_create_params.MessageCreateParamsStreaming") - _HEADERS
    for name in request.body:
        if name in _GONE:
            yield f"{name}: is not supported by this model"
        elif name not in known:
            yield f"{name}: Extra inputs are not permitted"


def _model(request: Request) -> Iterator[str]:
    name = request.body.get("model")
    if not isinstance(name, str) or not name:
        yield "model: Field required"


def _max_tokens(request: Request) -> Iterator[str]:
    value, most = request.body.get("max_tokens"), request.facts.max_output_tokens
    if not isinstance(value, int) or not is_count(value, least=1):
        yield f"max_tokens: must be greater than or equal to 1, not {value!r}"
    elif value > most:
        yield (
            f"max_tokens: {value} > {most}, which is the maximum allowed number of output tokens for "
            f"{request.body.get('model')}"
        )


def _system(request: Request) -> Iterator[str]:
    system = request.body.get("system")
    if system is None or isinstance(system, str):
        return
    if not isinstance(system, list):
        yield "system: Input should be a valid list"
        return
    for index, block in enumerate(system):
        if not isinstance(block, Mapping) or block.get("type") != "text":
            yield f"system.{index}.type: Input should be 'text'"
        elif not str(block.get("text", "")).strip():
            yield f"system: {EMPTY_TEXT}"
        else:
            yield from unknown_fields(f"system.{index}", block)


def _message_count(request: Request) -> Iterator[str]:
    found = request.body.get("messages")
    if not isinstance(found, list) or not found:
        yield "messages: at least one message is required"
    elif len(found) > MAX_MESSAGES:
        yield f"messages: at most {MAX_MESSAGES} messages are allowed, not {len(found)}"
    elif not all(isinstance(each, Mapping) for each in found):
        yield "messages: Input should be a valid dictionary"


def _format(form: Body) -> Iterator[str]:
    """The schemas that the provider takes: objects are closed, and bounds of numbers and texts are unknown."""
    if form.keys() != {"type", "schema"} or form["type"] != "json_schema":
        yield "output_config.format: Input should be a JSON schema"
        return
    parts = [form["schema"]]
    for part in parts:
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            yield "output_config.format.schema: For 'object' type, 'additionalProperties' must be set to false"
        for name in ("minimum", "maximum", "minLength", "maxLength", "pattern", "maxItems", "if", "not", "oneOf"):
            if name in part:
                yield f"output_config.format.schema: property '{name}' is not supported"
        inner = [*part.get("properties", {}).values(), *part.get("$defs", {}).values(), *part.get("anyOf", ())]
        parts += [*inner, *([part["items"]] if "items" in part else [])]


def _output_config(request: Request) -> Iterator[str]:
    config = request.body.get("output_config")
    if config is None:
        return
    for name in config:
        if name not in ("effort", "format"):
            yield f"output_config.{name}: Extra inputs are not permitted"
    if (form := config.get("format")) is not None:
        yield from _format(form)
    effort = config.get("effort")
    if effort is not None and effort not in request.documented.efforts:
        yield f"output_config.effort: {effort!r} is not supported by this model"
    elif effort in ("xhigh", "max") and request.thinking_type in ("disabled", "between_tools"):
        yield f'"thinking.type.{request.thinking_type}" is not supported at effort {effort!r}.'


def _thinking(request: Request) -> Iterator[str]:
    thinking = request.body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    if kind not in request.facts.thinking:
        yield f'"thinking.type.{kind}" is not supported for this model.'
        return
    for name in thinking:
        if name not in _THINKING_FIELDS[kind] or (name == "block_binding" and BINDING_BETA not in request.betas):
            yield f"thinking.{kind}.{name}: Extra inputs are not permitted"
    if thinking.get("display") not in (None, "summarized", "omitted"):
        yield f"thinking.{kind}.display: Input should be 'summarized' or 'omitted'"
    if kind == "enabled":
        yield from _thinking_budget(thinking.get("budget_tokens"), request.body.get("max_tokens", 0))


def _thinking_budget(budget: object, max_tokens: int) -> Iterator[str]:
    if not isinstance(budget, int) or not is_count(budget, least=MIN_THINKING_TOKENS):
        yield f"thinking.enabled.budget_tokens: Input should be greater than or equal to {MIN_THINKING_TOKENS}"
    elif budget >= max_tokens:
        yield "`max_tokens` must be greater than `thinking.budget_tokens`."


def _cache_marks(request: Request) -> Iterator[str]:
    marks = list(cache_marks(request.body))
    automatic = request.body.get("cache_control")
    used = len(marks) + (automatic is not None and last_cacheable(request.body) not in [mark.place for mark in marks])
    if used > MAX_CACHE_MARKS:
        yield f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {used}."
    shorter = False
    for mark in marks:
        if mark.control.get("type") != "ephemeral" or mark.control.get("ttl", "5m") not in ("5m", "1h"):
            yield f"{mark.place}.cache_control: Input should be ephemeral, with a ttl of '5m' or '1h'"
        if mark.block.get("type") in THINKING:
            yield f"{mark.place}.cache_control: Extra inputs are not permitted"
        if shorter and mark.ttl == "1h":
            yield (
                f"{mark.place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block. Note that blocks are processed in the following order: `tools`, `system`, "
                "`messages`."
            )
        shorter = shorter or mark.ttl == "5m"
    if automatic is not None:
        last = [mark for mark in marks if mark.place == last_cacheable(request.body)]
        if last and last[0].ttl != automatic.get("ttl", "5m"):
            yield "cache_control: its ttl differs from that of the last block's own cache_control"


RULES: tuple[Rule, ...] = (
    Rule("beta header", "Beta headers: unknown values", _beta_header),
    Rule("fields", "anthropic.types.MessageCreateParamsBase", _fields),
    Rule("model", "anthropic.types.MessageCreateParamsBase.model", _model),
    Rule("max_tokens", "Models overview: output limits; MessageCreateParamsBase.max_tokens", _max_tokens),
    Rule("system", "anthropic.types.TextBlockParam; Errors: empty text", _system),
    Rule("message count", "anthropic.types.MessageCreateParamsBase.messages", _message_count),
    Rule("output_config", "Effort: levels by model; anthropic.types.OutputConfigParam", _output_config),
    Rule("thinking", "Thinking: types by model; anthropic.types.ThinkingConfigParam", _thinking),
    Rule("tools", "Define tools; anthropic.types.ToolParam", tools.tool_form),
    Rule("deferred tools", "Tool search: deferred tools; anthropic.types.ToolParam", tool_changes.deferred),
    Rule("web search", "Web search tool: an administrator enables it", tools.web_search),
    Rule("tool_choice", "Define tools: forcing tool use; Thinking: with tool use", tools.tool_choice),
    Rule("roles", "Messages: turns (stricter, see above); Mid-conversation system messages: placement", messages.roles),
    Rule("content", "Messages: content; anthropic.types.ContentBlockParam", messages.content),
    Rule("tool changes", "Mid-conversation system messages: tool changes", tool_changes.tool_changes),
    Rule("trailing thinking", "Errors: the final block cannot be thinking", messages.trailing_thinking),
    Rule("tool calls", "Handle tool calls: each use has its result next", messages.tool_calls),
    Rule("results first", "Handle tool calls: results come first", messages.results_first),
    Rule("server tools", "Server tools: each use has its result", messages.server_tools),
    Rule("final message", "Errors: prefill not supported; Messages: trailing white space", messages.final_message),
    Rule("thinking first", "Extended thinking: preserving thinking blocks (manual mode)", messages.thinking_first),
    Rule("signatures", "Preserved thinking: prefix checks; anthropic.types.ThinkingBlockParam", messages.signatures),
    Rule("diagnostics", "Cache diagnostics; anthropic.types.DiagnosticsParam", diagnostics_form),
    Rule("cache marks", "Prompt caching: limits; 1-hour cache duration; automatic caching", _cache_marks),
)
"""All rules, in the order in which they are checked; the provider reports the first violation."""
