"""What the Anthropic Messages API refuses, so that a request that only a double would take fails here already.

`RULES` is the table: each rule has a name, its source in the provider's documentation or in the types of its SDK, and a
function that yields what the provider would say. Messages have their own rules in `provider_messages`.

Stricter than the provider in two points: it merges neighbouring messages of one role, while here they must take turns,
because a history in which they do not was built wrongly; and system messages in mid-conversation are not known here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from oracle.models.thinking import BINDING_BETA
from oracle.testing import provider_messages as messages
from oracle.testing import provider_tools as tools
from oracle.testing.provider_blocks import EMPTY_TEXT, Body, cache_marks, is_count, last_cacheable, unknown_fields
from oracle.testing.provider_models import model_facts
from oracle.testing.provider_request import Request

MAX_CACHE_MARKS = 4
MAX_MESSAGES = 100_000
MAX_REQUEST_BYTES = 32 * 1024 * 1024
"""Above this the provider answers 413 (platform.claude.com, "Errors", "Request size limits")."""

KNOWN_BETAS = frozenset({BINDING_BETA})
"""The values of the header `anthropic-beta` that the double knows."""

FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "thinking",
        "output_config",
        "stream",
        "metadata",
        "stop_sequences",
        "service_tier",
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "speed",
    ]
)
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
    """What the provider refuses.

    Args:
        name: names the rule in tests.
        source: where the provider says so: a page of platform.claude.com, or a type of the SDK.
        find: yields the provider's words for each breach.
    """

    name: str
    source: str
    find: Find


def complaint(
    body: Body, *, betas: str = "", known_betas: frozenset[str] = KNOWN_BETAS, has_web_search: bool = True
) -> str | None:
    """Why the provider would answer 400, or `None` if it would not.

    Args:
        body: the request's JSON object.
        betas: the header `anthropic-beta`.
        known_betas: the values of that header that are taken.
        has_web_search: whether the organisation may use the provider's web search.
    """
    named = frozenset(name.strip() for name in betas.split(",") if name.strip())
    request = Request(body, named, known_betas, has_web_search, model_facts(str(body.get("model"))))
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
    for name in request.body:
        if name in _GONE:
            yield f"{name}: is not supported by this model"
        elif name not in FIELDS:
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


def _output_config(request: Request) -> Iterator[str]:
    config = request.body.get("output_config")
    if config is None:
        return
    for name in config:
        if name not in ("effort", "format"):
            yield f"output_config.{name}: Extra inputs are not permitted"
    effort = config.get("effort")
    if effort is not None and effort not in request.facts.efforts:
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
    if not isinstance(budget, int) or not is_count(budget, least=1024):
        yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
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
        if mark.block.get("type") in ("thinking", "redacted_thinking"):
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


def _of_messages(find: Callable[[Sequence[Body]], Iterator[str]]) -> Find:
    return lambda request: find(request.messages)


def _final_message(request: Request) -> Iterator[str]:
    return messages.final_message(request.messages, request.facts, request.thinking_type)


def _thinking_first(request: Request) -> Iterator[str]:
    return messages.thinking_first(request.messages) if request.thinking_type == "enabled" else iter(())


def _signatures(request: Request) -> Iterator[str]:
    binding = (request.body.get("thinking") or {}).get("block_binding") or {}
    drops = binding.get("prefix_mismatch_behavior") == "drop_block"
    return messages.signatures(request.body, request.messages, is_bound=request.facts.binds_thinking and not drops)


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
    Rule("web search", "Web search tool: an administrator enables it", tools.web_search),
    Rule("tool_choice", "Define tools: forcing tool use; Thinking: with tool use", tools.tool_choice),
    Rule("roles", "Messages: conversational turns (stricter, see above)", _of_messages(messages.roles)),
    Rule("content", "Messages: content; anthropic.types.ContentBlockParam", _of_messages(messages.content)),
    Rule("trailing thinking", "Errors: the final block cannot be thinking", _of_messages(messages.trailing_thinking)),
    Rule("tool calls", "Handle tool calls: each use has its result next", _of_messages(messages.tool_calls)),
    Rule("results first", "Handle tool calls: results come first", _of_messages(messages.results_first)),
    Rule("server tools", "Server tools: each use has its result", _of_messages(messages.server_tools)),
    Rule("final message", "Errors: prefill not supported; Messages: trailing white space", _final_message),
    Rule("thinking first", "Extended thinking: preserving thinking blocks (manual mode)", _thinking_first),
    Rule("signatures", "Preserved thinking: prefix checks; anthropic.types.ThinkingBlockParam", _signatures),
    Rule("cache marks", "Prompt caching: limits; 1-hour cache duration; automatic caching", _cache_marks),
)
"""All rules, in the order in which they are looked at; the first breach is what the provider says."""
