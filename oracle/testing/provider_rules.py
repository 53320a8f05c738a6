"""What the Anthropic Messages API refuses, so that a request that only a double would take fails here already.

Stricter than the provider in one point: it merges neighbouring messages of one role, while here they must take turns,
because a history in which they do not was built wrongly.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oracle.models.thinking import BINDING_BETA

MAX_CACHE_MARKS = 4
SIGNATURE_PREFIX = "bound-"
"""Thinking that the stand-in makes carries a signature of what stood before it, as the provider's does from 5.1 on."""

_FIELDS = frozenset(
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
        "inference_geo",
        "speed",
    ]
)
_GONE = frozenset({"temperature", "top_p", "top_k"})
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SERVER_TOOL_TYPE = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")
_VERSION = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:-(\d{1,2}))?(?!\d)")
_FROM_SERVER = frozenset({"server_tool_use", "web_search_tool_result"})

Body = Mapping[str, Any]


def complaint(body: Body, *, betas: str = "") -> str | None:
    """Why the provider would answer 400, or `None` if it would not.

    Args:
        body: the request's JSON object.
        betas: the header `anthropic-beta`.
    """
    for found in _complaints(body, betas):
        return found
    return None


def prefix_signature(body: Body, messages: Sequence[Body]) -> str:
    """The signature of thinking that follows `messages`: of system prompt, tools and messages, cache marks apart."""
    seen = [body.get("system"), body.get("tools"), [_unsigned(message) for message in messages]]
    digest = hashlib.sha256(json.dumps(_unmarked(seen), sort_keys=True).encode()).hexdigest()
    return SIGNATURE_PREFIX + digest[:16]


def _complaints(body: Body, betas: str) -> Iterator[str]:
    for name in body:
        if name in _GONE:
            yield f"{name}: is not supported by this model"
        elif name not in _FIELDS:
            yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body.get("model"):
        yield "model: Field required"
    if not _is_count(body.get("max_tokens"), least=1):
        yield f"max_tokens: must be greater than or equal to 1, not {body.get('max_tokens')!r}"
    yield from _thinking(body, betas)
    yield from _tools(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    yield from _messages(messages)
    marks = json.dumps([body.get("system"), body.get("tools"), messages]).count('"cache_control"')
    if marks > MAX_CACHE_MARKS:
        yield f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {marks}."
    yield from _binding(body, messages, betas)


def _thinking(body: Body, betas: str) -> Iterator[str]:
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type")
    if kind not in _accepted_thinking(str(body.get("model"))):
        yield f'"thinking.type.{kind}" is not supported for this model.'
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        if not _is_count(budget, least=1024):
            yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        elif budget >= body.get("max_tokens", 0):
            yield "`max_tokens` must be greater than `thinking.budget_tokens`."
    if "block_binding" in thinking and BINDING_BETA not in betas:
        yield "thinking.block_binding: Extra inputs are not permitted"


def _accepted_thinking(model: str) -> frozenset[str]:
    found = _VERSION.search(model)
    if found is None:
        return frozenset({"enabled", "adaptive", "disabled", "between_tools"})
    family, version = found[1], (int(found[2]), int(found[3] or 0))
    if version < (4, 6):
        return frozenset({"enabled", "disabled"})
    if version < (4, 7):
        return frozenset({"enabled", "adaptive", "disabled"})
    if family in ("fable", "mythos") or (family == "opus" and version > (5, 0)):
        return frozenset({"adaptive"})
    if family == "sonnet" and version > (5, 0):
        return frozenset({"adaptive", "between_tools"})
    return frozenset({"adaptive", "disabled"})


def _tools(body: Body) -> Iterator[str]:
    names: set[str] = set()
    for index, tool in enumerate(body.get("tools") or ()):
        name = tool.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            yield f"tools.{index}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if name in names:
            yield "tools: Tool names must be unique."
        names.add(str(name))
        if _SERVER_TOOL_TYPE.fullmatch(str(tool.get("type", ""))):
            continue
        schema = tool.get("input_schema")
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            yield f"tools.{index}.input_schema.type: Field required"
    choice = body.get("tool_choice")
    if choice is not None and not body.get("tools"):
        yield "tool_choice may only be specified while providing tools."
    if choice is not None and choice.get("type") not in ("auto", "none"):
        yield "Forced tool use is not supported while the model thinks."


def _messages(messages: Sequence[Body]) -> Iterator[str]:
    waiting: list[str] = []
    for index, message in enumerate(messages):
        expected = "user" if index % 2 == 0 else "assistant"
        if message.get("role") != expected:
            yield f"messages.{index}: roles must alternate, beginning with the user's; found {message.get('role')!r}"
        blocks = _blocks_of(message)
        if not blocks:
            yield f"messages.{index}: all messages must have non-empty content"
        yield from _text_blocks(index, blocks)
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        if missing := [use for use in waiting if use not in results]:
            yield (
                f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block."
            )
        for result in results:
            if result not in waiting:
                yield f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {result}."
        if len(set(results)) < len(results):
            yield f"messages.{index}: each tool_use must have a single result."
        yield from _order_of_results(index, blocks)
        waiting = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if len(set(waiting)) < len(waiting):
            yield f"messages.{index}: `tool_use` ids must be unique"
    yield from _ending(messages, waiting)


def _text_blocks(index: int, blocks: Sequence[Body]) -> Iterator[str]:
    for position, block in enumerate(blocks):
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            yield f"messages.{index}.content.{position}: text content blocks must contain non-whitespace text"
        if block.get("type") in ("thinking", "redacted_thinking") and "cache_control" in block:
            yield f"messages.{index}.content.{position}: cache_control is not permitted on thinking"
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), Mapping):
            yield f"messages.{index}.content.{position}.tool_use.input: Input should be a valid dictionary"


def _order_of_results(index: int, blocks: Sequence[Body]) -> Iterator[str]:
    others = False
    for block in blocks:
        if block.get("type") != "tool_result":
            others = True
        elif others:
            yield f"messages.{index}: `tool_result` blocks must come first in the message"
            return


def _ending(messages: Sequence[Body], waiting: Sequence[str]) -> Iterator[str]:
    last = messages[-1]
    if last.get("role") != "assistant":
        return
    if waiting:
        yield f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks"
    if not any(block.get("type") in _FROM_SERVER for block in _blocks_of(last)):
        yield "This model does not support assistant message prefill. The conversation must end with a user message."


def _binding(body: Body, messages: Sequence[Body], betas: str) -> Iterator[str]:
    """Thinking that the stand-in made must stand behind what it was made behind (from 5.1 on)."""
    binding = (body.get("thinking") or {}).get("block_binding") or {}
    if binding.get("prefix_mismatch_behavior") == "drop_block" and BINDING_BETA in betas:
        return
    for index, message in enumerate(messages):
        for position, block in enumerate(_blocks_of(message)):
            signature = block.get("signature")
            if not isinstance(signature, str) or not signature.startswith(SIGNATURE_PREFIX):
                continue
            if signature != prefix_signature(body, messages[:index]):
                yield (
                    f"messages.{index}.content.{position}: Invalid `signature` in `thinking` block: "
                    "the block is bound to a different conversation"
                )


def _blocks_of(message: Body) -> Sequence[Body]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _unsigned(message: Body) -> Body:
    return {**message, "content": [block for block in _blocks_of(message) if block.get("type") != "thinking"]}


def _unmarked(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _is_count(value: object, *, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
