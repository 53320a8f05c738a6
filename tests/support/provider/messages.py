"""What the Messages API rejects in the messages of a request; `provider_rules.RULES` names the sources."""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence

from oracle.llm.blocks import THINKING
from tests.support.provider.request import EMPTY_TEXT, Body, Request, blocks_of, message_blocks, unknown_fields
from tests.support.provider.signatures import misplaced, misread
from tests.support.provider.tool_changes import CHANGES

_MOST_PICTURE = 5 * 1024 * 1024
_MAGIC = {
    "image/png": b"\x89PNG\r\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
    "application/pdf": b"%PDF-",
}
_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")
_FROM_SERVER = frozenset({"server_tool_use", "web_search_tool_result"})


def roles(request: Request) -> Iterator[str]:
    """Roles alternate, beginning with the user's; a system message stands behind a user's, before the model's."""
    before, expected = "", "user"
    for index, message in enumerate(request.messages):
        role = str(message.get("role"))
        if role == "system" and not request.takes_system_messages:
            yield "role 'system' is not supported on this model"
        elif role == "system" and before != "user":
            yield f"messages.{index}: role 'system' must follow a user message, not {before or 'nothing'}"
        elif role not in ("system", expected):
            yield f"messages.{index}: roles must alternate, beginning with the user's; found {role!r}"
        before, expected = role, "user" if role == "assistant" else "assistant"
        for name in message:
            if name not in ("role", "content"):
                yield f"messages.{index}.{name}: Extra inputs are not permitted"


def content(request: Request) -> Iterator[str]:
    """Each message has content, in blocks of known types."""
    for index, message in enumerate(request.messages):
        if not blocks_of(message):
            yield f"messages.{index}: all messages must have non-empty content"
    for place, block in message_blocks(request.messages):
        yield from unknown_fields(place, block)
        yield from _block(place, block)
    for index, message in enumerate(request.messages):
        kinds = {block.get("type") for block in blocks_of(message)}
        if message.get("role") == "system" and not kinds <= {"text", *CHANGES}:
            yield f"messages.{index}.content: Input should be text"
        if message.get("role") != "user" and any(
            block.get("type") in ("image", "document") for block in blocks_of(message)
        ):
            yield f"messages.{index}.content: `image` and `document` blocks are only permitted in `user` messages"


def _block(place: str, block: Body) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text":
        yield from _text(place, block)
    elif kind in ("image", "document"):
        yield from _file(place, block)
    elif kind == "tool_use" and not isinstance(block.get("input"), Mapping):
        yield f"{place}.tool_use.input: Input should be a valid dictionary"
    elif kind == "tool_use" and not _TOOL_USE_ID.fullmatch(str(block.get("id", ""))):
        yield f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    elif kind == "tool_result":
        yield from _tool_result(place, block)


def _file(place: str, block: Body) -> Iterator[str]:
    """A file is what it says, and within the bounds of "Images and vision" and "PDF support"."""
    source = block.get("source") or {}
    if source.keys() != {"type", "media_type", "data"} or source["type"] != "base64":
        yield f"{place}.{block['type']}.source: Input should be a base64 source"
        return
    try:
        data = b64decode(source["data"], validate=True)
    except ValueError:
        yield f"{place}.{block['type']}.source.base64.data: Invalid base64"
        return
    magic = _MAGIC.get(source["media_type"])
    if magic is None or (magic == b"%PDF-") != (block["type"] == "document"):
        yield f"{place}.{block['type']}.source.base64.media_type: Input should be another one"
    elif not data.startswith(magic):
        yield f"{place}.{block['type']}.source.base64: The file does not appear to be {source['media_type']}"
    if block["type"] == "image" and len(source["data"]) > _MOST_PICTURE:
        yield f"{place}.image.source.base64: image exceeds 5 MB maximum: {len(source['data'])} bytes > {_MOST_PICTURE}"


def _text(place: str, block: Body) -> Iterator[str]:
    text = block.get("text")
    if not isinstance(text, str):
        yield f"{place}.text.text: Input should be a valid string"
    elif not text:
        yield f"messages: {EMPTY_TEXT}"
    elif not text.strip():
        yield f"{place}: text content blocks must contain non-whitespace text"


def _tool_result(place: str, block: Body) -> Iterator[str]:
    if not isinstance(block.get("is_error", False), bool):
        yield f"{place}.tool_result.is_error: Input should be a valid boolean"
    parts = block.get("content", "")
    if isinstance(parts, str):
        return
    for part in parts:
        if part.get("type") == "text" and not str(part.get("text", "")).strip():
            yield f"{place}: {EMPTY_TEXT}"
        elif block.get("is_error") and part.get("type") != "text":
            yield f"{place}.tool_result: all content must be type `text` if `is_error` is true"


def trailing_thinking(request: Request) -> Iterator[str]:
    """No assistant message ends in thinking."""
    for index, message in enumerate(request.messages):
        blocks = blocks_of(message)
        if message.get("role") == "assistant" and blocks and blocks[-1].get("type") in THINKING:
            yield f"messages.{index}: The final block in an assistant message cannot be `{blocks[-1]['type']}`."


