"""The body of a request in the format of chat completions, made of one in the shape of our messages. Pure.

Parts that the format cannot express are left out: thinking, which most servers do not accept back, and tools that
Claude's provider has run itself.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Literal

from bt_runtime.text import estimate_tokens
from oracle.core.encoding import scrub, to_json
from oracle.features.openai_compatible.providers import Provider
from oracle.llm.faults import ProviderError, fault_of
from oracle.llm.marked_notes import with_marked_notes
from oracle.llm.protocol import Message, ModelError, ModelRequest
from oracle.llm.tool_names import wire_name

Part = Literal[
    "stream_options",
    "max_tokens",
    "tools",
    "tool_choice",
    "response_format",
    "system_messages",
    "user_after_tool",
    "system_prompt",
    "call_ids",
    "missing_reasoning",
]
"""The parts that a server may refuse, and a request can leave out or write in another form."""

_BETWEEN: Final = {"role": "assistant", "content": "Noted."}
"""Stands between results and a message of the user's, where a template lets no user speak right after a tool."""
_SHORT_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")
"""The ids of calls that Mistral accepts."""

LEAST_FOR_ANSWER: Final = 64
"""Tokens; a request that leaves less of the context to the answer is not sent."""

_PICTURE_TOKENS: Final = 1_600
_PDF_CHARACTERS: Final = 60  # of base64 to a token; a page has some 100 KB, and takes some 2,000 tokens


