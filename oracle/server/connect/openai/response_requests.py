"""What a request for a response says, read from a body of which nothing is certain.

Rules:

- Parameters that trees have no use for are accepted, and their names are in the log once. What would change the meaning
  of the answer (tools that a third party is to run, a stored prompt) is refused.
- The items that a client has from us, it may send back: they say where it is, and nothing of them is believed.
- Results and decisions behind the last text of the user's go on with what has asked for them; those before it are past.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field
from typing import Any, Final, NamedTuple

from bt_runtime.text.data import dataclass
from oracle.core.chunks import Interrupt
from oracle.core.encoding import from_json
from oracle.core.errors import UserError
from oracle.runs.storage.interrupts import Delivery
from oracle.server.api.errors import bounded
from oracle.server.connect.base.chain import ClientQuestion
from oracle.server.connect.base.placing import delivery, result_of_call
from oracle.server.connect.openai.requests import IGNORED, Talk, metadata_of, text_of, typed, wrong
from oracle.server.connect.openai.response_items import CONVERSATION, OWN_KEYS, PREVIOUS
from oracle.tools.client_tools import ClientToolError, ClientTools, read_tools

_READ: Final = {
    *("background", "conversation", "input", "instructions", "metadata", "model", "previous_response_id", "prompt"),
    *("stream", "text", "tool_choice", "tools"),
}
_TEXTS: Final = dict.fromkeys(("input_text", "output_text", "text"), "text") | {"refusal": "refusal"}
_PASSED_OVER: Final = ("function_call", "item_reference", "mcp_approval_request", "mcp_call", "reasoning")
_OWN_ITEM: Final = re.compile(r"(?:msg|rs|mcp)_([A-Za-z0-9.-]{1,64})_[0-9]{1,9}")
_LONGEST_CONVERSATION: Final = 512  # it is kept like a text of metadata


class GivenItem(NamedTuple):
    """What the client gives for something that was asked.

    Args:
        id: the id of the interrupt or call.
        place: keys and indexes that lead to the id in the body.
        output: the result of its function; `None`: it is a decision.
        approves: the decision.
        reason: of it, or the answer to a question.
    """

    id: str
    place: tuple[str | int, ...]
    output: str | None = None
    approves: bool = False
    reason: str | None = None

    def unknown(self) -> UserError:
        """That nothing of the id was asked."""
        return UserError(f"no question has the id {bounded(self.id)!r}", loc=self.place)

    def delivery(self, asked: Interrupt) -> Delivery:
        """The same as the run takes it. The answer to a question is JSON where its schema wants no text.

        Raises:
            RequestValidationError: it is too large, or no data.
        """
        said: dict[str, Any] = {"decision": "approve" if self.approves else "refuse", "comment": self.reason}
        if self.output is not None:
            said = result_of_call(self.output)
        elif self.approves and "answer" in asked.may:
            said = {"decision": "answer", "answer": self.reason or ""}
            if asked.response_schema.get("type", "string") != "string":
                with suppress(ValueError):
                    said["answer"] = from_json(said["answer"])
        return delivery(self.id, place=self.place, **said)


@dataclass(slots=True)
class _Input(Talk):
    """What the items of a request say.

    Args:
        given: for what was asked, behind all texts.
        last_run: the run of the last item of ours.
    """

    given: list[GivenItem] = field(default_factory=list)
    last_run: str | None = None


class ResponseRequest(NamedTuple):
    """A request for a response.

    Args:
        model: the value of `model`, not checked yet.
        asked: the question; where something is given nobody asks it.
        streams: the answer is to be streamed.
        previous: the id of the response that it follows.
        given: for what a response has asked, behind all texts.
        last_run: the run of the last item of ours.
    """

    model: object
    asked: ClientQuestion
    streams: bool
    previous: str | None
    given: list[GivenItem]
    last_run: str | None


def read_response(body: Mapping[str, Any]) -> ResponseRequest:
    """What a body asks for.

    Raises:
        UserError: it asks for what there is not, or a part of it is not what it must be.
    """
    IGNORED.note(name for name, value in body.items() if name not in _READ and value is not None)
    if body.get("prompt") is not None:
        raise wrong("stored prompts are not supported; use `input`", "prompt")
    form = typed(body, "text", dict).get("format") or {"type": "text"}
    if not isinstance(form, dict):
        raise wrong("this must be an object", "text", "format")
    found = _Input(instructions=[*filter(None, [typed(body, "instructions", str)])])
    _read_input(found, body.get("input"))
    if not found.question and not found.given:
        raise wrong("the last text of the input must be a question of the user", "input")
    metadata = metadata_of(body)
    if any(name.startswith(OWN_KEYS) for name in metadata):
        raise wrong(f"keys that begin with {OWN_KEYS!r} are reserved", "metadata")
    previous, conversation = typed(body, "previous_response_id", str) or None, _conversation(body)
    if previous is not None and conversation is not None:
        raise wrong("`previous_response_id` already names the conversation; leave one out", "conversation")
    kept = {PREVIOUS: previous, CONVERSATION: conversation}
    asked = ClientQuestion(
        found.question,
        tuple(found.said[:-1]),
        conversation=conversation,
        of_features=found.features(form),
        tools=ClientTools() if body.get("tool_choice") == "none" else _tools(body),
        metadata=metadata | {name: value for name, value in kept.items() if value is not None},
        instructions="\n\n".join(found.instructions) or None,
        is_detached=typed(body, "background", bool),
    )
    return ResponseRequest(body.get("model"), asked, typed(body, "stream", bool), previous, found.given, found.last_run)


def _read_input(found: _Input, given: object) -> None:
    given = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(given, list):
        raise wrong("the input must be a text or a list of items", "input")
    for n, item in enumerate(given):
        if not isinstance(item, dict):
            raise wrong("an item must be an object with a `type`", "input", n)
        if own := _OWN_ITEM.fullmatch(str(item.get("id"))):
            found.last_run = own[1]
        kind = item.get("type", "message" if "role" in item else None)
        if kind == "message":
            found.add(item, "input", n, text=text_of(item.get("content"), "input", n, "content", fields=_TEXTS))
            if item["role"] in ("user", "assistant"):
                found.given.clear()
        elif kind in ("function_call_output", "mcp_approval_response"):
            found.given.append(_given(item, n))
        elif kind not in _PASSED_OVER:
            raise wrong(f"items of the type {bounded(kind)!r} cannot be read here", "input", n, "type")


def _given(item: Mapping[str, Any], n: int) -> GivenItem:
    is_output = item["type"] == "function_call_output"
    name = "call_id" if is_output else "approval_request_id"
    id_, approves, reason = item.get(name), item.get("approve"), item.get("reason")
    if not isinstance(id_, str):
        raise wrong("this must be the id of the question that is answered", "input", n, name)
    place = ("body", "input", n, name)
    if is_output:
        return GivenItem(id_, place, text_of(item.get("output"), "input", n, "output", fields=_TEXTS))
    if not isinstance(approves, bool) or not isinstance(reason, str | None):
        raise wrong("`approve` must be true or false, and `reason` a text", "input", n)
    return GivenItem(id_, place, None, approves, reason)


def _conversation(body: Mapping[str, Any]) -> str | None:
    given = body.get("conversation")
    given = given.get("id", "") if isinstance(given, dict) else given
    if given is not None and (not isinstance(given, str) or not 0 < len(given) <= _LONGEST_CONVERSATION):
        most = f"of up to {_LONGEST_CONVERSATION} characters"
        raise wrong(f"this must be the name of a conversation, {most}, or an object with its `id`", "conversation")
    return given


def _tools(body: Mapping[str, Any]) -> ClientTools:
    tools = []
    for n, tool in enumerate(typed(body, "tools", list)):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            problem = "tools of a request must be functions, which the client runs; leave out the service's tools"
            raise wrong(problem, "tools", n, "type")
        named = {"name": tool.get("name", ""), "description": tool.get("description") or ""}
        tools.append(named | {"input_schema": tool.get("parameters") or {}})
    try:
        return read_tools(tools)
    except ClientToolError as error:
        raise wrong(str(error), "tools", *(() if error.n is None else (error.n,))) from None
