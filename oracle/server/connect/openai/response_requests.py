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
from oracle.server.connect.base.chain import Said
from oracle.server.connect.openai.requests import IGNORED
from oracle.server.connect.openai.response_items import CONVERSATION, OWN_KEYS, PREVIOUS

_READ: Final = frozenset(
    {
        *("background", "conversation", "input", "instructions", "metadata", "model", "previous_response_id", "prompt"),
        *("stream", "text", "tool_choice", "tools"),
    }
)
_PASSED_OVER: Final = frozenset(
    {"function_call", "item_reference", "mcp_approval_request", "mcp_call", "mcp_list_tools", "reasoning"}
)
_OWN_ITEM: Final = re.compile(r"(?:msg|rs|mcp|fc)_([A-Za-z0-9.-]{1,64})_[0-9]{1,9}")
_MOST_PAIRS, _LONGEST_KEY, _LONGEST_VALUE = 16, 64, 512


class Given(NamedTuple):
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

    @property
    def run_id(self) -> str:
        """The run that has asked for it, as the id says."""
        return self.id.rpartition(".")[0]

    def unknown(self) -> InvalidRequestError:
        """That nothing of the id was asked."""
        return InvalidRequestError(f"nothing was asked that has the id {bounded(self.id)!r}", loc=self.place)


