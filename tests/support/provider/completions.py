"""A stand-in of a server that speaks OpenAI's chat completions, which plays scripts and judges requests.

It refuses what OpenAI refuses: unknown fields, a result without its call, a call without its result, names of tools
that are none; and, if set, what local servers refuse. What servers do differently is sent as `Chunks`.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from oracle.llm.scripted import ScriptedTurn, arguments_text
from tests.support.provider.server import RecordedRequest, StandInProvider
from tests.support.provider.wire import Disturbed, Reply

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
FINISH = {
    "end_turn": "stop",
    "max_tokens": "length",
    "refusal": "content_filter",
    "tool_use": "tool_calls",
    "pause_turn": "stop",
}
OF_MESSAGE: Mapping[str, frozenset[str]] = {
    "system": frozenset({"role", "content"}),
    "user": frozenset({"role", "content"}),
    "assistant": frozenset({"role", "content", "tool_calls"}),
    "tool": frozenset({"role", "content", "tool_call_id"}),
}


@dataclass(frozen=True, slots=True)
class Chunks(ScriptedTurn):
    """What a server sends, chunk by chunk; a text is sent as it is.

    Args:
        chunks: the `delta` of each chunk, or a whole chunk if it has `choices`, `usage` or `error`.
        finish: the `finish_reason` of the last chunk; `None`: no chunk has one.
        is_done: whether `[DONE]` follows.
    """

    chunks: tuple[Mapping[str, Any] | str, ...] = ()
    finish: str | None = "stop"
    is_done: bool = True


class CompletionsServer(StandInProvider):
    """The server; use it as an async context manager.

    Args:
        turns: the replies to the requests, in order.
        api_key: the only valid key; `None` accepts every key.
        refuses: what else it does not take: `system_messages` after the first one, `system_prompt` at all,
            `user_after_tool` as Mistral's service, `alternation` as its templates, `call_ids` that are not Mistral's,
            `missing_reasoning` as DeepSeek, `stream_options`, `max_tokens`, `tools`, `tool_choice`, `response_format`,
            `files`.
        has_usage: whether it reports usage where it is asked to.
    """

    path = "/v1/chat/completions"

    def __init__(
        self,
        turns: Iterable[Reply] = (),
        *,
        api_key: str | None = None,
        refuses: Collection[str] = (),
        has_usage: bool = True,
    ) -> None:
        super().__init__(turns, api_key=api_key)
        self._refuses, self._has_usage = frozenset(refuses), has_usage

    def check(self, request: RecordedRequest) -> str | None:
        """Why a request is rejected; `None` if it is valid."""
        return next(complaints(request.body, self._refuses), None)

    def frames(self, turn: ScriptedTurn, request: RecordedRequest, *, number: int) -> tuple[list[bytes], list[bytes]]:
        """The server-sent events of a turn: those up to the end of its content, and those after it."""
        head = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": turn.model or "/models/of.gguf",
        }

        def frame(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
            return sse({**head, "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish}]})

        if isinstance(turn, Chunks):
            sent = [
                each.encode() if isinstance(each, str) else sse({**head, **each}) if _is_chunk(each) else frame(each)
                for each in turn.chunks
            ]
            end = [frame({}, turn.finish)] if turn.finish is not None else []
            return sent, [*end, *([b"data: [DONE]\n\n"] if turn.is_done else [])]
        content = [frame({"role": "assistant", "content": ""}), *map(frame, _deltas(turn, number))]
        end = [frame({}, FINISH[turn.ends_as])]
        if self._has_usage and turn.usage and (request.body.get("stream_options") or {}).get("include_usage"):
            end.append(sse({**head, "choices": [], "usage": _usage(turn)}))
        return content, [*end, b"data: [DONE]\n\n"]

    def error_frame(self, reply: Disturbed) -> bytes:
        """The server-sent event of an error."""
        return sse({"error": {"type": reply.error_type, "message": reply.message, "code": None}})


def sse(chunk: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _is_chunk(each: Mapping[str, Any]) -> bool:
    return not each.keys().isdisjoint({"choices", "usage", "error"})


def _deltas(turn: ScriptedTurn, number: int) -> Iterator[Mapping[str, Any]]:
    yield from ({"reasoning_content": piece} for piece in turn.thinking_pieces)
    yield from ({"content": piece} for piece in turn.text_pieces)
    for index, call in enumerate(turn.calls(number=number)):
        begun = {"index": index, "id": call.id, "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield {"tool_calls": [begun]}
        text = arguments_text(call.arguments)
        for at in range(0, len(text), 7):
            yield {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + 7]}}]}


def _usage(turn: ScriptedTurn) -> dict[str, Any]:
    assert turn.usage is not None
    cached = turn.usage.cache_read_tokens
    prompt = (turn.usage.input_tokens or 0) + cached
    if not prompt:  # no prompt is empty: what costs nothing was in the cache
        prompt = cached = 1
    said = turn.usage.output_tokens or 0
    details = {"cached_tokens": cached}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": said,
        "total_tokens": prompt + said,
        "prompt_tokens_details": details,
    }


@cache
def _known_fields() -> frozenset[str]:
    from openai.types.chat import completion_create_params  # noqa: PLC0415  it takes most of a second

    return frozenset(completion_create_params.CompletionCreateParamsBase.__annotations__) | {"stream"}


def complaints(body: Mapping[str, Any], refuses: Collection[str] = ()) -> Iterator[str]:
    """What a server would say of the request, in the words of OpenAI and of others."""
    for name in sorted(body.keys() - _known_fields()):
        yield f"Unrecognized request argument supplied: {name}"
    if "max_tokens" in refuses and "max_tokens" in body:
        yield "Unsupported parameter: 'max_tokens' is not supported here. Use 'max_completion_tokens' instead."
    if "stream_options" in refuses and "stream_options" in body:
        yield "Extra inputs are not permitted: stream_options"
    if "tools" in refuses and body.get("tools"):
        yield f"registry.ollama.ai/library/{body['model']} does not support tools"
    yield from _of_format(body, refuses)
    if "tool_choice" in refuses and "tool_choice" in body:
        yield "Unknown parameter: 'tool_choice'"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "you must provide a model parameter"
    limit = body.get("max_tokens", body.get("max_completion_tokens"))
    if not isinstance(limit, int) or limit < 1:
        yield f"Invalid 'max_tokens': {limit!r}"
    yield from _of_tools(body)
    if "missing_reasoning" in refuses:
        yield from _of_reasoning(body)
    yield from _of_messages(body.get("messages") or [], refuses)


def _of_format(body: Mapping[str, Any], refuses: Collection[str]) -> Iterator[str]:
    if "response_format" in refuses and "response_format" in body:
        yield "response_format.type: 'json_schema' is not supported by this server"
    if (form := body.get("response_format")) is not None:
        if set(form) != {"type", "json_schema"} or not NAME.fullmatch(str(form["json_schema"].get("name"))):
            yield f"Invalid 'response_format': {form!r:.80}"
        if body.get("tools") and body.get("tool_choice") != "none":
            yield "llama.cpp: cannot use custom grammar constraints with tools."


def _of_tools(body: Mapping[str, Any]) -> Iterator[str]:
    if "tools" in body and not body["tools"]:
        yield "Invalid 'tools': empty array."
    if "tool_choice" in body and not body.get("tools"):
        yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        if tool.get("type") != "function" or not NAME.fullmatch(str(function.get("name"))):
            yield f"Invalid 'tools[0].function.name': {function.get('name')!r} does not match '^[a-zA-Z0-9_-]+$'."
        if (function.get("parameters") or {}).get("type") != "object":
            yield f"Invalid schema for function {function.get('name')!r}: schema must be of type 'object'"


def _of_templates(messages: list[Mapping[str, Any]], refuses: Collection[str]) -> Iterator[str]:
    """What templates and services of other makers refuse, in their words."""
    roles = [str(message.get("role")) for message in messages]
    if "system_prompt" in refuses and "system" in roles:
        yield "System role not supported"  # Gemma 2
    if "user_after_tool" in refuses and ("tool", "user") in pairwise(roles):
        yield "Unexpected role 'user' after role 'tool'"  # Mistral's service, code 3230
    spoken = [
        role
        for role, message in zip(roles, messages, strict=True)
        if role in {"user", "assistant"} and not message.get("tool_calls")
    ]
    if "alternation" in refuses and spoken != [("user", "assistant")[at % 2] for at in range(len(spoken))]:
        yield (  # Mistral 7B v0.3, which does not count calls and their results
            "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
        )
    for call in [call for message in messages for call in message.get("tool_calls") or []]:
        if "call_ids" in refuses and not re.fullmatch("[a-zA-Z0-9]{9}", call["id"]):
            yield f"Tool call id was {call['id']} but must be a-z, A-Z, 0-9, with a length of 9."  # code 3280


def _of_reasoning(body: Mapping[str, Any]) -> Iterator[str]:
    """What DeepSeek V4 refuses: with tools, an answer without what the model had thought; a space is enough."""
    for message in body.get("messages") or []:
        if body.get("tools") and message.get("role") == "assistant" and not message.get("reasoning_content"):
            yield "The `reasoning_content` in the thinking mode must be passed back to the API."


def _of_messages(messages: list[Mapping[str, Any]], refuses: Collection[str]) -> Iterator[str]:
    yield from _of_templates(messages, refuses)
    owed: list[str] = []
    for at, message in enumerate(messages):
        yield from _of_message(at, message, {"reasoning_content"} if "missing_reasoning" in refuses else set())
        if "files" in refuses and isinstance(message.get("content"), list):
            yield "This model does not support image input"
        if message.get("role") == "system" and at and "system_messages" in refuses:
            yield "System message must be at the beginning."
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in owed:
                yield "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            owed = [each for each in owed if each != message.get("tool_call_id")]
        elif owed:
            yield f"The following tool_call_ids did not have response messages: {', '.join(owed)}"
        owed += [str(call["id"]) for call in message.get("tool_calls") or []]
    if owed or not messages or messages[-1].get("role") == "assistant":
        yield f"the last message cannot be answered: {messages[-1:]}"


def _is_part(part: Mapping[str, Any]) -> bool:
    match part:
        case {"type": "text", "text": str(text)}:
            return bool(text) and len(part) == 2
        case {"type": "image_url", "image_url": {"url": str(url), **rest}}:
            return not rest and re.match(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$", url) is not None
        case {"type": "file", "file": {"filename": str(name), "file_data": str(url), **rest}}:
            return bool(name) and not rest and url.startswith("data:application/pdf;base64,JVBERi")
    return False


def _of_message(at: int, message: Mapping[str, Any], further: Collection[str]) -> Iterator[str]:
    role, content, calls = str(message.get("role")), message.get("content"), message.get("tool_calls") or []
    for name in sorted(message.keys() - OF_MESSAGE.get(role, frozenset()) - set(further)):
        yield f"Additional properties are not allowed ({name!r} was unexpected) - 'messages.{at}'"
    if role == "user" and isinstance(content, list):
        yield from (f"Invalid content part in 'messages[{at}]': {part!r:.80}" for part in content if not _is_part(part))
    elif not (isinstance(content, str) and content) and not (calls and content is None):
        yield f"Invalid value for 'content': expected a string, got {content!r}."
    if len({call["id"] for call in calls}) < len(calls):
        yield f"Duplicate ids in 'messages[{at}].tool_calls'"
    for call in calls:
        if not NAME.fullmatch(call["function"]["name"]) or not isinstance(call["function"]["arguments"], str):
            yield f"Invalid 'messages[{at}].tool_calls': {call!r}"
