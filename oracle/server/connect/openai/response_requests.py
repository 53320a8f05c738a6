"""What a request for a response says, read from a body of which nothing is certain.

Rules:

- Parameters that trees have no use for are accepted, and their names are in the log once. What would change the meaning
  of the answer (a schema, tools that somebody else is to run, a stored prompt) is refused.
- The items that a client has from us, it may send back: they say where it is, and nothing of them is believed.
- Results and decisions behind the last text of the user's go on with what has asked for them; those before it are past.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from oracle.agent.client_tools import ClientTool, ClientToolError
from oracle.server.api.errors import InvalidRequestError, bounded
from oracle.server.connect.base.asking import ClientQuestion
from oracle.server.connect.base.chain import Said
from oracle.server.connect.openai.requests import IGNORED, metadata_of, typed, wrong
from oracle.server.connect.openai.response_items import CONVERSATION, OWN_KEYS, PREVIOUS

_READ: Final = {
    *("background", "conversation", "input", "instructions", "metadata", "model", "previous_response_id", "prompt"),
    *("stream", "text", "tool_choice", "tools"),
}
_PASSED_OVER: Final = ("function_call", "item_reference", "mcp_approval_request", "mcp_call", "reasoning")
_OWN_ITEM: Final = re.compile(r"(?:msg|rs|mcp)_([A-Za-z0-9.-]{1,64})_[0-9]{1,9}")
_LONGEST_CONVERSATION: Final = 512  # it is kept like a text of metadata
_SHAPES: Final = {bool: "true or false", str: "a text", dict: "an object", list: "a list"}


class GivenItem(NamedTuple):
    """What the client gives for something that was asked.

    Args:
        id: of the interrupt.
        place: of the id.
        output: the result of its function; `None`: it is a decision.
        approves: the decision.
        reason: of it, or the answer to a question.
    """

    id: str
    place: tuple[str | int, ...]
    output: str | None = None
    approves: bool = False
    reason: str | None = None

    def unknown(self) -> InvalidRequestError:
        """That nothing of the id was asked."""
        return InvalidRequestError(f"nothing was asked that has the id {bounded(self.id)!r}", loc=self.place)


@dataclass(slots=True)
class ResponseRequest:
    """A request for a response.

    Args:
        model: as it was given.
        streams: the answer is to be streamed.
        previous: the id of the response that it follows.
        said: what was said; the question is the last of it, unless something is given.
        instructions: of the request and of system messages.
        given: for what was asked, behind all texts.
        last_run: the run of the last item of ours.
    """

    model: object
    streams: bool
    previous: str | None
    said: list[Said] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    given: list[GivenItem] = field(default_factory=list)
    last_run: str | None = None


def read_response(body: Mapping[str, Any]) -> tuple[ResponseRequest, ClientQuestion]:
    """What a body asks for: what it says of itself, and the question.

    Raises:
        InvalidRequestError: it asks for what there is not, or a part of it is not what it must be.
    """
    IGNORED.note(name for name, value in body.items() if name not in _READ and value is not None)
    if body.get("prompt") is not None:
        raise wrong("there are no stored prompts; say it in `input`", "prompt")
    form = typed(body, "text", dict).get("format") or {"type": "text"}
    if not isinstance(form, dict) or form.get("type") != "text":
        raise wrong("answers are text as the tree writes it; the format may only be text", "text", "format")
    wanted = ResponseRequest(
        body.get("model"), typed(body, "stream", bool), typed(body, "previous_response_id", str) or None
    )
    wanted.instructions += filter(None, [typed(body, "instructions", str)])
    _read_input(wanted, body.get("input"))
    question = wanted.said[-1].text if wanted.said and wanted.said[-1].role == "user" else ""
    if not question.strip() and not wanted.given:
        raise wrong("the last text of the input is to be a question of the user's", "input")
    conversation = _conversation(body)
    if wanted.previous is not None and conversation is not None:
        raise wrong("`previous_response_id` says the conversation already; leave one out", "conversation")
    kept = {PREVIOUS: wanted.previous, CONVERSATION: conversation}
    return wanted, ClientQuestion(
        question,
        tuple(wanted.said[:-1]),
        conversation=conversation,
        tools=() if body.get("tool_choice") == "none" else _tools(body),
        metadata=_metadata(body) | {name: value for name, value in kept.items() if value is not None},
        instructions="\n\n".join(wanted.instructions) or None,
        is_detached=typed(body, "background", bool),
    )


def _read_input(wanted: ResponseRequest, given: object) -> None:
    given = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(given, list):
        raise wrong("the input is a text or a list of items", "input")
    for n, item in enumerate(given):
        if not isinstance(item, dict):
            raise wrong("an item is to be an object with a `type`", "input", n)
        if own := _OWN_ITEM.fullmatch(str(item.get("id"))):
            wanted.last_run = own[1]
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "message":
            _read_message(wanted, item, n)
        elif kind == "function_call_output":
            output = _text(item.get("output"), "input", n, "output")
            wanted.given.append(GivenItem(*_answered(item, n, "call_id"), output))
        elif kind == "mcp_approval_response":
            approves, reason = item.get("approve"), item.get("reason")
            if not isinstance(approves, bool) or not isinstance(reason, str | None):
                raise wrong("`approve` is to be true or false, and `reason` a text", "input", n)
            wanted.given.append(GivenItem(*_answered(item, n, "approval_request_id"), None, approves, reason))
        elif kind not in _PASSED_OVER:
            raise wrong(f"items of the type {bounded(kind)!r} cannot be read here", "input", n, "type")


def _read_message(wanted: ResponseRequest, item: Mapping[str, Any], n: int) -> None:
    role, text = item.get("role"), _text(item.get("content"), "input", n, "content")
    if role in ("system", "developer"):
        wanted.instructions.append(text)
    elif role in ("user", "assistant"):
        wanted.said.append(Said(role, text))
        wanted.given.clear()
    else:
        known = "user, assistant, system and developer"
        raise wrong(f"there is no role {bounded(role)!r}; there are {known}", "input", n, "role")


def _text(content: object, *place: str | int) -> str:
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(parts, list):
        raise wrong("this is to be a text, or a list of parts", *place)
    texts = []
    for at, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get("refusal" if kind == "refusal" else "text") if isinstance(part, dict) else None
        if kind not in ("input_text", "output_text", "text", "refusal") or not isinstance(text, str):
            raise wrong(f"parts are texts here (input_text); {bounded(kind)!r} cannot be read", *place, at)
        texts.append(text)
    return "\n".join(texts)


def _answered(item: Mapping[str, Any], n: int, name: str) -> tuple[str, tuple[str | int, ...]]:
    given = item.get(name)
    if not isinstance(given, str):
        raise wrong("this is to be the id of what is answered", "input", n, name)
    return given, ("body", "input", n, name)


def _conversation(body: Mapping[str, Any]) -> str | None:
    given = body.get("conversation")
    given = given.get("id", "") if isinstance(given, dict) else given
    if given is not None and (not isinstance(given, str) or not 0 < len(given) <= _LONGEST_CONVERSATION):
        most = f"of up to {_LONGEST_CONVERSATION} characters"
        raise wrong(f"this is to be the name of a conversation, {most}, or an object with its `id`", "conversation")
    return given


def _metadata(body: Mapping[str, Any]) -> dict[str, str]:
    given = metadata_of(body)
    for name in given:
        if name.startswith(OWN_KEYS):
            raise wrong(f"{bounded(name)!r}: keys that begin with {OWN_KEYS!r} are the service's own", "metadata")
    return given


def _tools(body: Mapping[str, Any]) -> tuple[ClientTool, ...]:
    tools = []
    for n, tool in enumerate(typed(body, "tools", list)):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            problem = "tools of a request are functions, which the client runs; those of the service need no mention"
            raise wrong(problem, "tools", n, "type")
        try:
            tools.append(ClientTool(tool.get("name", ""), tool.get("description") or "", tool.get("parameters") or {}))
        except ClientToolError as error:
            raise wrong(str(error), "tools", n) from None
    return tuple(tools)