@dataclass(slots=True)
class _Items:
    """What the items of the input say."""

    said: list[Said] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    given: list[Given] = field(default_factory=list)
    last_run: str | None = None


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A request for a response.

    Args:
        model: as it was given.
        question: the last text of the user's; empty: there is none.
        said: what was said before it.
        given: for what was asked, behind all texts.
        instructions: of the request and of system messages.
        previous: the id of the response that it follows.
        last_run: the run of the last item of ours.
        conversation: the client's name of it.
        metadata: to be kept.
        tools: those of the client.
        streams: the answer is to be streamed.
        is_background: nobody needs to read it.
    """

    model: object
    question: str
    said: tuple[Said, ...]
    given: tuple[Given, ...]
    instructions: str | None
    previous: str | None
    last_run: str | None
    conversation: str | None
    metadata: Mapping[str, str]
    tools: tuple[ClientTool, ...]
    streams: bool
    is_background: bool


def read_response(body: Mapping[str, Any]) -> ResponseRequest:
    """What a body asks for.

    Raises:
        InvalidRequestError: it asks for what there is not, or a part of it is not what it must be.
    """
    ignored = [name for name, value in body.items() if name not in _READ and value is not None]
    IGNORED.note(ignored)
    if body.get("prompt") is not None:
        raise _wrong("there are no stored prompts; say it in `input`", "prompt")
    form = _typed(body, "text", dict).get("format") or {"type": "text"}
    if not isinstance(form, dict) or form.get("type") != "text":
        raise _wrong("answers are text as the tree writes it; the format may only be text", "text", "format")
    items = _read_items(body)
    question = items.said.pop().text if items.said and items.said[-1].role == "user" else ""
    if not question.strip() and not items.given:
        raise _wrong("the last text of the input is to be a question of the user's", "input")
    instructions = [_typed(body, "instructions", str), *items.instructions]
    previous, conversation = _typed(body, "previous_response_id", str) or None, _conversation(body)
    if previous is not None and conversation is not None:
        raise _wrong("`previous_response_id` says the conversation already; leave one out", "conversation")
    kept = {PREVIOUS: previous, CONVERSATION: conversation}
    return ResponseRequest(
        model=body.get("model"),
        question=question,
        said=tuple(items.said),
        given=tuple(items.given),
        instructions="\n\n".join(filter(None, instructions)) or None,
        previous=previous,
        last_run=items.last_run,
        conversation=conversation,
        metadata=_metadata(body) | {name: value for name, value in kept.items() if value is not None},
        tools=() if body.get("tool_choice") == "none" else _tools(body),
        streams=_typed(body, "stream", bool),
        is_background=_typed(body, "background", bool),
    )


def _read_items(body: Mapping[str, Any]) -> _Items:
    given = body.get("input")
    if isinstance(given, str):
        return _Items([Said("user", given)])
    if not isinstance(given, list):
        raise _wrong("the input is a text or a list of items", "input")
    items = _Items()
    for n, item in enumerate(given):
        if not isinstance(item, dict):
            raise _wrong("an item is to be an object with a `type`", "input", n)
        if isinstance(item.get("id"), str) and (own := _OWN_ITEM.fullmatch(item["id"])):
            items.last_run = own[1]
        _read_item(items, item, n)
    return items


def _read_item(items: _Items, item: Mapping[str, Any], n: int) -> None:
    kind = item.get("type", "message" if "role" in item else None)
    if kind == "message":
        _read_message(items, item, n)
    elif kind == "function_call_output":
        output = _text(item.get("output"), "input", n, "output")
        items.given.append(Given(_id(item, n, "call_id"), ("body", "input", n, "call_id"), output=output))
    elif kind == "mcp_approval_response":
        approves, reason = item.get("approve"), item.get("reason")
        if not isinstance(approves, bool):
            raise _wrong("this is to be true or false", "input", n, "approve")
        if reason is not None and not isinstance(reason, str):
            raise _wrong("this is to be a text", "input", n, "reason")
        place = ("body", "input", n, "approval_request_id")
        items.given.append(Given(_id(item, n, "approval_request_id"), place, approves=approves, reason=reason))
    elif not isinstance(kind, str) or kind not in _PASSED_OVER:
        raise _wrong(f"items of the type {bounded(kind)!r} cannot be read here", "input", n, "type")


def _read_message(items: _Items, item: Mapping[str, Any], n: int) -> None:
    role, text = item.get("role"), _text(item.get("content"), "input", n, "content")
    if role in ("system", "developer"):
        items.instructions.append(text)
    elif role in ("user", "assistant"):
        items.said.append(Said(role, text))
        items.given.clear()
    else:
        known = "user, assistant, system and developer"
        raise _wrong(f"there is no role {bounded(role)!r}; there are {known}", "input", n, "role")


def _text(content: object, *place: str | int) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _wrong("this is to be a text, or a list of parts", *place)
    texts = []
    for at, part in enumerate(content):
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get("refusal" if kind == "refusal" else "text") if isinstance(part, dict) else None
        if kind not in ("input_text", "output_text", "text", "refusal") or not isinstance(text, str):
            raise _wrong(f"parts are texts here (input_text); {bounded(kind)!r} cannot be read", *place, at)
        texts.append(text)
    return "\n".join(texts)


def _id(item: Mapping[str, Any], n: int, name: str) -> str:
    given = item.get(name)
    if not isinstance(given, str):
        raise _wrong("this is to be the id of what is answered", "input", n, name)
    return given


def _conversation(body: Mapping[str, Any]) -> str | None:
    given = body.get("conversation")
    if isinstance(given, dict):
        given = given.get("id", "")
    if given is not None and (not isinstance(given, str) or not given):
        raise _wrong("this is to be the name of a conversation, or an object with its `id`", "conversation")
    return given


def _metadata(body: Mapping[str, Any]) -> dict[str, str]:
    given: dict[str, Any] = _typed(body, "metadata", dict)
    if len(given) > _MOST_PAIRS:
        raise _wrong(f"at most {_MOST_PAIRS} pairs are kept, given {len(given)}", "metadata")
    for name, value in given.items():
        if not isinstance(value, str) or len(value) > _LONGEST_VALUE or len(name) > _LONGEST_KEY:
            limits = f"keys of up to {_LONGEST_KEY} characters and texts of up to {_LONGEST_VALUE}"
            raise _wrong(f"{bounded(name)!r}: metadata has {limits}", "metadata")
        if name.startswith(OWN_KEYS):
            raise _wrong(f"{bounded(name)!r}: keys that begin with {OWN_KEYS!r} are the service's own", "metadata")
    return given


def _tools(body: Mapping[str, Any]) -> tuple[ClientTool, ...]:
    tools = []
    for n, tool in enumerate(_typed(body, "tools", list)):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            problem = "tools of a request are functions, which the client runs; those of the service need no mention"
            raise _wrong(problem, "tools", n, "type")
        try:
            tools.append(ClientTool(tool.get("name", ""), tool.get("description") or "", tool.get("parameters") or {}))
        except ClientToolError as error:
            raise _wrong(str(error), "tools", n) from None
    return tuple(tools)


def _typed(body: Mapping[str, Any], name: str, kind: type[Any]) -> Any:  # noqa: ANN401
    """A value of this type; an empty one where none is given."""
    given = body.get(name)
    if given is not None and not isinstance(given, kind):
        shapes = {bool: "true or false", str: "a text", dict: "an object", list: "a list"}
        raise _wrong(f"this is to be {shapes[kind]}", name)
    return kind() if given is None else given


def _wrong(problem: str, *place: str | int) -> InvalidRequestError:
    return InvalidRequestError(problem, loc=("body", *place))