def request_body(request: ModelRequest, *, model: str, provider: Provider, without: frozenset[Part]) -> dict[str, Any]:
    """The arguments of `chat.completions.create`, except `stream` and headers.

    Args:
        request: the model request.
        model: the provider's name of the model.
        provider: the model's limits, and what the server takes.
        without: what it has refused.

    Raises:
        ModelError: the request does not fit into the model's context.
    """
    if not provider.system_messages or "system_messages" in without:
        request = with_marked_notes(request)
    body: dict[str, Any] = {"model": model, "messages": _ordered(_messages(request, without), without)}
    tools = [] if "tools" in without else list(_tools(request))
    can_call_none = request.tool_choice == "none" or not tools
    if tools:
        body["tools"] = tools
        if request.tool_choice == "none" and "tool_choice" not in without:
            body["tool_choice"] = "none"
    if request.output_schema is not None and "response_format" not in without and can_call_none:
        # Not beside tools that may be called: servers that hold a model to a schema let it call none.
        schema = {"name": "answer", "schema": dict(request.output_schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if "stream_options" not in without:
        body["stream_options"] = {"include_usage": True}
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    body[limit] = _room(body, provider, most=min(request.max_tokens, provider.max_output_tokens or request.max_tokens))
    return body


def _room(body: Mapping[str, Any], provider: Provider, *, most: int) -> int:
    """The limit on the output: what the context leaves to it."""
    if provider.context_tokens is None:
        return most
    texts = [{**each, "content": _texts(each)} for each in body["messages"]]
    needed = estimate_tokens(len(to_json([texts, body.get("tools", ())])))
    needed += sum(_file_tokens(part) for each in body["messages"] for part in file_parts(each))
    left = provider.context_tokens - needed
    if left < LEAST_FOR_ANSWER:
        said = f"some {needed:,} tokens, and its context_tokens are {provider.context_tokens:,}"
        raise ModelError(fault_of(ProviderError(status=413, message=said), model=body["model"]))
    return min(most, left)


def _tools(request: ModelRequest) -> Iterator[dict[str, Any]]:
    for tool in request.tools:
        if not (request.web_search and tool.name == "web_search"):  # which only Claude's provider runs
            function = {"name": wire_name(tool.name), "description": scrub(tool.description)}
            yield {"type": "function", "function": {**function, "parameters": dict(tool.input_schema)}}


def _messages(request: ModelRequest, without: frozenset[Part]) -> Iterator[dict[str, Any]]:
    if request.system.strip():
        yield {"role": "system", "content": scrub(request.system)}
    for message in request.messages:
        if message["role"] == "assistant":
            yield _answer(message, reasons="missing_reasoning" in without)
        else:
            yield from _given(message)


def _ordered(messages: Iterable[dict[str, Any]], without: frozenset[Part]) -> list[dict[str, Any]]:
    """The messages as the server's template takes them, with the ids of calls as it takes or has given them."""
    ordered: list[dict[str, Any]] = []
    given: set[str] = set()
    ids: dict[str, str] = {}
    for message in messages:
        if calls := message.get("tool_calls"):
            ids = _ids([call["id"] for call in calls], given, are_short="call_ids" in without)
            given.update(ids)
            message["tool_calls"] = [{**call, "id": ids[call["id"]]} for call in calls]
        elif message["role"] == "tool":
            message["tool_call_id"] = ids.get(message["tool_call_id"], message["tool_call_id"])
        elif message["role"] == "user" and "user_after_tool" in without and ordered and ordered[-1]["role"] == "tool":
            ordered.append(_BETWEEN)
        ordered.append(message)
    if "system_prompt" in without and len(ordered) > 1 and ordered[0]["role"] == "system":
        system, first, *rest = ordered
        before, said = f"{system['content']}\n\n# The user's message", first["content"]
        whole = f"{before}\n\n{said}" if isinstance(said, str) else [{"type": "text", "text": before}, *said]
        return [{**first, "content": whole}, *rest]
    return ordered


def _ids(calls: Sequence[str], given: Collection[str], *, are_short: bool) -> dict[str, str]:
    """The id of each call of a turn on the wire.

    A server may give the calls of each turn the same ids (`functions.search_code:0`). Those go back as they came,
    without the number by which the query tells them apart, because the model reads them.

    Args:
        calls: their ids in the query.
        given: the ids of the turns before.
        are_short: whether the server takes ids of nine letters and digits alone.
    """
    ids: dict[str, str] = {}
    for call_id in calls:
        came_as, _, number = call_id.rpartition("_")
        is_again = number.isdecimal() and came_as in given and came_as not in (*calls, *ids.values())
        ids[call_id] = came_as if is_again else call_id
        if are_short and not _SHORT_ID.fullmatch(ids[call_id]):
            ids[call_id] = sha256(call_id.encode()).hexdigest()[:9]
    return ids


def _answer(message: Message, *, reasons: bool) -> dict[str, Any]:
    """A message of the model's; with `reasons`, what it had thought, as far as that is known."""
    blocks = _blocks(message)
    calls = [_call(block) for block in blocks if block["type"] == "tool_use"]
    thought = "".join(block["thinking"] for block in blocks if block["type"] == "thinking")
    said: dict[str, Any] = {"role": "assistant", "content": _joined(blocks) or (None if calls else "(no answer)")}
    if reasons:
        said["reasoning_content"] = scrub(thought) or " "  # DeepSeek V4 refuses an empty text
    return {**said, "tool_calls": calls} if calls else said


def _given(message: Message) -> Iterator[dict[str, Any]]:
    """A message of the user's or a note: the results of tools first, each as one of its own."""
    blocks = _blocks(message)
    for block in blocks:
        if block["type"] == "tool_result":
            text = _joined(_blocks(block))
            content = f"Error: {text}" if block.get("is_error") and not text.startswith("Error") else text
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": content}
    text = _joined(blocks)
    if files := [_file(block) for block in blocks if block["type"] in ("image", "document")]:
        yield {"role": message["role"], "content": [*files, *([{"type": "text", "text": text}] if text else [])]}
    elif text:
        yield {"role": message["role"], "content": text}


def _file(block: Mapping[str, Any]) -> dict[str, Any]:
    """A picture or a PDF, as a part of a message (platform.openai.com, "Images and vision", "File inputs")."""
    url = f"data:{block['source']['media_type']};base64,{block['source']['data']}"
    if block["type"] == "image":
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": scrub(block["title"]), "file_data": url}}


def file_parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The pictures and PDF of a message as it is sent."""
    content = message.get("content")
    return [part for part in content if part["type"] != "text"] if isinstance(content, list) else []


def _texts(message: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON data
    content = message.get("content")
    return [part for part in content if part["type"] == "text"] if isinstance(content, list) else content


def _file_tokens(part: Mapping[str, Any]) -> int:
    return _PICTURE_TOKENS if part["type"] == "image_url" else len(part["file"]["file_data"]) // _PDF_CHARACTERS


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": wire_name(block["name"]), "arguments": to_json(block["input"]).decode()}
    return {"id": block["id"], "type": "function", "function": function}


def _blocks(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    content = message.get("content") or ""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _joined(blocks: Sequence[Mapping[str, Any]]) -> str:
    return scrub("\n\n".join(block["text"] for block in blocks if block["type"] == "text" and block["text"].strip()))