def tool_calls(request: Request) -> Iterator[str]:
    """Each call has its result in the next message, each result its call in the previous one; ids are unique."""
    waiting: list[str] = []
    seen: set[str] = set()
    for index, message in enumerate(request.messages):
        blocks = blocks_of(message)
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        yield from _unanswered(index - 1, [use for use in waiting if use not in results])
        for result in results:
            if result not in waiting:
                yield (
                    f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. Each "
                    "`tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
        if len(set(results)) < len(results):
            yield f"messages.{index}: each tool_use must have a single result."
        waiting = [str(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if len(set(waiting)) < len(waiting) or seen.intersection(waiting):
            yield f"messages.{index}: `tool_use` ids must be unique"
        seen.update(waiting)
    yield from _unanswered(len(request.messages) - 1, waiting)


def _unanswered(index: int, uses: Sequence[str]) -> Iterator[str]:
    if uses:
        yield (
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(uses)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def results_first(request: Request) -> Iterator[str]:
    """Tool results come before all other blocks of a message."""
    for index, message in enumerate(request.messages):
        others = False
        for block in blocks_of(message):
            if block.get("type") != "tool_result":
                others = True
            elif others:
                yield f"messages.{index}: `tool_result` blocks must come first in the message"
                break


def server_tools(request: Request) -> Iterator[str]:
    """Each call of the provider's own tools has its result, unless the provider still has to send it."""
    messages = request.messages
    speakers = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    waiting: dict[str, int] = {}
    for index in speakers:
        blocks = blocks_of(messages[index])
        for block in blocks:
            if block.get("type") == "server_tool_use":
                waiting[str(block.get("id"))] = index
            elif block.get("type") != "web_search_tool_result":
                continue
            elif waiting.pop(str(block.get("tool_use_id")), None) is None:
                yield (
                    f"messages.{index}: unexpected `tool_use_id` found in `web_search_tool_result` blocks: "
                    f"{block.get('tool_use_id')}."
                )
        owed = index == speakers[-1] and (index == len(messages) - 1 or _calls(blocks))
        for use in [] if owed else [use for use, at in waiting.items() if at < index or not _calls(blocks)]:
            yield (
                f"messages.{waiting.pop(use)}: `web_search` tool use with id `{use}` was found without a corresponding "
                "`web_search_tool_result` block"
            )


def _calls(blocks: Sequence[Body]) -> bool:
    return any(block.get("type") == "tool_use" for block in blocks)


def final_message(request: Request) -> Iterator[str]:
    """The last message is the user's, or a paused turn to be continued."""
    messages = request.messages
    if not messages or messages[-1].get("role") != "assistant":
        return
    index, blocks = len(messages) - 1, blocks_of(messages[-1])
    is_paused = any(block.get("type") in _FROM_SERVER for block in blocks)
    if not is_paused and not (request.documented.prefill and request.thinking_type == "disabled"):
        yield "This model does not support assistant message prefill. The conversation must end with a user message."
    if not is_paused and blocks and str(blocks[-1].get("text", "")) != str(blocks[-1].get("text", "")).rstrip():
        yield "messages: final assistant content cannot end with trailing whitespace"
    if request.thinking_type == "disabled" and any(block.get("type") in THINKING for block in blocks):
        yield (
            f"messages.{index}.content.0: When thinking is disabled, an `assistant` message in the final position "
            "cannot contain `thinking`. To use thinking blocks, enable `thinking` in your request."
        )


def thinking_first(request: Request) -> Iterator[str]:
    """With a thinking budget, a turn that continues after tool results begins with thinking."""
    begun = _current_turn(request.messages)
    if begun is None or request.thinking_type != "enabled":
        return
    kind = blocks_of(request.messages[begun])[0].get("type")
    if kind not in THINKING:
        yield (
            f"messages.{begun}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When "
            "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the "
            "lastmost set of `tool_use` and `tool_result` blocks)."
        )


def _current_turn(messages: Sequence[Body]) -> int | None:
    """The index of the assistant message that began the turn; `None` if the last message is not tool results."""
    messages = [each for each in messages if each.get("role") != "system"]
    at = len(messages) - 1
    begun = None
    while at >= 1 and any(block.get("type") == "tool_result" for block in blocks_of(messages[at])):
        begun, at = at - 1, at - 2
    return begun


def signatures(request: Request) -> Iterator[str]:
    """Thinking comes back unmodified and, if the model binds it, after the same content as when it was created."""
    for place in misread(request.messages):
        yield f"{place}: Invalid `signature` in `thinking` block"
    binding = (request.body.get("thinking") or {}).get("block_binding") or {}
    if request.facts.binds_thinking and binding.get("prefix_mismatch_behavior") != "drop_block":
        for place in misplaced(request.body, request.messages):
            yield (
                f"{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. "
                'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
            )
